/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time asleep or blocked outside every traced call, by the stack that the thread went to sleep
 * with: what the traced functions do not cover. A visitor; each stack becomes a block of kind
 * `site` whose "calls" are its sleeps, measured from leaving the CPU to the wakeup where that is
 * known, else to being back on it. No probe takes part, so its floor is 0.
 */
#ifndef ISPOT_ANALYSIS_SITE_H
#define ISPOT_ANALYSIS_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/block.h"
#include "analysis/calls.h"
#include "analysis/hist.h"

struct sites {
	const struct calls *calls;
	struct map by_stack; /* stack id -> index */
	struct {
		VEC(struct site)
	} all;
	struct map cell_of; /* site, thread -> cell */
	struct {
		VEC(struct site_cell)
	} cells;
	struct {
		VEC(struct site_sleep)
	} asleep;	    /* [thread index] */
	struct arena arena; /* names of the blocks */
};

struct site {
	uint32_t stack;
	struct hist sleeps;
	uint64_t blocked_ns, idle_ns, open;
};

struct site_cell {
	uint32_t site, thread;
	uint64_t sleeps, ns, open_ns, open;
};

struct site_sleep {
	bool on;
	uint32_t site; /* MAP_NONE: its stack is not known */
	struct offcpu off;
};

void sites_init(struct sites *s, const struct calls *calls);
struct call_visitor sites_visitor(struct sites *s);
/* After calls_end(): who still sleeps. */
void sites_end(struct sites *s);
/*
 * A block per site, appended; they borrow names from s. Adds each thread's excess at sites whose
 * verdict is interference to lost_ns [thread index].
 */
void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns);
void sites_release(struct sites *s);

#endif
