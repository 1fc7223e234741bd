/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a block loses time: shares of its excess by cause. The excess is first split into pools by
 * where the time went (in traced callees, off the CPU though runnable, blocked, waiting for work,
 * running); the rules of rules.c, in order, each take from one pool what their records
 * prove. What no rule takes stays `unknown`, with the pools as evidence. No rule reads names.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_CAUSE_H
#define ISPOT_ANALYSIS_CAUSE_CAUSE_H

#include <stddef.h>

#include "analysis/score/judgement.h"

struct block;
struct meta;
struct text;

struct cause_rule {
	const char *kind;
	enum cause_pool pool;
	double confidence;
	/* NULL: what its sleeps and wakeups show (by_wait.h), its confidence too.
	 * Takes at most the pool's rest (ns); one sentence of evidence into text. 0: does not
	 * apply. */
	double (*take)(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence);
};

extern const struct cause_rule cause_rules[];
extern const size_t cause_rules_n;

/* Fills block->causes from its pools, largest share first. Nothing where there is no excess. */
void causes_find(struct block *b, const struct meta *meta);

#endif
