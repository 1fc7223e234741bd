/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call of a traced function. A thread holds those that are open on it, outermost first;
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
	CALL_OPEN,     /* the recording, the thread or the set ended first: times so far */
	CALL_UNWOUND,  /* no exit of it came where one was due */
	CALL_LOST,     /* open when records of its thread may have been lost */
	CALL_NEGATIVE, /* its exit is before its entry: the clocks disagree */
	CALL_UNTIMED,  /* its function has no exit probe */
	CALL_ENDS,
};

/* What every call needs comes first, in the order in which it is set. */
struct call {
	uint64_t sp, entry_ns;
	uint32_t id, slot;
	uint32_t entry_cpu;
	uint32_t off_changes;	 /* thread's at entry */
	bool recursive;		 /* inside another call of the same function on this thread */
	bool unseen_outer;	 /* that call was left out by sampling */
	bool own_unknown;	 /* a call inside it has no known duration */
	bool never_off;		 /* all of off is 0; false: look */
	bool children_off_any;	 /* children_off is valid; false: 0 */
	bool off_any;		 /* off or own_off may be other than 0 */
	uint32_t arg_mask;	 /* of enum arg_bit: which values are in args */
	uint32_t inside;	 /* traced calls inside: all */
	uint32_t children;	 /* the direct ones */
	uint32_t stack;		 /* its call stack (meta kind "stack"); 0: none was recorded */
	uint32_t exit_stack;	 /* one taken because it lasted long; 0: none */
	struct wait_sums *waits; /* sleeps in its own time, NULL: none */
	/* What probing them cost. While it is open without what that took between the direct ones:
	 * between_ns by the median, of raw_ns - children_raw_ns. */
	uint64_t inside_cost_ns, between_ns;
	uint64_t children_ns;	  /* durations of the direct ones */
	uint64_t children_raw_ns; /* the same by the clock */
	uint64_t shape;		  /* hash of the calls inside, in order and nested; 0: none */
	uint64_t exit_ns;	  /* before its end: when it last had a traced call inside it */
	/* from its end on: */
	enum call_end end;
	uint32_t exit_cpu;
	uint64_t raw_ns, duration_ns, own_ns;
	const struct call *parent; /* the call it is in, still open; NULL: none. Of the thread's
				      open calls: those around it stand before it */
	/* at any time: */
	struct offcpu off_at_entry; /* the thread's */
	struct offcpu off, own_off; /* from its end on; 0 before */
	struct offcpu children_off;
	uint64_t args[ARG_BITS]; /* recorded at its entry; ARG_RETURN at its exit */
};

#endif
