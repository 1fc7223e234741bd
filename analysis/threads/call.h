/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call of a traced function. A thread holds its open calls, outermost first;
 * analysis/calls/calls.h begins and ends them.
 */
#ifndef ISPOT_ANALYSIS_THREADS_CALL_H
#define ISPOT_ANALYSIS_THREADS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/threads.h"
#include "trace/format.h"

struct wait_sums;

enum call_end {
	CALL_TIMED,
	/* the recording, the thread or the set ended first; its times are those until then */
	CALL_OPEN,
	CALL_UNWOUND,  /* no exit came where one was due */
	CALL_LOST,     /* open when records of its thread may have been lost */
	CALL_NEGATIVE, /* its exit is before its entry, because the clocks disagree */
	CALL_UNTIMED,  /* its function has no exit probe */
	CALL_ENDS,
};

/* The members that every call needs come first, in the order in which they are set. */
struct call {
	uint64_t sp, entry_ns;
	uint32_t id, slot;
	uint32_t entry_cpu;
	uint32_t off_changes;	 /* off_changes of the thread at entry */
	bool recursive;		 /* inside another call of the same function on this thread */
	bool unseen_outer;	 /* sampling left out the call around it */
	bool own_unknown;	 /* a call inside it has no known duration */
	bool never_off;		 /* all of off is 0; false: unknown */
	bool children_off_any;	 /* children_off is valid; false: 0 */
	bool off_any;		 /* off or own_off may be other than 0 */
	uint32_t arg_mask;	 /* of enum arg_bit: which values are in args */
	uint32_t inside;	 /* all traced calls inside */
	uint32_t children;	 /* the direct callees */
	uint32_t stack;		 /* call stack at entry (meta kind "stack"); 0: not recorded */
	uint32_t exit_stack;	 /* call stack recorded because the call lasted long; 0: none */
	struct wait_sums *waits; /* sleeps in its own time; NULL: none */
	/*
	 * The cost of probing the calls inside. While the call is open, this leaves out the cost
	 * between the direct callees, which is between_ns by the median, out of raw_ns -
	 * children_raw_ns.
	 */
	uint64_t inside_cost_ns, between_ns;
	uint64_t children_ns;	  /* durations of the direct callees */
	uint64_t children_raw_ns; /* the same by the clock */
	uint64_t shape;		  /* hash of the calls inside, by order and nesting; 0: none */
	/* before the call ends: the latest time at which a traced call was inside it */
	uint64_t exit_ns;
	/* set when the call ends: */
	enum call_end end;
	uint32_t exit_cpu;
	uint64_t raw_ns, duration_ns, own_ns;
	/*
	 * the call around it, still open, or NULL; among the thread's open calls it comes before
	 * this one
	 */
	const struct call *parent;
	/* valid at any time: */
	struct offcpu off_at_entry; /* that of the thread */
	struct offcpu off, own_off; /* set when the call ends, 0 before */
	struct offcpu children_off;
	uint64_t args[ARG_BITS]; /* recorded at entry; ARG_RETURN at exit */
};

#endif
