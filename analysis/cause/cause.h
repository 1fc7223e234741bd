/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a block loses time: shares of its excess by cause. The excess is first split into pools by
 * where the time went (in traced callees, in the run queue, blocked, waiting for work, running).
 * The rules of rules.c then take, in order, what their records prove from one pool each. What no
 * rule takes stays `unknown`, with the pools as evidence. No rule reads names of functions.
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
	/*
	 * Returns at most the pool's rest (ns), with one sentence of evidence, or 0 if the rule
	 * does not apply. NULL: what sleeps and wakeups show (by_wait.h) decides, also about the
	 * confidence.
	 */
	double (*take)(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence);
};

extern const struct cause_rule cause_rules[];
extern const size_t cause_rules_n;

#define CAUSE_SHARE_MIN 0.005 /* smaller shares would print as 0 % */

/* Fills block->causes from its pools, largest share first. Adds nothing if there is no excess. */
void causes_find(struct block *b, const struct meta *meta);
/* Returns the cause of that kind, which is added with that confidence if there is none yet. */
struct cause *causes_get(struct causes *causes, const char *kind, double confidence);
/* Orders causes by share, largest first. */
void causes_sort(struct causes *causes);

#endif
