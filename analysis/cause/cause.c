/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/by_counters.h"
#include "analysis/cause/by_wait.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/coactivity_find.h"
#include "analysis/score/block.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"

struct cause *causes_get(struct causes *causes, const char *kind, double confidence)
{
	struct cause *c;

	vec_for_each (causes, struct cause, old)
		if (!strcmp(old->kind, kind))
			return old;
	c = vec_add(causes);
	c->kind = kind;
	c->confidence = confidence;
	return c;
}

static void add_cause(struct causes *causes, const char *kind, double confidence, double share,
		      const char *evidence)
{
	struct cause *c = causes_get(causes, kind, confidence);
	char *clean;

	/* the same kind from several pools gets the mean of their confidences */
	if (share > 0)
		c->confidence =
			(c->confidence * c->share + confidence * share) / (c->share + share);
	c->share += share;
	if (!evidence || !*evidence)
		return;
	clean = text_printable_new(evidence); /* names in it may hold anything */
	vec_for_each (&c->evidence, char *, e)
		if (!strcmp(*e, clean)) {
			free(clean);
			return;
		}
	*vec_add(&c->evidence) = clean;
}

static const char unknown[] = "unknown";

#define DECIDE_MIN 0.1 /* of the excess: less is not worth another recording */

/* Names the code that runs concurrently, if no counter says what it does to the block. */
static void describe_coactive(const struct coactive *c, struct text *line)
{
	coactive_code(c, c->name, line);
	text_printf(line,
		    " at work in other threads: %.2f of them in slow calls, %.2f in fast ones",
		    c->slow_rate, c->fast_rate);
}

/*
 * Reports running time that no rule took: which code ran concurrently, and which counters would
 * decide.
 */
static void leave_running(struct block *b, const struct meta *meta, double share)
{
	const struct coactive *interferer = coactive_interferer(&b->coactive);
	struct text line = { 0 };

	if (share < CAUSE_SHARE_MIN)
		return;
	if (share < DECIDE_MIN) {
		if (meta->session.pmu && !strcmp(meta->session.pmu, "none"))
			add_cause(&b->causes, unknown, 0, 0,
				  "no hardware counters here, which could say why it ran slower");
		return;
	}
	if (interferer)
		describe_coactive(interferer, &line);
	add_cause(&b->causes, unknown, 0, 0, line.s);
	text_release(&line);
	cause_undecided(meta, &line);
	add_cause(&b->causes, unknown, 0, 0, line.s);
	text_release(&line);
}

static void leave_rest(struct block *b, const struct meta *meta, double rest[CAUSE_POOLS],
		       double excess)
{
	static const char *const where[CAUSE_POOLS] = {
		[POOL_CALLEE] = "in traced callees",
		[POOL_PREEMPTED] = "runnable without a CPU",
		[POOL_BLOCKED] = "blocked",
		[POOL_IDLE] = "waiting for what comes from outside the program",
		[POOL_RUNNING] = "running slower",
	};
	char line[96];

	double all = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		all += rest[p];
	if (all / excess < CAUSE_SHARE_MIN)
		return;
	for (unsigned p = 0; p < CAUSE_POOLS; p++) {
		if (rest[p] / excess < CAUSE_SHARE_MIN) {
			add_cause(&b->causes, unknown, 0, rest[p] / excess, NULL);
			continue;
		}
		snprintf(line, sizeof(line), "%s %.0f%%",
			 p == POOL_RUNNING && !b->off_known
				 ? "no switch records say whether running or waiting"
				 : where[p],
			 100 * rest[p] / excess);
		add_cause(&b->causes, unknown, 0, rest[p] / excess, line);
	}
	if (b->off_known)
		leave_running(b, meta, rest[POOL_RUNNING] / excess);
}

/* Whether the rule's cause is not interference: the calls do more, or the probes take the time. */
static bool is_harmless(const struct cause_rule *rule)
{
	return !strcmp(rule->kind, "workload") || !strcmp(rule->kind, "ispot");
}

/*
 * Whether the rule only names what the time comes with, so that it stays unexplained: cache misses
 * may be the block's own or caused by other threads, and what waits for a signal, as far as no
 * record says who gave it, waits for another thread or for work.
 */
static bool is_unexplained(const struct block *b, const struct cause_rule *rule)
{
	return !strcmp(rule->kind, "cache-misses") ||
	       (!strcmp(rule->kind, "condition-wait") && b->all_threads &&
		!b->all_threads->have_waking);
}

static bool is_lost(const struct block *b, const struct cause_rule *rule)
{
	return !is_harmless(rule) && !is_unexplained(b, rule) && rule->pool != POOL_IDLE &&
	       rule->pool != POOL_CALLEE;
}

static int larger_share(const void *a, const void *b)
{
	double x = ((const struct cause *)a)->share, y = ((const struct cause *)b)->share;

	return (x < y) - (x > y);
}

void causes_sort(struct causes *causes)
{
	vec_sort(causes, larger_share);
}

void causes_find(struct block *b, const struct meta *meta)
{
	double rest[CAUSE_POOLS], named_ns[CAUSE_POOLS] = { 0 }, excess = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		excess += rest[p] = b->pools[p];
	if (!(excess > 0))
		return;
	for (size_t i = 0; i < cause_rules_n; i++) {
		const struct cause_rule *rule = &cause_rules[i];
		struct text evidence = { 0 };
		double confidence = rule->confidence, ns;

		if (!(rest[rule->pool] > 0))
			continue;
		ns = rule->take
			     ? rule->take(b, meta, rest[rule->pool], &evidence)
			     : cause_wait(b, meta, rule->kind, rule->pool, &confidence, &evidence);
		if (ns > rest[rule->pool])
			ns = rest[rule->pool];
		/* what is too small to print stays in the rest, so that the shares add up */
		if (ns / excess >= CAUSE_SHARE_MIN) {
			rest[rule->pool] -= ns;
			if (is_harmless(rule) && rule->pool != POOL_CALLEE) {
				b->harmless_ns += ns;
				b->harmless[rule->pool] += ns;
			}
			if (is_unexplained(b, rule))
				named_ns[rule->pool] += ns;
			add_cause(&b->causes, rule->kind, confidence, ns / excess, evidence.s);
			if (is_lost(b, rule))
				causes_get(&b->causes, rule->kind, confidence)->lost += ns / excess;
		}
		text_release(&evidence);
	}
	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		b->unexplained[p] = rest[p] + named_ns[p];
	leave_rest(b, meta, rest, excess);
	causes_sort(&b->causes);
}
