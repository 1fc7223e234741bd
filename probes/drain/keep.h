/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --keep-slower: only calls that last this long are written to the file; the others are counted
 * exactly and added up. An entry is held back until its exit comes, or until this time has passed
 * on its CPU. If the call is over by then, neither of the two is written. A call that is not
 * followed to its end (because of dropped events, an unwound frame, or an exit on another CPU) is
 * written: calls are never lost, at worst written for nothing. Memory grows with the threads that
 * are alive at once and the functions that each has run, not with calls. It is allocated when there
 * are more of these than before. The calls of threads and functions beyond limits that no program
 * should reach are all written.
 */
#ifndef ISPOT_PROBES_DRAIN_KEEP_H
#define ISPOT_PROBES_DRAIN_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/bpf/wire.h"
#include "trace/format.h"

#define KEEP_DEPTH 64 /* most open calls of a thread; deeper calls are written */

/*
 * What tracing a call of a function adds to the call around it: the part inside the call's own
 * duration, and the part beside it.
 */
struct keep_cost {
	uint32_t inner_ns, beside_ns;
};

/* An entry with the records that preceded it. */
struct keep_entry {
	struct wire_call call;
	struct keep_cost cost;
	struct wire_args args; /* h.tid 0: no arguments */
	uint32_t stack;	       /* 0: no stack */
};

/* Sums of the calls of one function on one thread that were not written. */
struct keep_rest {
	uint32_t tid, tgid, id;
	uint64_t calls, outer; /* outer: calls inside no other call of the function */
	/* Durations do not include the cost of probing the calls inside, as in calls.h. */
	uint64_t sum_ns, min_ns;     /* of the outer calls */
	uint64_t own_ns, own_min_ns; /* of all calls, without traced callees */
	/* traced calls inside the outer calls; cost of probing these */
	uint64_t inside, cost_ns;
	uint64_t top_ns;		 /* of the calls inside no traced call */
	uint64_t octaves[BRIEF_OCTAVES]; /* of the outer calls, as in a REC_BRIEF */
};

/* The calls inside a call that has ended which were not written. */
struct keep_inside {
	bool write;	    /* the entry of the call was written, or may have been */
	uint64_t calls, ns; /* ns: by the clock, including cost_ns */
	uint64_t cost_ns;
	uint64_t beside_ns; /* cost of the probes outside of ns */
};

struct keep;

/* written() is called when an entry is to be written. */
struct keep *keep_new(uint64_t slower_ns, uint32_t n_cpus,
		      void (*written)(void *ctx, uint32_t cpu, const struct keep_entry *e),
		      void *ctx);
void keep_free(struct keep *k); /* NULL is allowed */
void keep_enter(struct keep *k, uint32_t cpu, const struct keep_entry *e);
struct keep_inside keep_leave(struct keep *k, uint32_t cpu, const struct wire_call *exit);
/* Writes the entries of that CPU that have been held back long enough by now_ns. */
void keep_pass(struct keep *k, uint32_t cpu, uint64_t now_ns);
/* Writes all entries that are held back, because events were dropped or the recording ends. */
void keep_release_all(struct keep *k);
/*
 * The thread is gone, and another may get its number: writes its open calls, and visits the sums of
 * those that were not written, which keep_each() then no longer visits.
 */
void keep_end_thread(struct keep *k, uint32_t tid,
		     void (*visit)(void *ctx, const struct keep_rest *rest), void *ctx);
uint64_t keep_calls(const struct keep *k); /* calls that were not written; 0 if k is NULL */
void keep_each(const struct keep *k, void (*visit)(void *ctx, const struct keep_rest *rest),
	       void *ctx);
size_t keep_bytes(const struct keep *k); /* memory of its threads and sums */

#endif
