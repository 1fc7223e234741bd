/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a fleet's blocks from what was observed on one machine: which application had its CPUs
 * when, and the durations of the calls that are the indicator. A block covers a fifth of a second,
 * or less if more happens than fits in a block. A call that crosses the boundary of two blocks is
 * left out, and counted.
 *
 *	fleet_live_ran(&l, &presence); fleet_live_took(&l, &measure);	as they become known
 *	fleet_live_begin(&l);
 *	for (at_ns = from_ns; at_ns < to_ns;)
 *		at_ns = fleet_live_block(&l, n, at_ns, to_ns, offset_ns, &block);
 *	fleet_live_clear(&l);
 */
#ifndef ISPOT_ANALYSIS_FLEET_LIVE_H
#define ISPOT_ANALYSIS_FLEET_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct fleet_block;
struct strtab;

#define FLEET_LIVE_BLOCK_NS 200000000ull
#define FLEET_LIVE_MOST	    8000000 /* 256 MB of either */

/* A presence on a CPU, or a measure (a call, or a sample of the CPU's counters). */
struct fleet_span {
	uint32_t cpu, app, tid; /* cpu: where a call began; tid: 0 in a presence */
	uint32_t indicator;	/* 0 in a presence */
	uint32_t value;		/* of the indicator; 0 in a presence */
	uint64_t start_ns, end_ns;
};

/* Consecutive spans of one CPU, or of one indicator of one thread on one CPU. */
struct fleet_lane {
	size_t at, end; /* at: the first that may be in the next block */
};

struct fleet_spans {
	VEC(struct fleet_span)
	struct {
		VEC(struct fleet_lane)
	} lanes;
};

struct fleet_live {
	const struct strtab *apps; /* names of the spans' app numbers, borrowed */
	size_t most;		   /* limit of presences and of measures; 0: FLEET_LIVE_MOST */
	uint64_t full_ns;	   /* some spans after this time were dropped; 0: none was */
	struct fleet_spans presences, measures;
	uint64_t left_out;
};

/* Add a presence or a measure. Both come in the order of their ends, roughly so between CPUs, and
 * presences come before measures. */
void fleet_live_ran(struct fleet_live *l, const struct fleet_span *p);
void fleet_live_took(struct fleet_live *l, const struct fleet_span *m);
/* Called once, before the first block of a window. */
void fleet_live_begin(struct fleet_live *l);
/*
 * Fills b with what lies between from_ns and the end of the block, which is to_ns at the latest.
 * offset_ns is added to all times, to make them real time. Returns the end of the block, where the
 * next one begins. Spans after full_ns are in no block.
 */
uint64_t fleet_live_block(struct fleet_live *l, uint64_t sequence, uint64_t from_ns, uint64_t to_ns,
			  int64_t offset_ns, struct fleet_block *b);
/* Empties l for the next window, except left_out. Frees the memory, because a busy window needs
 * much. */
void fleet_live_clear(struct fleet_live *l);
void fleet_live_release(struct fleet_live *l);

#endif
