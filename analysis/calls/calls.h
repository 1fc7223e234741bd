/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries and exits to calls, per thread by (function, stack pointer), last in first out.
 *
 * The stack grows down, so a record's stack pointer tells which open calls have gone: an exit or
 * an entry above an open call means that it was unwound (longjmp, exception), or that its exit
 * has no record (lost, recursion beyond the kernel's 64 return probes). Equal stack pointers are
 * tail calls, ended inner first; once an exit there was followed by an entry, what is still open
 * at or below it has gone too. A marker's begin and end are not bound to a frame: its end takes the
 * latest begin of its name on the thread, wherever that is among the open calls. Every entry of a
 * function that is known ends exactly once, in one of the ways of enum call_end, and each visitor
 * is then called.
 *
 * A loss is a stretch of time in which records of one CPU may be missing. A thread is in sight
 * through it only while it runs on another CPU: there its leaving has a record. Any other may have
 * been on the CPU that lost, so its open calls end, and nothing is paired across, until a record
 * shows it again. A loss of one thread's own buffer is about that thread alone. Losses have to come
 * when they begin (record_due_ns()), as readers hand them out.
 *
 * Duration: exit - entry - what the probes of traced calls inside cost (median full pair cost,
 * paircost.h). Half of all pairs cost less than the median, so what a call can contain bounds it:
 * inside a callee's duration its probe cost at most that duration, outside of it at most the time
 * that there is between the callees, less the least that the call's own probe costs. Own time:
 * duration less that of its traced callees (their duration without the probe cost that it shows).
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

/* A stretch of time in which records of one CPU are missing. */
struct call_loss {
	uint64_t number; /* from 1 */
	uint64_t count;	 /* 0: unknown */
	uint64_t since_ns, until_ns;
};

struct ended_threads;

struct call_gap {
	uint32_t cpu;
	bool of_thread; /* what tid does is not known, of all others it is */
	uint32_t tid;
	struct call_loss loss;
};

/* Functions that are not wanted are NULL. */
struct call_visitor {
	void *self;
	/* A call ended; parent and call are valid until it returns. */
	void (*call)(void *self, const struct thread *t, const struct call *c);
	/* A call began; t and call as they are then. */
	void (*enter)(void *self, const struct thread *t, const struct call *c);
	/* Any other record; t NULL where it is not about a thread. */
	void (*record)(void *self, const struct thread *t, const struct record *r);
	/* From here on it is not known what t does, until t has a record. */
	void (*unseen)(void *self, const struct thread *t);
	/* A loss is over, t was out of sight in it: told of all such threads in a row. */
	void (*lost)(void *self, const struct thread *t, const struct call_loss *loss);
	/* Threads that ended long ago become one (analysis/calls/ended.h). */
	void (*sum_up)(void *self, const struct ended_threads *e);
	/* The recording has ended, and every open call with it. */
	void (*end)(void *self);
};

struct call_hook {
	void *self;
	void (*call)(void *self, const struct thread *t, const struct call *c);
};

#define CALLS_VISITORS_MAX 16
#define CALLS_DEPTH_MAX	   (1u << 20) /* open calls of a thread; more are counted, not timed */

/* TRACED_WAITS: a call of it is recorded only if it had to wait. */
enum call_traced { TRACED_UNKNOWN, TRACED_BOTH, TRACED_WAITS, TRACED_ENTRIES, TRACED_MARKER };

/* Counts of the faults in the markers of one name. */
struct marker_faults {
	uint64_t unended;  /* begins that another begin followed, or the thread's end: untimed */
	uint64_t unbegun;  /* ends without a begin on the thread */
	uint64_t overlaps; /* blocks that ended inside another that had begun inside of them */
};

struct calls {
	struct threads threads;
	struct paircosts paircosts;
	unsigned table;		      /* of paircosts: for the threads alive now */
	uint32_t table_threads;	      /* how many those are */
	const struct paircost *costs; /* [function id], of that table */
	uint64_t table_entries[PAIRCOST_TABLES_MAX];
	uint8_t *traced;		     /* [function id]: enum call_traced */
	struct marker_faults *marker_faults; /* [function id] */
	struct call_visitor visitors[CALLS_VISITORS_MAX];
	unsigned n_visitors;
	/* The visitors that want to be told of calls; calls are most of what happens. */
	struct call_hook ends[CALLS_VISITORS_MAX], enters[CALLS_VISITORS_MAX];
	unsigned n_ends, n_enters;
	struct {
		VEC(uint32_t)
	} open_of; /* [slot]: open calls */
	uint32_t n_functions;
	uint64_t entries, exits; /* of known functions */
	uint64_t brief;		 /* calls that were too short to be written (REC_BRIEF) */
	uint64_t unknown_ids;	 /* records of functions that the meta does not have */
	uint64_t orphan_exits;	 /* without an entry: probes came on inside the call, or loss */
	uint64_t bounded;	 /* calls with no room for the median cost of what is inside them */
	uint64_t lost_records, losses, uncounted_losses;
	struct {
		VEC(struct call_gap)
	} gaps; /* losses under way, at most one a CPU and a thread */
	struct thread
		*untimed; /* its innermost call has no exit and waits for its arguments; NULL */
	uint64_t untimed_ns;
	uint64_t gap_ends_ns; /* the first of them; UINT64_MAX: there is none */
};

void calls_init(struct calls *c, const struct meta *meta, uint64_t start_ns);
void calls_add_visitor(struct calls *c, const struct call_visitor *v);
/* n records, as many at once as there are: most of the time of a reading is in here. */
void calls_records(struct calls *c, const struct record *records, size_t n);
void calls_record(struct calls *c, const struct record *r);
/* Before a window: takes notice of which threads there are and what they do. */
void calls_skip(struct calls *c, const struct record *r);
/* A window opens: what was open before is forgotten, as if the recording began here. */
void calls_restart(struct calls *c, uint64_t time_ns);
/* Before the first record: threads that have ended are summed up (analysis/calls/ended.h). */
void calls_sum_up_ended(struct calls *c);

/* The recording ends: open calls end as CALL_OPEN, threads settle. Once. */
void calls_end(struct calls *c, uint64_t time_ns);
/* Whether it is inside another call of its function that `same` says is of its group. */
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
 * Returns the cost of tracing an ended call as far as it lies inside of the call's duration, or
 * beside it; both are for the call around it. Where the duration is not known, nothing is inside.
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

/* The costs that most calls met: what is said of a block as a whole. */
const struct paircost *calls_costs(const struct calls *c);
void calls_release(struct calls *c);

#endif
