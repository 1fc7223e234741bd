/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "analysis/score/pools.h"

#include <math.h>

#include "analysis/score/block.h"
#include "analysis/score/sci.h"

bool block_never_fast(const struct block *b)
{
	const struct sci_function *f = b->sums;
	uint64_t waited = f->own_off_fastest.preempted_ns;

	if (!f->own_timed || b->self_min_ns < f->own_min_ns)
		return false; /* the baseline has a faster call */
	if (b->waits && b->waits->n && wait_part(b->all_threads, b->waits, "lock").lost_share > 0.5)
		waited += f->own_off_fastest.blocked_ns;
	return waited > f->own_min_ns / 2;
}

static double beyond_fastest(uint64_t sum, uint64_t fastest, uint64_t n)
{
	double beyond = (double)sum - (double)fastest * (double)n;

	return beyond > 0 ? beyond : 0;
}

static double off_excess(const struct offcpu *sum, const struct offcpu *fastest, uint64_t n)
{
	return beyond_fastest(sum->preempted_ns, fastest->preempted_ns, n) +
	       beyond_fastest(sum->blocked_ns, fastest->blocked_ns, n) +
	       beyond_fastest(sum->idle_ns, fastest->idle_ns, n);
}

static double weight(const struct block *b, uint64_t recorded, double estimate)
{
	return b->estimated_calls == BLOCK_NONE || !recorded ? 1 : estimate / (double)recorded;
}

double block_weight_outer(const struct block *b)
{
	return weight(b, b->outer_calls, b->estimated_outer);
}

double block_weight_calls(const struct block *b)
{
	return weight(b, b->calls, (double)b->estimated_calls);
}

void block_fill_pools(struct block *b)
{
	const struct sci_function *f = b->sums;
	const struct offcpu *open = &f->own_open_off, *sum = &f->own_off;
	const struct offcpu *fastest = &b->own_off_fastest;
	double all = block_weight_calls(b);
	double excess = (double)b->excess_ns, off, own;
	double *p = b->pools;

	if (b->excess_ns == BLOCK_NONE || !b->excess_ns)
		return;
	b->off_cpu_ns =
		block_weight_outer(b) * off_excess(&f->off, &b->off_fastest, f->durations.count) +
		(double)offcpu_ns(&f->open_off);
	own = (double)b->self_excess_ns < excess ? (double)b->self_excess_ns : excess;
	p[POOL_CALLEE] = excess - own;
	p[POOL_PREEMPTED] =
		(double)open->preempted_ns +
		all * beyond_fastest(sum->preempted_ns, fastest->preempted_ns, f->own_timed);
	p[POOL_BLOCKED] = (double)open->blocked_ns +
			  all * beyond_fastest(sum->blocked_ns, fastest->blocked_ns, f->own_timed);
	p[POOL_IDLE] = (double)open->idle_ns +
		       all * beyond_fastest(sum->idle_ns, fastest->idle_ns, f->own_timed);
	off = p[POOL_PREEMPTED] + p[POOL_BLOCKED] + p[POOL_IDLE];
	if (off > own)
		for (unsigned i = POOL_PREEMPTED; i <= POOL_IDLE; i++)
			p[i] *= own / off;
	p[POOL_RUNNING] = off < own ? own - off : 0;
}

static double part(int64_t moved, uint64_t idle_ns, uint64_t blocked_ns)
{
	uint64_t of = moved > 0 ? idle_ns : blocked_ns;

	return of ? (double)moved / (double)of : 0;
}

void block_reconsider(struct sci_function *f, const struct threads *th)
{
	int64_t lost = wait_reconsider(th, &f->waits), rest;
	struct offcpu *own = &f->own_off, *fastest = &f->own_off_fastest;
	double share;

	if (!lost)
		return;
	share = part(lost, own->idle_ns, own->blocked_ns);
	rest = offcpu_shift(own, lost);
	share = share > 1 ? 1 : share < -1 ? -1 : share;
	offcpu_shift(fastest, (int64_t)(share * (double)(share > 0 ? fastest->idle_ns
								   : fastest->blocked_ns)));
	offcpu_shift(&f->own_open_off, rest);
}

double block_foreign_ns(const struct block *b)
{
	const struct offcpu *off = b->sums ? &b->sums->own_off : NULL;

	if (!off || !off->preempted_ns || off->oversubscribed_ns >= off->preempted_ns)
		return 0;
	return b->pools[POOL_PREEMPTED] *
	       (1 - (double)off->oversubscribed_ns / (double)off->preempted_ns);
}

void block_set_idle(struct block *b, uint64_t duration_ns)
{
	double own = (double)b->self_excess_ns;

	b->lost_share = 1;
	b->idle_threads = isnan(b->lost_threads) ? NAN : 0;
	if (b->self_excess_ns == BLOCK_NONE || !(own > 0) || !duration_ns)
		return;
	b->lost_share = 1 - b->pools[POOL_IDLE] / own;
	if (b->lost_share < 0)
		b->lost_share = 0;
	b->idle_threads = (1 - b->lost_share) * b->lost_threads;
	b->lost_threads *= b->lost_share;
}
