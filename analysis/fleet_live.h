/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fleet's blocks from what one machine was seen to do: who had its CPUs when, and how long the
 * calls took that are the indicator. Each fifth of a second becomes a block; a call that crosses
 * from one to the next is left out, and counted.
 */
#ifndef ISPOT_ANALYSIS_FLEET_LIVE_H
#define ISPOT_ANALYSIS_FLEET_LIVE_H

#include <stdint.h>

#include "base/vec.h"

struct fleet_block;
struct strtab;

#define FLEET_LIVE_BLOCK_NS 200000000ull

struct fleet_presence {
	uint32_t cpu, app;
	uint64_t start_ns, end_ns;
};

struct fleet_measure {
	uint32_t cpu, app, tid;
	uint64_t start_ns, end_ns;
};

struct fleet_live {
	const struct strtab *apps; /* names of the numbers above, borrowed */
	struct {
		VEC(struct fleet_presence)
	} presences; /* of one CPU in order of time */
	struct {
		VEC(struct fleet_measure)
	} measures;
	uint64_t left_out;
};

/* Once, before the blocks. */
void fleet_live_sort(struct fleet_live *l);
/* What lies in the block that begins at from_ns, as times after offset_ns (to real time). */
void fleet_live_block(struct fleet_live *l, uint64_t sequence, uint64_t from_ns, int64_t offset_ns,
		      struct fleet_block *b);
void fleet_live_release(struct fleet_live *l);

#endif
