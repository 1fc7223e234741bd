/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/diff/change.h"

#include <math.h>

#include "analysis/stat/stats.h"

/* The mean of a side's runs, with equal weight, and the variance of this mean. */
struct side_mean {
	double mean;
	double within, df; /* variance within the runs, from their slices, and its degrees of
			    * freedom */
	double between;	   /* variance between the runs' means; 0: one run */
	size_t runs;
};

static struct side_mean side_mean(const struct diff_match *m, size_t n, enum slice_sum what)
{
	struct side_mean sum = { .df = 0 };
	double squares = 0, runs;

	for (size_t i = 0; i < n; i++) {
		struct slice_mean one = slices_mean(&m[i].run->slices, m[i].block->id, what);

		if (!one.n || isnan(one.variance))
			continue;
		sum.runs++;
		sum.mean += one.mean;
		sum.within += one.variance;
		sum.df += one.df;
		squares += one.mean * one.mean;
	}
	runs = (double)sum.runs;
	if (!sum.runs)
		return (struct side_mean){ .mean = NAN, .within = NAN };
	sum.mean /= runs;
	sum.within /= runs * runs;
	if (sum.runs > 1)
		sum.between = fmax(squares / runs - sum.mean * sum.mean, 0) / (runs - 1);
	return sum;
}

static double t_margin(double variance, double df, double level)
{
	if (!(variance > 0))
		return variance == 0 ? 0 : NAN;
	return stats_t_quantile(1 - level / 2, df > 1e6 ? 1e6 : df) * sqrt(variance);
}

/* Margin for few runs: the larger variance of each side, with the degrees of freedom by Welch and
 * Satterthwaite. */
static double margin_of_few(const struct side_mean *a, const struct side_mean *b, double level)
{
	double va = fmax(a->within, a->between), vb = fmax(b->within, b->between);
	double da = a->between > a->within ? (double)a->runs - 1 : a->df;
	double db = b->between > b->within ? (double)b->runs - 1 : b->df;
	double parts = va * va / da + vb * vb / db;

	return t_margin(va + vb, parts > 0 ? (va + vb) * (va + vb) / parts : INFINITY, level);
}

/*
 * Returns the error margin of the difference of two means at the level. With enough runs, the
 * variance between runs is known, and taken as equal on both sides. If it is by chance smaller than
 * the variance within runs, the latter is used, but with the degrees of freedom of the former,
 * because a small value by chance is no additional knowledge.
 */
static double margin(const struct side_mean *a, const struct side_mean *b, double level)
{
	double na = (double)a->runs, nb = (double)b->runs, df = na + nb - 2, pooled;

	if (isnan(a->mean) || isnan(b->mean))
		return NAN;
	if (a->runs < DIFF_RUNS_ENOUGH || b->runs < DIFF_RUNS_ENOUGH)
		return margin_of_few(a, b, level);
	pooled = (na * (na - 1) * a->between + nb * (nb - 1) * b->between) / df * (1 / na + 1 / nb);
	return t_margin(fmax(pooled, a->within + b->within), df, level);
}

/* Returns the share of the program's time not asleep in which other programs had the CPUs. */
static double cpu_wait_share(const struct diff_run *run)
{
	double waited = 0, asleep = 0, all = (double)run->result.threads_ns;

	vec_for_each (&run->result.calls.threads.all, struct thread *, t) {
		waited += (double)((*t)->off.preempted_ns - (*t)->off.oversubscribed_ns);
		asleep += (double)((*t)->off.blocked_ns + (*t)->off.idle_ns);
	}
	return all > asleep + waited && waited > 0 ? waited / (all - asleep) : 0;
}

static double mean_cpu_wait_share(const struct diff_match *m, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += cpu_wait_share(m[i].run);
	return sum / (double)n;
}

/*
 * Returns the relative part of a change that may come from other programs: if they had the CPUs for
 * different shares of time on the two sides, the threads that a sleep waits for were late by as
 * much.
 */
static double late_part(const struct diff_pair *p, double seen_ns)
{
	double a = 1 - mean_cpu_wait_share(p->m, p->n_before);
	double b = 1 - mean_cpu_wait_share(p->m + p->n_before, p->n_after);
	struct side_mean asleep = side_mean(p->m, p->n_before, SLICE_BLOCKED_NS);

	if (!(seen_ns > 0) || !(a > 0) || !(b > 0) || isnan(asleep.mean))
		return 0;
	return asleep.mean / seen_ns * fabs(a > b ? a / b - 1 : b / a - 1);
}

/* Returns change a with the smallest range that contains the ranges of both. */
static struct diff_change hull(struct diff_change a, const struct diff_change *b)
{
	if (isnan(b->low))
		return a;
	a.low = fmin(a.low, b->low);
	a.high = fmax(a.high, b->high);
	return a;
}

static bool few_runs(const struct diff_pair *p)
{
	return p->n_before < DIFF_RUNS_ENOUGH || p->n_after < DIFF_RUNS_ENOUGH;
}

static struct diff_change mean_of(const struct diff_pair *p, enum slice_sum what)
{
	struct side_mean a = side_mean(p->m, p->n_before, what);
	struct side_mean b = side_mean(p->m + p->n_before, p->n_after, what);
	double far = margin(&a, &b, p->level) / a.mean, ratio = b.mean / a.mean - 1;

	if (few_runs(p))
		far += late_part(p, a.mean);
	return (struct diff_change){ ratio, fmax(ratio - far, -1),
				     ratio + far }; /* a mean cannot fall by more than 100% */
}

static struct diff_change log_of(const struct diff_pair *p, enum slice_sum what,
				 enum slice_sum seen)
{
	struct side_mean a = side_mean(p->m, p->n_before, what);
	struct side_mean b = side_mean(p->m + p->n_before, p->n_after, what);
	double far = margin(&a, &b, p->level), diff = b.mean - a.mean;

	if (few_runs(p))
		far += late_part(p, side_mean(p->m, p->n_before, seen).mean);
	return (struct diff_change){ expm1(diff), expm1(diff - far), expm1(diff + far) };
}

/*
 * The mean is computed in two ways, and a change must show in both. Without their waits for a CPU,
 * calls that end at a certain time (they look at a clock) appear too short, because the clock does
 * not stop during a wait. Calls that never waited for a CPU are a biased choice, because short
 * calls wait less often.
 */
struct diff_change diff_mean_change(const struct diff_pair *p)
{
	struct diff_change quiet = mean_of(p, SLICE_QUIET_NS);

	return hull(mean_of(p, SLICE_SEEN_NS), &quiet);
}

struct diff_change diff_typical_change(const struct diff_pair *p)
{
	struct diff_change quiet = log_of(p, SLICE_QUIET_LOG, SLICE_QUIET_NS);

	return hull(log_of(p, SLICE_SEEN_LOG, SLICE_SEEN_NS), &quiet);
}

struct diff_change diff_whole_change(const struct diff_pair *p)
{
	return few_runs(p) ? (struct diff_change){ NAN, NAN, NAN } : mean_of(p, SLICE_NS);
}

double diff_mean(const struct diff_match *m, size_t n, enum slice_sum what)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		struct slice_mean one = slices_mean(&m[i].run->slices, m[i].block->id, what);

		sum += one.n ? one.mean : 0;
		known += one.n > 0;
	}
	return known ? sum / (double)known : NAN;
}
