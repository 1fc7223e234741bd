/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs entries and exits to calls, per thread by (function, stack pointer), last in first out.
 *
 * The stack grows down, so the stack pointer of a record shows which open calls are gone: an exit
 * or an entry above an open call means that the call was unwound (longjmp, exception), or that its
 * exit has no record (dropped, or recursion beyond the kernel's 64 return probes). Calls with equal
 * stack pointers are tail calls, and the inner one ends first; once an exit at a stack pointer was
 * followed by an entry, calls that are still open at or below it are gone, too. A marker's begin
 * and end are not bound to a frame: its end belongs to the latest begin of its name on the thread,
 * wherever that is among the open calls. Every entry of a known function ends exactly once, in one
 * of the ways of enum call_end, and each visitor is then called.
 *
 * A loss is a period in which records of one CPU may be missing. A thread can be followed through
 * it only while it runs on another CPU, where a switch-out would have a record. Any other thread
 * may have been on the CPU that lost records, so its open calls end, and no entry is paired with an
 * exit across the loss, until a record shows the thread again. A loss in a thread's own buffer
 * concerns that thread alone. Losses must be passed in when they begin (record_due_ns()), which
 * readers do.
 *
 * While switches have no records (analysis/threads/unwatched.h), calls are not paired either: open
 * ones end as CALL_OPEN when such a stretch begins, and those in it are passed over, as nobody
 * knows how long they were off the CPU.
 *
 * Duration: exit - entry - cost of the probes of traced calls inside (median full pair cost,
 * paircost.h). Half of all pairs cost less than the median, so the cost is bounded by the time that
 * contains it: inside a callee's duration by that duration; outside of it by the time between the
 * callees, less the least cost of the call's own probe. Own time: duration less that of the traced
 * callees (their duration without the probe cost that it contains).
 */
#ifndef ISPOT_ANALYSIS_CALLS_CALLS_H
#define ISPOT_ANALYSIS_CALLS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/paircost.h"
#include "analysis/threads/call.h"
#include "analysis/threads/threads.h"
#include "analysis/threads/wait.h"
#include "trace/format.h"

struct record;

/* A period in which records of one CPU, or of one thread, are missing. */
struct call_loss {
	uint64_t number; /* from 1 */
	uint64_t count;	 /* 0: unknown */
	uint64_t since_ns, until_ns;
};

struct ended_threads;

struct call_gap {
	uint32_t cpu;
	bool of_thread; /* only records of tid are missing */
	uint32_t tid;
	struct call_loss loss;
};

/* Callbacks of one analysis. Those that it does not need are NULL. */
struct call_visitor {
	void *self;
	/* A call ended; parent and call are valid until it returns. */
	void (*call)(void *self, const struct thread *t, const struct call *c);
	/* A call began; t and c are in the state of that moment. */
	void (*enter)(void *self, const struct thread *t, const struct call *c);
	/* Any record that is no entry or exit; t: NULL if it is not about a thread. */
	void (*record)(void *self, const struct thread *t, const struct record *r);
	/* Records may be missing: what t does is unknown until its next record. */
	void (*unseen)(void *self, const struct thread *t);
	/* A loss is over, in which t could not be followed. Called for all such threads in a
	 * row. */
	void (*lost)(void *self, const struct thread *t, const struct call_loss *loss);
	/* Threads that ended long ago are merged into one (analysis/calls/ended.h). */
	void (*sum_up)(void *self, const struct ended_threads *e);
	/* The recording has ended; no call is open any more. */
	void (*end)(void *self);
	/* After that, it is known for what threads waited (threads_end()). */
	void (*judged)(void *self);
};

struct call_hook {
	void *self;
	void (*call)(void *self, const struct thread *t, const struct call *c);
};

#define CALLS_VISITORS_MAX 16
#define CALLS_DEPTH_MAX	   (1u << 20) /* open calls of a thread; deeper ones get no times */

/* How a function is traced. TRACED_WAITS: only calls that had to wait are recorded. */
enum call_traced { TRACED_UNKNOWN, TRACED_BOTH, TRACED_WAITS, TRACED_ENTRIES, TRACED_MARKER };

/* Faults in the use of a marker. */
struct marker_faults {
	uint64_t unended;  /* begins followed by another begin or the thread's end; not timed */
	uint64_t unbegun;  /* ends without a begin on the thread */
	uint64_t overlaps; /* blocks that ended inside a block that began inside of them */
};

struct calls {
	struct threads threads;
	struct paircosts paircosts;
	unsigned table;		      /* index of the paircosts table for table_threads */
	uint32_t table_threads;	      /* threads alive now */
	const struct paircost *costs; /* [function id], from that table */
	uint64_t table_entries[PAIRCOST_TABLES_MAX];
	uint8_t *traced;		     /* [function id]: enum call_traced */
	struct marker_faults *marker_faults; /* [function id] */
	struct call_visitor visitors[CALLS_VISITORS_MAX];
	unsigned n_visitors;
	/* The visitors that have call and enter: kept apart, because most records are of calls. */
	struct call_hook ends[CALLS_VISITORS_MAX], enters[CALLS_VISITORS_MAX];
	unsigned n_ends, n_enters;
	struct {
		VEC(uint32_t)
	} open_of; /* [slot]: open calls */
	uint32_t n_functions;
	uint64_t entries, exits; /* those of known functions */
	uint64_t brief;		 /* calls that were too short for records of their own
				  * (REC_BRIEF) */
	uint64_t unknown_ids;	 /* records of functions that meta does not describe */
	uint64_t unwatched;	 /* entries and exits in stretches that are not analysed, as
				  * switches have no records there */
	uint64_t orphan_exits;	 /* exits without an entry: the probes came on during the call,
				  * or records were dropped */
	uint64_t bounded;	 /* calls too short for the median cost of the probes inside them */
	uint64_t lost_records, losses, uncounted_losses;
	struct {
		VEC(struct call_gap)
	} gaps; /* losses that are not over, at most one for each CPU and each thread */
	/* Thread whose innermost call has no exit probe and waits for its arguments, or NULL. */
	struct thread *untimed;
	uint64_t untimed_ns;
	uint64_t gap_ends_ns; /* end of the first of gaps; UINT64_MAX: none */
};

void calls_init(struct calls *c, const struct meta *meta, uint64_t start_ns);
void calls_add_visitor(struct calls *c, const struct call_visitor *v);
/* Takes n records. Most time of reading a recording is spent here, so pass many at once. */
void calls_records(struct calls *c, const struct record *records, size_t n);
void calls_record(struct calls *c, const struct record *r);
/* Takes a record before the window that is analysed, to know the threads and their states. */
void calls_skip(struct calls *c, const struct record *r);
/* Begins a window: open calls are dropped, as if the recording began here. */
void calls_restart(struct calls *c, uint64_t time_ns);
/* Makes c sum up threads that have ended (analysis/calls/ended.h). Called before the first
 * record. */
void calls_sum_up_ended(struct calls *c);

/* Ends the recording: open calls end as CALL_OPEN, and times of threads are settled. Called
 * once. */
void calls_end(struct calls *c, uint64_t time_ns);
/* Whether c is inside another call of its function for which same() returns true, or may be inside
 * an unseen one. */
bool call_is_inner(const struct thread *t, const struct call *c,
		   bool (*same)(void *ctx, const struct call *outer), void *ctx);
/*
 * Whether the times of an ended call are known; for a call that is still open, whether they are so
 * far.
 */
static inline bool call_has_times(const struct call *call)
{
	return call->end == CALL_TIMED || call->end == CALL_OPEN;
}

/*
 * Return the cost of tracing an ended call: the part inside the call's duration, and the part
 * outside, both to be subtracted from the call around it. If the duration is not known, all of the
 * cost is outside.
 */
static inline uint64_t call_cost_inside_ns(const struct calls *c, const struct call *call)
{
	uint64_t median = c->costs[call->id].inner_ns;

	if (!call_has_times(call))
		return 0;
	return call->duration_ns < median ? call->duration_ns : median;
}

static inline uint64_t call_cost_beside_ns(const struct calls *c, const struct call *call)
{
	const struct paircost *cost = &c->costs[call->id];

	return call_has_times(call) ? cost->outer_ns : cost->full_ns;
}

/* Returns the costs that applied to most calls, which stand for a block as a whole. */
const struct paircost *calls_costs(const struct calls *c);
void calls_release(struct calls *c);

#endif
