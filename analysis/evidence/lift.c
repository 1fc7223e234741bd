/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/lift.h"
#include "analysis/stat/stats.h"
#include "base/mem.h"

#define ALPHA		0.05
#define ASLEEP_MIN	0.1 /* share of the slow calls' time; less sleep frees no relevant CPU time */
#define GROUPS		2
#define ROWS_MIN	(LIFT_SLOW_MIN * 10)
#define LIFT_LOW_MIN	1.1
#define FAST_LEAST	0.1 /* fast calls of a thread for each slow one: with less it makes none */
#define NEVER_FAST_MOST 0.5 /* of the slow calls, by such threads */

enum { FAST, SLOW };

/* One candidate's sums. */
struct sums {
	double active[GROUPS][LIFT_BATCHES]; /* weighted */
	double rate[LIFT_BATCHES];	     /* all rows, not weighted */
	double rate2, most;
	uint32_t rows;
};

struct group {
	double weight[LIFT_BATCHES], all, squares;
	double asleep, n;
};

struct split {
	bool whole;
	uint64_t fast_max, slow_min;
	double weight_max;
	struct group groups[GROUPS];
	uint32_t rows[LIFT_BATCHES];
};

static uint64_t length(const struct lift_row *r, bool whole)
{
	return whole ? r->duration_ns : r->seen_ns;
}

/* Returns the longest duration of a fast call; d is sorted. This is the median, unless the median
 * is nearer to slow_min than to the fastest call; then the longest duration that is not. */
static uint64_t fast_max(const uint64_t *d, size_t n, uint64_t slow_min)
{
	size_t i = n / 2;

	while (i > LIFT_FAST_MIN && d[i] - d[0] > slow_min - d[i])
		i--;
	return d[i];
}

