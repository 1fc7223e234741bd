/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --keep-slower: only calls that last so long go into the file, exactly counted and summed up is
 * the rest. An entry is held back until its exit comes, or so much time has passed on its CPU; of a
 * call that was over by then neither is written. What is not followed to its end (a loss, an
 * unwound frame, a call that goes on on another CPU) is written: it is never dropped, at worst kept
 * for nothing. Memory grows with the threads that live at once and the functions that each ran, not
 * with calls; it is allocated where one of these is the first of so many. The calls of threads and
 * functions beyond a number that no program needs are all written.
 */
#ifndef ISPOT_PROBES_DRAIN_KEEP_H
#define ISPOT_PROBES_DRAIN_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/bpf/wire.h"
#include "trace/format.h"

#define KEEP_DEPTH 64 /* open calls of a thread; deeper ones are written */

/*
 * The cost that tracing a call of a function adds to the call that it is in: to its duration, and
 * beside it.
 */
struct keep_cost {
	uint32_t inner_ns, beside_ns;
};

/* An entry with what came before it. */
struct keep_entry {
	struct wire_call call;
	struct keep_cost cost;
	struct wire_args args; /* h.tid 0: none */
	uint32_t stack;	       /* 0: none */
};

/* Sums of the calls of one function on one thread that were not written. */
struct keep_rest {
	uint32_t tid, tgid, id;
	uint64_t calls, outer; /* outer: inside no other call of the function */
	/* Durations are without what probing the calls inside cost, as calls.h has it. */
	uint64_t sum_ns, min_ns;	 /* of the outer ones */
	uint64_t own_ns, own_min_ns;	 /* of all, without traced callees */
	uint64_t inside, cost_ns;	 /* traced calls inside the outer ones; of probing these */
	uint64_t top_ns;		 /* of those inside no traced call at all */
	uint64_t octaves[BRIEF_OCTAVES]; /* of the outer ones, as in a REC_BRIEF */
};

/* Sums of the calls inside of an exit's call that were not written. */
struct keep_inside {
	bool write;	    /* its entry was, or may have been */
	uint64_t calls, ns; /* ns: by the clock; of it the cost of probes: */
	uint64_t cost_ns;
	uint64_t beside_ns; /* and that outside of it */
};

struct keep;

/* written: an entry goes on. */
struct keep *keep_new(uint64_t slower_ns, uint32_t n_cpus,
		      void (*written)(void *ctx, uint32_t cpu, const struct keep_entry *e),
		      void *ctx);
void keep_free(struct keep *k); /* NULL is fine */
void keep_enter(struct keep *k, uint32_t cpu, const struct keep_entry *e);
struct keep_inside keep_leave(struct keep *k, uint32_t cpu, const struct wire_call *exit);
/* Entries of that CPU that are so old by now are written. */
void keep_pass(struct keep *k, uint32_t cpu, uint64_t now_ns);
/* All entries held back are written: records were lost, or it is the end. */
void keep_release_all(struct keep *k);
/* The thread is gone, and another may get its number: what it has open is written, and visited is
 * what was not written of it, which keep_each() does not visit any more. */
void keep_end_thread(struct keep *k, uint32_t tid,
		     void (*visit)(void *ctx, const struct keep_rest *rest), void *ctx);
uint64_t keep_calls(const struct keep *k); /* that were not written; 0 where k is NULL */
void keep_each(const struct keep *k, void (*visit)(void *ctx, const struct keep_rest *rest),
	       void *ctx);
size_t keep_bytes(const struct keep *k); /* of its threads and what was not written of them */

#endif
