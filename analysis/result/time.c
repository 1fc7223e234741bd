/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How thread time divides, as result.h defines the parts. */

#include "analysis/result/time.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/result/result.h"
#include "trace/meta/meta.h"

double result_off_ns(const struct result *res, double *asleep)
{
	double off = 0;

	*asleep = 0;
	vec_for_each (&res->calls.threads.all, struct thread *, it) {
		const struct thread *t = *it;
		double alive = (double)(t->end_ns - t->born_ns - t->lost_ns);
		double seen = (double)thread_watched_ns(&res->calls.threads, t);
		/*
		 * probes that were on for a part of the thread's life saw the same part of its
		 * sleep
		 */
		double part = alive > 0 ? seen / alive : 0;
		double sleep = (double)(t->off.blocked_ns + t->off.idle_ns) * part;

		*asleep += sleep;
		off += sleep + (double)t->off.preempted_ns * part;
	}
	return off;
}

static double pool_in_lost(const struct blocks *blocks, enum cause_pool pool)
{
	double sum = 0;

	vec_for_each (blocks, const struct block, b)
		if (b->in_lost)
			sum += b->pools[pool] - b->harmless[pool];
	return sum;
}

/* Returns how much time of a pool is already part of the lost time. */
static double in_lost(const struct result *res, enum cause_pool pool)
{
	double sum = pool_in_lost(&res->blocks, pool) + pool_in_lost(&res->sites, pool);

	return sum + pool_in_lost(&res->groups, pool);
}

static double unexplained_of(const struct result *res, const struct blocks *blocks)
{
	double threads = 0;

	vec_for_each (blocks, const struct block, b)
		if (b->in_lost && b->unexplained_threads > 0)
			threads += b->unexplained_threads;
	return threads * (double)res->probed_ns;
}

/* Returns the running time beyond the fastest calls that nothing explains. */
static double unexplained_ns(const struct result *res)
{
	return unexplained_of(res, &res->blocks) + unexplained_of(res, &res->groups);
}

void result_add_threads(struct result *res)
{
	const struct threads *th = &res->calls.threads;
	double covered = 0;

	for (size_t i = 0; i < th->all.n; i++) {
		const struct thread *t = th->all.data[i];
		struct result_thread *row = vec_add(&res->threads);

		row->thread = t;
		row->observed_ns = thread_watched_ns(th, t);
		res->threads_ns += row->observed_ns;
		covered += (double)t->covered_ns;
	}
	res->coverage = res->threads_ns ? covered / (double)res->threads_ns : NAN;
	if (res->coverage > 1)
		res->coverage = 1;
}

static uint64_t at_most(double ns, uint64_t most)
{
	return ns > (double)most ? most : ns > 0 ? (uint64_t)ns : 0;
}

static double usable_cpus(const struct meta *meta)
{
	double cpus = (double)meta->session.cpus;

	/* fmin() ignores NAN, which stands for unknown */
	return cpus > 0 && meta->end.present ? fmin(cpus, meta->end.usable_cpus) : cpus;
}

#define SLEEPS_MOSTLY 0.9 /* of its life: a first thread that does so waits for the others' end */

static double known_idle_ns(const struct thread *t)
{
	const double asleep = (double)(t->off.blocked_ns + t->off.idle_ns);
	const double alive = (double)(t->end_ns - t->born_ns - t->lost_ns);

	return t->tid == t->tgid && asleep >= SLEEPS_MOSTLY * alive ? asleep
								    : (double)t->off.idle_ns;
}

/* Returns the part of the sleep, of what is not lost, of which nothing tells whether it was for
 * another thread. Without records of wakeups only a traced call tells. */
static double unknown_sleep_ns(const struct result *res, double idle_ns)
{
	const struct threads *th = &res->calls.threads;
	double known = 0;

	if (th->have_waking)
		return 0;
	vec_for_each (&th->all, struct thread *const, t)
		known += known_idle_ns(*t);
	return fmax(0, idle_ns - known);
}

