/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/by_spin.h"
#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "analysis/stat/stats.h"
#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define SPINS_LEAST 0.25 /* of the slow calls' own samples, by the lower end of the interval */

/* Returns that share of the slow calls' own samples, or 0 if it is little or not certain. */
static double certain_share(const struct block_samples *s, uint32_t spinning)
{
	double share, low, high;

	if (s->slow < SAMPLES_MIN)
		return 0;
	share = (double)spinning / s->slow;
	stats_wilson(share, s->slow, 1.96, &low, &high);
	return low >= SPINS_LEAST ? share : 0;
}

double cause_spins(const struct block *b)
{
	return certain_share(&b->samples, b->samples.slow_spins);
}

double cause_spin_at_barrier(const struct block *b, const struct meta *meta, double rest_ns,
			     struct text *evidence)
{
	const struct block_samples *s = &b->samples;
	const double share = certain_share(s, s->slow_at_barrier);

	(void)meta;
	if (share > 0)
		text_printf(evidence,
			    "%u of %u samples in slow calls wait at a barrier without sleeping",
			    s->slow_at_barrier, s->slow);
	return rest_ns * share;
}

/*
 * Returns another thread that runs concurrently, or NULL. A process that takes this thread's CPU
 * does not count, because it cannot hold the lock.
 */
static const struct coactive *holder(const struct block *b)
{
	vec_for_each (&b->coactive, const struct coactive, c)
		if (c->part != COACTIVE_CPU)
			return c;
	return NULL;
}

/* A library of OpenMP also works for the program where its functions have no names. */
static bool surely_held(const struct block *b)
{
	const struct meta_frame *at = b->samples.spins_at;

	return holder(b) && !(at && !at->spins && !*at->symbol);
}

static void describe_spins(const struct block *b, struct text *evidence)
{
	const struct block_samples *s = &b->samples;
	const struct meta_frame *at = s->spins_at;

	text_printf(evidence, "%u of %u samples in slow calls ", s->slow_spins, s->slow);
	if (!at || !at->spins) {
		text_printf(evidence, "wait without sleeping%s%s", at ? " in " : "",
			    !at		  ? ""
			    : *at->symbol ? at->symbol
					  : text_base_name(at->object));
		return;
	}
	text_add(evidence, "wait in a loop around a pause");
	if (at->file && *at->file && at->line)
		text_printf(evidence, " (%s:%u)", at->file, at->line);
}

/* A thread that alone makes these calls waits for what another thread does, not for its turn,
 * unless it waits in a library's function of a lock. */
bool cause_spins_alone(const struct block *b)
{
	const struct meta_frame *at = b->samples.spins_at;

	return b->threads == 1 && !holder(b) && at && (at->spins || standard_yields(at)) &&
	       cause_spins(b) > 0;
}

static double spin(const struct block *b, bool alone, double rest_ns, struct text *evidence)
{
	double share = surely_held(b) || cause_spins_alone(b) != alone ? 0 : cause_spins(b);

	if (share > 0)
		describe_spins(b, evidence);
	return rest_ns * share;
}

double cause_spin(const struct block *b, const struct meta *meta, double rest_ns,
		  struct text *evidence)
{
	(void)meta;
	return spin(b, false, rest_ns, evidence);
}

double cause_spin_alone(const struct block *b, const struct meta *meta, double rest_ns,
			struct text *evidence)
{
	(void)meta;
	return spin(b, true, rest_ns, evidence);
}

double cause_yield_at_barrier(const struct block *b, const struct meta *meta, double rest_ns,
			      struct text *evidence)
{
	const struct offcpu *off = &b->sums->own_off;
	char time[TEXT_NUMBER];

	(void)meta;
	if (block_standard_wait(b) != STANDARD_BARRIER || !off->yielded_ns)
		return 0;
	text_printf(evidence, "waits at a barrier and gives up its CPU meanwhile, for %s",
		    text_time(time, off->yielded_ns));
	return rest_ns * (double)off->yielded_ns / (double)off->preempted_ns;
}

double cause_yield(const struct block *b, const struct meta *meta, double rest_ns,
		   struct text *evidence)
{
	const struct offcpu *off = &b->sums->own_off;
	const struct meta_frame *at = b->samples.spins_at;

	(void)meta;
	if (!surely_held(b) || !at || !standard_yields(at) || !off->preempted_ns)
		return 0;
	text_printf(evidence, "gives up its CPU in %s between tries", at->symbol);
	return rest_ns * cause_spins(b) * (double)off->oversubscribed_ns /
	       (double)off->preempted_ns;
}

double cause_spin_held(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence)
{
	const struct coactive *c = surely_held(b) ? holder(b) : NULL;

	(void)meta;
	if (!c || !(cause_spins(b) > 0))
		return 0;
	describe_spins(b, evidence);
	text_printf(
		evidence,
		"; meanwhile another thread is %s%s for %.0f%% of the time, in fast calls %.0f%%",
		c->part == COACTIVE_AFTER ? "in what follows " : "in ", c->name, 100 * c->slow_rate,
		100 * c->fast_rate);
	return rest_ns * cause_spins(b);
}
