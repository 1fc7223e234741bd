/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/diff/change.h"

#include <math.h>

#include "analysis/stat/stats.h"

/* A side's mean: of its runs with equal weight. Variances are of that mean. */
struct side_mean {
	double mean;
	double within, df; /* as the slices of its runs have it */
	double between;	   /* as the runs' means have it; 0: one run */
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

/* Few runs: the larger variance of each side, and what it is worth (Welch, Satterthwaite). */
static double margin_of_few(const struct side_mean *a, const struct side_mean *b, double level)
{
	double va = fmax(a->within, a->between), vb = fmax(b->within, b->between);
	double da = a->between > a->within ? (double)a->runs - 1 : a->df;
	double db = b->between > b->within ? (double)b->runs - 1 : b->df;
	double parts = va * va / da + vb * vb / db;

	return t_margin(va + vb, parts > 0 ? (va + vb) * (va + vb) / parts : INFINITY, level);
}

/*
 * How far a difference of the two may be from the truth, at the level. With enough runs how much
 * they differ is known, and taken to be the same on both sides. Where chance made it smaller than
 * what the slices have, that is no knowledge: its degrees of freedom stay.
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

/* Returns the part of the time in which the program could run and other programs had the CPUs. */
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
 * The thread that a sleep waits for may be late itself, where the two sides had the CPUs for
 * different parts of their time; relative.
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

/* Returns the range that contains both. */
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
				     ratio + far }; /* no less than all */
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
 * Work goes on where it was interrupted, but a clock does not wait: without the time that they
 * waited for a CPU calls that end by one look shorter, the more of them waited. Calls that did not
 * wait are no fair choice either: they are the shorter ones. A change is one by both.
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