static void split_time(struct result *res, const double *lost)
{
	double total = (double)res->threads_ns, sum = 0, asleep, idle, runnable, unexplained;
	double unknown;

	for (size_t i = 0; i < res->threads.n; i++)
		sum += lost[i];
	if (sum > total)
		sum = total;
	res->lost_ns = (uint64_t)(sum + 0.5);
	res->working_ns = res->idle_ns = res->runnable_ns = res->unexplained_ns = BLOCK_NONE;
	res->ready_ns = BLOCK_NONE;
	res->busy_cpus = NAN;
	res->usable_cpus = usable_cpus(res->meta);
	if (!res->calls.threads.have_switch)
		return;
	runnable = result_off_ns(res, &asleep);
	if (res->probed_ns)
		res->busy_cpus = fmax(0, total - runnable) / (double)res->probed_ns;
	res->ready_ns = at_most(runnable - asleep, res->threads_ns);
	runnable -= in_lost(res, POOL_PREEMPTED) + asleep;
	idle = asleep - in_lost(res, POOL_BLOCKED);
	if (idle < 0)
		idle = 0;
	if (idle > total - sum)
		idle = total - sum;
	unknown = unknown_sleep_ns(res, idle);
	idle -= unknown;
	res->idle_ns = (uint64_t)idle;
	unexplained = fmin(unexplained_ns(res) + unknown, total - sum - idle);
	res->unexplained_ns = unexplained > 0 ? (uint64_t)unexplained : 0;
	res->working_ns = res->threads_ns - res->lost_ns - res->idle_ns - res->unexplained_ns;
	if (runnable > (double)res->working_ns)
		runnable = (double)res->working_ns;
	res->runnable_ns = runnable > 0 ? (uint64_t)runnable : 0;
}

/* Separates the working time that no traced call covers. */
static void split_outside(struct result *res)
{
	double asleep, covered_asleep = 0, covered_runnable = 0, runnable, outside;
	double part = res->recorded_part;

	res->outside_cpu_ns = res->outside_runnable_ns = BLOCK_NONE;
	if (res->working_ns == BLOCK_NONE || isnan(res->coverage))
		return;
	vec_for_each (&res->calls.threads.all, struct thread *, t) {
		const struct offcpu *off = &(*t)->covered_off;

		covered_runnable += (double)off->preempted_ns / part;
		covered_asleep += (double)(off->blocked_ns + off->idle_ns) / part;
	}
	runnable = fmax(0, result_off_ns(res, &asleep) - asleep - covered_runnable);
	outside = (1 - res->coverage) * (double)res->threads_ns;
	outside -= runnable + fmax(0, asleep - covered_asleep);
	res->outside_runnable_ns = at_most(runnable, res->runnable_ns);
	res->outside_cpu_ns = at_most(outside, res->working_ns - res->runnable_ns);
}

static void add_excess(struct result *res, double *lost, const struct blocks *blocks,
		       struct sci *sci)
{
	double *more = blocks_thread_excess(blocks, sci, &res->options);

	for (size_t i = 0; i < res->threads.n; i++)
		lost[i] += more[i];
	free(more);
}

void result_split_time(struct result *res)
{
	double *lost = xcalloc(res->threads.n + 1, sizeof(*lost));

	for (size_t i = 0; i < res->threads.n; i++)
		lost[i] = res->waits_lost_ns[i];
	add_excess(res, lost, &res->blocks, &res->sci);
	if (res->groups.n)
		add_excess(res, lost, &res->groups, &res->keyed.sci);
	for (size_t i = 0; i < res->threads.n; i++) {
		struct result_thread *row = &res->threads.data[i];

		row->sci = row->observed_ns ? lost[i] / (double)row->observed_ns : NAN;
	}
	split_time(res, lost);
	split_outside(res);
	free(lost);
}

static bool is_lost(const struct block *b)
{
	return block_counts(b) && block_suspect_threads(b) > 0;
}

/*
 * A function and the groups of its calls share the same time, so only the one of the two that loses
 * more counts.
 */
static void choose_groups(struct result *res)
{
	const struct meta_function *functions = res->meta->functions.data;
	double *lost = xcalloc(res->meta->functions.n + 1, sizeof(*lost));

	vec_for_each (&res->groups, const struct block, g)
		if (is_lost(g))
			lost[g->function - functions] += block_suspect_threads(g);
	vec_for_each (&res->blocks, struct block, b) {
		if (is_lost(b) && block_suspect_threads(b) >= lost[b->id])
			lost[b->id] = 0;
		b->in_lost &= !(lost[b->id] > 0);
	}
	vec_for_each (&res->groups, struct block, g)
		g->in_lost = is_lost(g) && lost[g->function - functions] > 0;
	free(lost);
}

void result_count_groups(struct result *res)
{
	/* sequences share the lost time of the functions, which are counted already */
	if (!res->groups.n || res->sequences)
		return;
	choose_groups(res);
	result_split_time(res);
}

void result_take_time(struct result *res, const struct result *from)
{
	res->lost_ns = from->lost_ns;
	res->working_ns = from->working_ns;
	res->idle_ns = from->idle_ns;
	res->runnable_ns = from->runnable_ns;
	res->unexplained_ns = from->unexplained_ns;
	res->outside_cpu_ns = from->outside_cpu_ns;
	res->outside_runnable_ns = from->outside_runnable_ns;
	for (size_t i = 0; i < res->threads.n && i < from->threads.n; i++)
		res->threads.data[i].sci = from->threads.data[i].sci;
}