static bool find_split(const struct lift_sample *s, struct split *split, bool whole)
{
	size_t n = s->rows.n;
	uint64_t *d = xmalloc(n * sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = length(&s->rows.data[i], whole);
	qsort(d, n, sizeof(*d), vec_by_u64);
	*split = (struct split){ .whole = whole, .slow_min = d[n - n / 10] };
	split->fast_max = fast_max(d, n, split->slow_min);
	free(d);
	split->weight_max = LIFT_WEIGHT_MAX * (double)split->slow_min;
	return split->slow_min > split->fast_max;
}

static int group_of(const struct split *split, const struct lift_row *r)
{
	uint64_t ns = length(r, split->whole);

	return ns <= split->fast_max ? FAST : ns >= split->slow_min ? SLOW : -1;
}

static double weight_of(const struct split *split, const struct lift_row *r)
{
	return fmin((double)length(r, split->whole), split->weight_max);
}

static void add_row(struct split *split, const struct lift_row *r, unsigned batch)
{
	int g = group_of(split, r);
	double w = weight_of(split, r);
	struct group *group;

	split->rows[batch]++;
	if (g < 0)
		return;
	group = &split->groups[g];
	group->weight[batch] += w;
	group->all += w;
	group->squares += w * w;
	group->n++;
	group->asleep += w * (double)r->asleep_ns / (double)r->seen_ns;
}

static void add_cell(struct sums *sums, const struct split *split, const struct lift_row *r,
		     double rate, unsigned batch)
{
	int g = group_of(split, r);

	sums->rate[batch] += rate;
	sums->rows++;
	sums->rate2 += rate * rate;
	sums->most = fmax(sums->most, rate);
	if (g >= 0)
		sums->active[g][batch] += rate * weight_of(split, r);
}

static double total(const double *x)
{
	double sum = 0;

	for (unsigned b = 0; b < LIFT_BATCHES; b++)
		sum += x[b];
	return sum;
}

/* Returns how many calls are worth one independent call: the variance between the stretches' means
 * over what this variance would be if the calls were independent. */
static double design_effect(const struct sums *s, const struct split *split, double n)
{
	double mean = total(s->rate) / n, within = s->rate2 / n - mean * mean, between = 0;

	for (unsigned b = 0; b < LIFT_BATCHES; b++) {
		double e = s->rate[b] - mean * split->rows[b];

		between += e * e;
	}
	between /= n * (1 - 1.0 / LIFT_BATCHES);
	return within > 0 && between > within ? between / within : 1;
}

/*
 * The design effect for one group's calls, which may be spread over the stretches more or less
 * evenly than all calls: computed from the correlation of calls in one stretch, and the
 * concentration of the group's calls in stretches.
 */
static double group_effect(const struct group *g, double deff, double n)
{
	double agree = (deff - 1) / (n / LIFT_BATCHES - 1), together = 0;

	for (unsigned b = 0; b < LIFT_BATCHES; b++)
		together += g->weight[b] * g->weight[b] / g->squares;
	return 1 + agree * (together - 1);
}

/* Returns the number of independent calls that a group's rate (0..1) is based on. */
static double effective(const struct sums *s, const struct group *g, int which, double most,
			double rate, double deff)
{
	double n = g->all * g->all / g->squares / deff, variance = 0, own;

	for (unsigned b = 0; b < LIFT_BATCHES; b++) {
		double e = s->active[which][b] / most - rate * g->weight[b];

		variance += e * e;
	}
	variance *= LIFT_BATCHES / (LIFT_BATCHES - 1.0) / (g->all * g->all);
	own = variance > 0 ? rate * (1 - rate) / variance : n;
	return own < n ? own : n;
}

struct bounds {
	double low, high;
};

/* Returns the factor by which the rates of others rise because slow calls sleep and leave their CPU
 * to them. */
static double freed(const struct split *split, const struct sums *running, uint32_t cpus)
{
	const struct group *slow = &split->groups[SLOW], *fast = &split->groups[FAST];
	double rise, most = cpus > 1 ? cpus / (cpus - 1.0) : INFINITY;

	if (slow->asleep < ASLEEP_MIN * slow->all)
		return 1;
	if (!running || !(total(running->active[FAST]) > 0))
		return most;
	rise = total(running->active[SLOW]) / slow->all /
	       (total(running->active[FAST]) / fast->all);
	return fmax(1, fmin(rise, most));
}

/*
 * Returns the lower bound of the ratio x / y from the bounds of both, whose errors are independent
 * (Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard
 * deviation", 2012). The bound x.low / y.high would assume the worst of both at once.
 */
static double ratio_low(double x, double x_low, double y, double y_high)
{
	double a = x_low * (2 * x - x_low), b = y_high * (2 * y - y_high);
	double root = x * y * x * y - a * b;

	if (!(b > 0) || !(root >= 0))
		return x_low / y_high;
	return fmax(x_low / y_high, (x * y - sqrt(root)) / b);
}

static struct lift compare(const struct sums *s, const struct split *split, double n, double z,
			   double raise)
{
	const struct group *g = split->groups;
	double most = fmax(1, ceil(s->most - 0.01)), deff = design_effect(s, split, n),
	       rate[GROUPS], eff[GROUPS], at_least_one;
	struct bounds b[GROUPS];
	struct lift l;

	for (int i = 0; i < GROUPS; i++) {
		rate[i] = fmin(1, total(s->active[i]) / most / g[i].all);
		eff[i] = effective(s, &g[i], i, most, rate[i], group_effect(&g[i], deff, n));
		eff[i] = fmax(eff[i], 1);
		stats_wilson(rate[i], eff[i], z, &b[i].low, &b[i].high);
	}
	/* half a call is added, because an event that was never seen need not have a rate of 0 */
	at_least_one = fmax(rate[FAST], 0.5 / (eff[FAST] + 1));
	l = (struct lift){
		.lift = rate[SLOW] / at_least_one / raise,
		.low = ratio_low(rate[SLOW], b[SLOW].low, rate[FAST], b[FAST].high) / raise,
		.high = b[FAST].low > 0 ? b[SLOW].high / b[FAST].low / raise : INFINITY,
		.share = fmin(1, most * (rate[SLOW] - rate[FAST] * raise)),
		.slow_rate = rate[SLOW] * most,
		.fast_rate = rate[FAST] * most,
	};
	return l;
}

bool lift_enough(const struct lift_sample *s)
{
	return s->rows.n >= ROWS_MIN;
}

/* Returns how many calls met each candidate, [candidate]; freed by the caller. */
static uint32_t *count_met(const struct lift_sample *s, uint32_t n)
{
	uint32_t *met = xcalloc(n + 1, sizeof(*met));

	vec_for_each (&s->cells, const struct lift_cell, c)
		met[c->candidate]++;
	return met;
}

uint32_t lift_pairs(const struct lift_sample *s, uint32_t n)
{
	uint32_t *met, pairs = 0;

	if (!lift_enough(s))
		return 0;
	met = count_met(s, n);
	for (uint32_t i = 0; i < n; i++)
		pairs += met[i] >= LIFT_SUPPORT_MIN;
	free(met);
	return pairs;
}

static int larger_share(const void *a, const void *b)
{
	const struct lift *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	if (x->low != y->low)
		return x->low < y->low ? 1 : -1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static int larger_lift(const void *a, const void *b)
{
	const struct lift *x = a, *y = b;

	return x->low != y->low ? (x->low < y->low ? 1 : -1) : larger_share(a, b);
}

/*
 * Sorts the candidates. A function has the largest share that calls what disturbs the slow calls,
 * and whatever the program does is called by its outermost functions: they run in many fast calls,
 * too. So of those with nearly the same share, the one comes first that fast calls meet least.
 */
static void sort(struct lifts *all)
{
	size_t n = 0;

	vec_sort(all, larger_share);
	while (n < all->n && all->data[n].share >= LIFT_SHARE_NEAR * all->data[0].share)
		n++;
	if (n)
		qsort(all->data, n, sizeof(*all->data), larger_lift);
}

/* The candidates that are compared: those that take the CPU, over whole calls, or all others, over
 * the time not spent waiting for a CPU. */
struct asked {
	uint32_t *place; /* [candidate]: index of its sums + 1; 0: not compared */
	struct {
		VEC(struct sums)
	} sums;
	uint32_t named; /* how many are compared, without question.running */
};

static void ask(const struct lift_sample *s, const struct lift_question *q, bool whole,
		struct asked *a)
{
	*a = (struct asked){ .place = count_met(s, q->n) };
	for (uint32_t i = 0; i < q->n; i++) {
		bool named = i != q->running && q->takes_cpu[i] == whole &&
			     a->place[i] >= LIFT_SUPPORT_MIN;

		if (!named && (i != q->running || whole || !a->place[i])) {
			a->place[i] = 0;
			continue;
		}
		(void)vec_add(&a->sums);
		a->place[i] = (uint32_t)a->sums.n;
		a->named += named;
	}
}

static const struct sums *sums_of(const struct asked *a, uint32_t candidate)
{
	return a->place[candidate] ? &a->sums.data[a->place[candidate] - 1] : NULL;
}

static void release(struct asked *a)
{
	free(a->place);
	vec_release(&a->sums);
}

static void add_up(const struct lift_sample *s, struct asked *a, struct split *split)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct lift_row *r = &s->rows.data[i];
		unsigned batch = (unsigned)(i * LIFT_BATCHES / s->rows.n);

		add_row(split, r, batch);
		for (uint32_t k = r->first; k < r->first + r->n; k++) {
			const struct lift_cell *c = &s->cells.data[k];
			uint32_t place = a->place[c->candidate];

			if (place)
				add_cell(&a->sums.data[place - 1], split, r, (double)c->rate,
					 batch);
		}
	}
}

