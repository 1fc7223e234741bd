/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in the windows of `record --solo`, in which all threads of the program share one CPU. A
 * call that ran through without a switch was undisturbed: no other thread of the program ran at the
 * same time, took cache lines away, used memory bandwidth, or made it spin. So it may be the
 * fastest call of its block even if all other calls are disturbed. Calls in windows are in no
 * score, because ispot causes their waits for the CPU.
 */
#ifndef ISPOT_ANALYSIS_SCORE_SOLO_H
#define ISPOT_ANALYSIS_SCORE_SOLO_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct meta;

#define SOLO_CALLS_MIN 20 /* the mean of fewer undisturbed calls is not used */

/* The undisturbed calls of a block. */
struct solo_sums {
	uint64_t left_out;	/* calls in windows, which are in no score */
	uint64_t calls, min_ns; /* outer calls, and the fastest; min_ns UINT64_MAX: none */
	uint64_t own_calls, own_min_ns;
	double own_ns, own_squares;
};

struct block_solo {
	bool is_fastest;	     /* an undisturbed call set min_ns or self_min_ns */
	uint64_t calls;		     /* undisturbed outer calls */
	uint64_t min_without_ns;     /* fastest of the other calls; BLOCK_NONE: none */
	double sci_without;	     /* score against min_without_ns; NAN: not known */
	double own_ns, own_error_ns; /* mean own time of the undisturbed calls, and its standard
				      * error */
};

void solo_init(struct solo_sums *s);
/* Whether so much of a timed call is in windows that it is in no score. */
bool solo_leaves_out(const struct meta *meta, const struct call *c);
/* Returns true if a timed call is mostly outside of windows. Else adds it to s if it was
 * undisturbed. */
bool solo_is_outside(struct solo_sums *s, const struct meta *meta, const struct call *c);

#endif
