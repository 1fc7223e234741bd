/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fleet's blocks from what one machine was seen to do: who had its CPUs when, and how long the
 * calls took that are the indicator. Each fifth of a second becomes a block, or less where more
 * happens than a block takes; a call that crosses from one to the next is left out, and counted.
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

/* A stay on a CPU, or a call, or a sample. */
struct fleet_span {
	uint32_t cpu, app, tid; /* cpu: of a call where it began; tid: of a stay 0 */
	uint32_t value;		/* of the indicator; of a stay 0 */
	uint64_t start_ns, end_ns;
};

/* Some that follow each other: of one CPU, or of one thread on one CPU. */
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
	const struct strtab *apps; /* names of the numbers above, borrowed */
	size_t most;		   /* are kept of either; 0: FLEET_LIVE_MOST */
	uint64_t full_ns;	   /* from then on not all are kept; 0: they are */
	struct fleet_spans presences, measures;
	uint64_t left_out;
};

/* Both in the order of their ends, nearly so from CPU to CPU; presences first. */
void fleet_live_ran(struct fleet_live *l, const struct fleet_span *p);
void fleet_live_took(struct fleet_live *l, const struct fleet_span *m);
/* Once, before the blocks. */
void fleet_live_begin(struct fleet_live *l);
/*
 * What lies in the block that begins at from_ns, and ends at to_ns at the latest, as times after
 * offset_ns (to real time). Each begins where the one before ended, which is returned; nothing of
 * full_ns and later is in one.
 */
uint64_t fleet_live_block(struct fleet_live *l, uint64_t sequence, uint64_t from_ns, uint64_t to_ns,
			  int64_t offset_ns, struct fleet_block *b);
/* For the next window; left_out stays. A busy one's memory is not kept. */
void fleet_live_clear(struct fleet_live *l);
void fleet_live_release(struct fleet_live *l);

#endif
