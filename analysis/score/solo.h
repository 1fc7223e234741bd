/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in the windows of `record --solo`, in which all threads of the program share one CPU. One
 * that ran through without a switch had no other thread of the program beside it: no line of its
 * cache was taken away, nobody used the memory's bandwidth, no partner spun. So it may be the
 * fastest call of its block where all others are disturbed. The windows' calls are in no score:
 * what they waited for the CPU is ispot's doing.
 */
#ifndef ISPOT_ANALYSIS_SCORE_SOLO_H
#define ISPOT_ANALYSIS_SCORE_SOLO_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct meta;

#define SOLO_CALLS_MIN 20 /* fewer say nothing about how long a call takes alone, on average */

/* The undisturbed calls of a block. */
struct solo_sums {
	uint64_t left_out;	/* calls of the windows, all that no score has */
	uint64_t calls, min_ns; /* outer calls; min_ns UINT64_MAX: none */
	uint64_t own_calls, own_min_ns;
	double own_ns, own_squares;
};

struct block_solo {
	bool is_fastest;	 /* the block's fastest call, or its own time, is one of these */
	uint64_t calls;		 /* undisturbed */
	uint64_t min_without_ns; /* of the other calls; BLOCK_NONE: there are none */
	double sci_without;	 /* NAN: not known */
	double own_ns, own_error_ns; /* mean of the undisturbed calls' own time; its error */
};

void solo_init(struct solo_sums *s);
/* Whether most of a timed call lies in no window. Otherwise adds it, if it is undisturbed. */
bool solo_is_outside(struct solo_sums *s, const struct meta *meta, const struct call *c);

#endif