static void compare_all(const struct lift_sample *s, const struct lift_question *q, bool whole,
			const struct asked *a, const struct split *split, struct lifts *out)
{
	double z = stats_t_quantile(1 - ALPHA / 2 / (double)q->pairs, LIFT_BATCHES - 1), raise = 1;

	if (!whole)
		raise = freed(split, q->running < q->n ? sums_of(a, q->running) : NULL, q->cpus);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct sums *sums = i == q->running ? NULL : sums_of(a, i);
		struct lift l;

		if (!sums)
			continue;
		l = compare(sums, split, (double)s->rows.n, z, raise);
		l.candidate = i;
		if (l.low >= LIFT_LOW_MIN && l.share >= LIFT_SHARE_MIN)
			*vec_add(out) = l;
	}
}

static int by_row_thread(const void *a, const void *b)
{
	const struct lift_row *const *x = a, *const *y = b;

	return ((*x)->thread > (*y)->thread) - ((*x)->thread < (*y)->thread);
}

/* Returns the rows by thread; the caller frees them. */
static const struct lift_row **rows_by_thread(const struct lift_sample *s)
{
	const struct lift_row **rows = xcalloc(s->rows.n, sizeof(const struct lift_row *));

	for (size_t i = 0; i < s->rows.n; i++)
		rows[i] = &s->rows.data[i];
	qsort(rows, s->rows.n, sizeof(const struct lift_row *), by_row_thread);
	return rows;
}

/* Returns the share of the slow calls' weight that is of threads which make hardly any fast calls.
 */
static double never_fast(const struct lift_sample *s, const struct split *split)
{
	const struct lift_row **rows = rows_by_thread(s);
	double all = 0, never = 0;

	for (size_t from = 0, to; from < s->rows.n; from = to) {
		double n[GROUPS] = { 0 }, weight = 0;

		for (to = from; to < s->rows.n && rows[to]->thread == rows[from]->thread; to++) {
			int g = group_of(split, rows[to]);

			if (g >= 0)
				n[g]++;
			if (g == SLOW)
				weight += weight_of(split, rows[to]);
		}
		all += weight;
		if (n[FAST] < FAST_LEAST * n[SLOW])
			never += weight;
	}
	free(rows);
	return all > 0 ? never / all : 0;
}

static void find(const struct lift_sample *s, const struct lift_question *q, bool whole,
		 struct lifts *out)
{
	struct split split;
	struct asked a;

	ask(s, q, whole, &a);
	if (a.named && find_split(s, &split, whole) && never_fast(s, &split) < NEVER_FAST_MOST) {
		add_up(s, &a, &split);
		compare_all(s, q, whole, &a, &split, out);
	}
	release(&a);
}

void lift_find(const struct lift_sample *s, const struct lift_question *q, struct lifts *out)
{
	if (!q->pairs || !lift_enough(s))
		return;
	find(s, q, false, out);
	find(s, q, true, out);
	sort(out);
}
