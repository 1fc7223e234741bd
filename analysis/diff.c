/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "symbol/import.h"
#include "analysis/stats.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta.h"
#include "trace/reader.h"

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = { "slower",	      "faster",	     "same",
					     "too-few-calls", "cannot-tell", "only-before",
					     "only-after" };

	return names[verdict];
}

/* ---- reading ---- */

static uint64_t period_of(const struct diff_run *run)
{
	return meta_period(run->result.meta);
}

static int read_run(struct diff_run *run, struct err *err)
{
	struct result_options o = { .to_ns = UINT64_MAX,
				    .visitors = { slices_visitor(&run->slices) } };
	int rc = import_open(&run->reader, run->path, err);

	return rc ? rc : result_read(&run->result, run->reader, &o, err);
}

static int read_side(struct diff *diff, enum diff_side side, const char *const *paths, size_t n,
		     struct err *err)
{
	int rc = 0;

	/* The visitor holds a pointer to its run: all the room first. */
	vec_reserve(&diff->runs[side], n);
	for (size_t i = 0; i < n && !rc; i++) {
		struct diff_run *run = vec_add(&diff->runs[side]);

		run->path = paths[i];
		rc = read_run(run, err);
	}
	return rc;
}

static int check_sampling(const struct diff *diff, struct err *err)
{
	const struct diff_run *first = &diff->runs[0].data[0];

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		vec_for_each (&diff->runs[side], const struct diff_run, run)
			if (period_of(run) != period_of(first))
				return err_set(err, -EINVAL,
					       "%s records one call in %llu, %s one in %llu; "
					       "record both with the same -c",
					       first->path, (unsigned long long)period_of(first),
					       run->path, (unsigned long long)period_of(run));
	return 0;
}

/* ---- matching ---- */

static char *key_of(const struct block *b)
{
	const char *file = b->function->file;

	return xasprintf("%s:%s@%s", b->object ? text_base_name(b->object->path) : "",
			 b->function->symbol, file ? text_base_name(file) : "");
}

/* A block of one run, under the number of its key. */
struct match {
	uint32_t key;
	enum diff_side side;
	const struct diff_run *run;
	const struct block *block;
};

struct matches {
	struct strtab keys;
	VEC(struct match)
};

static int by_key(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->side != y->side ? (x->side < y->side ? -1 : 1)
				  : (x->run > y->run) - (x->run < y->run);
}

static void match_all(const struct diff *diff, struct matches *m)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		vec_for_each (&diff->runs[side], const struct diff_run, run)
			vec_for_each (&run->result.blocks, const struct block, b) {
				char *key = key_of(b);

				*vec_add(m) =
					(struct match){ strtab_add(&m->keys, key), side, run, b };
				free(key);
			}
	vec_sort(m, by_key);
}

/* ---- one block on one side ---- */

/* What the change of the fastest call adds to an excess that is linear in it. */
static double rescored(const struct block *b, uint64_t excess_ns, uint64_t own_min, uint64_t min)
{
	double calls = b->estimated_calls == BLOCK_NONE ? (double)b->timed_calls
							: (double)b->estimated_calls;

	if (excess_ns == BLOCK_NONE || own_min == BLOCK_NONE || min == BLOCK_NONE)
		return NAN;
	return (double)excess_ns + (calls + (double)b->open_calls) * (double)(own_min - min);
}

static void add_half(struct diff_half *h, const struct match *m, uint64_t min, uint64_t own_min)
{
	const struct block *b = m->block;
	double excess = rescored(b, b->excess_ns, b->min_ns, min);
	double own = rescored(b, b->self_excess_ns, b->self_min_ns, own_min);

	h->idle = (!h->runs || h->idle) && b->verdict == VERDICT_IDLE;
	h->runs++;
	h->calls += b->calls;
	h->timed_calls += b->timed_calls;
	if (b->min_ns < h->min_ns)
		h->min_ns = b->min_ns;
	if (b->total_ns != BLOCK_NONE)
		h->total_ns += b->total_ns;
	h->sci += b->observed_ns ? excess / (double)b->observed_ns : NAN;
	h->lost_threads += own / (double)m->run->result.probed_ns;
}

static void end_half(struct diff_half *h, size_t runs)
{
	h->mean_ns = h->timed_calls ? (double)h->total_ns / (double)h->timed_calls : NAN;
	h->sci /= (double)runs;
	h->lost_threads /= (double)runs;
	h->calls /= runs;
	h->total_ns /= runs;
}

/* ---- the test ---- */

/* A side's mean: of its runs with equal weight. Variances are of that mean. */
struct side_mean {
	double mean;
	double within, df; /* as the slices of its runs have it */
	double between;	   /* as the runs' means have it; 0: one run */
	size_t runs;
};

static struct side_mean side_mean(const struct match *m, size_t n, enum slice_sum what)
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

/* A block's calls of both sides, ordered by side. */
struct pair {
	const struct match *m;
	size_t n_before, n_after;
	double level;
};

/* Of the program's time that it could run, the part that others had the CPUs. */
static double cpu_wait_share(const struct diff_run *run)
{
	double waited = 0, asleep = 0, all = (double)run->result.threads_ns;

	vec_for_each (&run->result.calls.threads.all, struct thread *, t) {
		waited += (double)((*t)->off.preempted_ns - (*t)->off.crowded_ns);
		asleep += (double)((*t)->off.blocked_ns + (*t)->off.idle_ns);
	}
	return all > asleep + waited && waited > 0 ? waited / (all - asleep) : 0;
}

static double mean_cpu_wait_share(const struct match *m, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += cpu_wait_share(m[i].run);
	return sum / (double)n;
}

/* What whom it sleeps for may be later, as the sides had the CPUs for unlike parts; relative. */
static double late_part(const struct pair *p, double seen_ns)
{
	double a = 1 - mean_cpu_wait_share(p->m, p->n_before);
	double b = 1 - mean_cpu_wait_share(p->m + p->n_before, p->n_after);
	struct side_mean asleep = side_mean(p->m, p->n_before, SLICE_BLOCKED_NS);

	if (!(seen_ns > 0) || !(a > 0) || !(b > 0) || isnan(asleep.mean))
		return 0;
	return asleep.mean / seen_ns * fabs(a > b ? a / b - 1 : b / a - 1);
}

/* What both allow. */
static struct diff_change hull(struct diff_change a, const struct diff_change *b)
{
	if (isnan(b->low))
		return a;
	a.low = fmin(a.low, b->low);
	a.high = fmax(a.high, b->high);
	return a;
}

static bool few_runs(const struct pair *p)
{
	return p->n_before < DIFF_RUNS_ENOUGH || p->n_after < DIFF_RUNS_ENOUGH;
}

static struct diff_change mean_of(const struct pair *p, enum slice_sum what)
{
	struct side_mean a = side_mean(p->m, p->n_before, what);
	struct side_mean b = side_mean(p->m + p->n_before, p->n_after, what);
	double far = margin(&a, &b, p->level) / a.mean, ratio = b.mean / a.mean - 1;

	if (few_runs(p))
		far += late_part(p, a.mean);
	return (struct diff_change){ ratio, ratio - far, ratio + far };
}

static struct diff_change log_of(const struct pair *p, enum slice_sum what, enum slice_sum seen)
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
static struct diff_change mean_change(const struct pair *p)
{
	struct diff_change quiet = mean_of(p, SLICE_QUIET_NS);

	return hull(mean_of(p, SLICE_SEEN_NS), &quiet);
}

static struct diff_change typical_change(const struct pair *p)
{
	struct diff_change quiet = log_of(p, SLICE_QUIET_LOG, SLICE_QUIET_NS);

	return hull(log_of(p, SLICE_SEEN_LOG, SLICE_SEEN_NS), &quiet);
}

static bool is_change(const struct diff_change *c, double least)
{
	return c->low > 0 ? c->ratio > least : c->high < 0 && c->ratio < -least;
}

/* What the probes' own cost may make of it: it is in every duration, and machines have moods. */
static double probe_part(const struct match *before, const struct match *after, double mean_ns)
{
	const struct paircost *a = before->block->cost, *b = after->block->cost;
	double apart;

	if (!a->known || !b->known || !(mean_ns > 0))
		return 0;
	apart = fabs((double)a->inner_ns - (double)b->inner_ns);
	return 2 * apart / mean_ns;
}

static enum diff_verdict judge(struct diff_block *d, double probes)
{
	double least = probes > DIFF_LEAST ? probes : DIFF_LEAST;
	const struct diff_change *c = NULL;

	if (d->half[0].timed_calls < CALLS_MIN || d->half[1].timed_calls < CALLS_MIN)
		return d->half[0].timed_calls && d->half[1].timed_calls ? DIFF_TOO_FEW_CALLS
									: DIFF_CANNOT_TELL;
	if (isnan(d->mean.low))
		return DIFF_CANNOT_TELL;
	if (is_change(&d->mean, least))
		c = &d->mean;
	else if (is_change(&d->typical, least))
		c = &d->typical;
	else if (is_change(&d->whole, least))
		c = &d->whole;
	d->by_typical = c == &d->typical;
	d->by_whole = c == &d->whole;
	return !c ? DIFF_SAME : c->ratio > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

/* ---- all of it ---- */

static void common_min(const struct match *m, size_t n, uint64_t *min, uint64_t *own)
{
	*min = *own = BLOCK_NONE;
	for (size_t i = 0; i < n; i++) {
		if (m[i].block->min_ns < *min)
			*min = m[i].block->min_ns;
		if (m[i].block->self_min_ns < *own)
			*own = m[i].block->self_min_ns;
	}
}

static void warn(struct diff_block *d, const struct block *a, const struct block *b)
{
	uint64_t x = d->half[0].calls, y = d->half[1].calls;

	d->other_probe =
		a->function->class != b->function->class || a->function->exit != b->function->exit;
	d->other_calls = x > 2 * y || y > 2 * x;
}

/* As side_mean(), also where nothing is known of the noise. */
static double plain_mean(const struct match *m, size_t n, enum slice_sum what)
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

static void set_means(struct diff_block *d, const struct match *m, size_t n_before, size_t n_after)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct match *of = side ? m + n_before : m;
		size_t n = side ? n_after : n_before;

		d->half[side].seen_ns = plain_mean(of, n, SLICE_SEEN_NS);
		d->half[side].cpu_wait_ns = plain_mean(of, n, SLICE_NS) - d->half[side].seen_ns;
	}
}

static void compare(struct diff *diff, const struct match *m, size_t n, double level)
{
	struct diff_block *d = vec_add(&diff->blocks);
	size_t n_before = 0;
	struct pair p;
	uint64_t own;

	d->name = m->block->name;
	d->object = m->block->object ? m->block->object->path : NULL;
	common_min(m, n, &d->min_ns, &own);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		d->half[side].min_ns = BLOCK_NONE;
	for (size_t i = 0; i < n; i++) {
		n_before += m[i].side == DIFF_BEFORE;
		add_half(&d->half[m[i].side], &m[i], d->min_ns, own);
	}
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		end_half(&d->half[side], diff->runs[side].n);
	d->mean = d->typical = d->whole = (struct diff_change){ NAN, NAN, NAN };
	d->noise = NAN;
	set_means(d, m, n_before, n - n_before);
	d->verdict = n_before ? DIFF_ONLY_BEFORE : DIFF_ONLY_AFTER;
	if (!n_before || n_before == n)
		return;
	p = (struct pair){ m, n_before, n - n_before, level };
	d->mean = mean_change(&p);
	d->noise = fmax(d->mean.high - d->mean.ratio, d->mean.ratio - d->mean.low);
	d->typical = typical_change(&p);
	if (p.n_before >= DIFF_RUNS_ENOUGH && p.n_after >= DIFF_RUNS_ENOUGH)
		d->whole = mean_of(&p, SLICE_NS);
	warn(d, m[0].block, m[n_before].block);
	d->verdict = judge(d, probe_part(&m[0], &m[n_before], d->half[0].mean_ns));
}

static double weight(const struct diff_block *b)
{
	double change = b->half[1].lost_threads - b->half[0].lost_threads;

	return isnan(change) ? -1 : fabs(change);
}

/* Changes first, then by how much lost time moved. */
static int by_weight(const void *a, const void *b)
{
	const struct diff_block *x = a, *y = b;
	bool cx = x->verdict <= DIFF_FASTER, cy = y->verdict <= DIFF_FASTER;

	if (cx != cy)
		return cx ? -1 : 1;
	return weight(x) != weight(y) ? (weight(x) > weight(y) ? -1 : 1) : strcmp(x->name, y->name);
}

static void compare_all(struct diff *diff, const struct matches *m)
{
	/* three tests a block, and any of them may be the false one */
	double level = DIFF_LEVEL / (3 * (m->keys.n ? (double)m->keys.n : 1));

	for (size_t i = 0, n; i < m->n; i += n) {
		for (n = 1; i + n < m->n && m->data[i + n].key == m->data[i].key; n++)
			;
		compare(diff, &m->data[i], n, level);
	}
	vec_sort(&diff->blocks, by_weight);
}

static void add_totals(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		vec_for_each (&diff->runs[side], const struct diff_run, run) {
			double duration = (double)run->result.duration_ns;

			diff->duration_ns[side] += duration / (double)diff->runs[side].n;
			diff->lost_threads[side] += (double)run->result.lost_ns /
						    (double)run->result.probed_ns /
						    (double)diff->runs[side].n;
		}
	}
}

int diff_read(struct diff *diff, const char *const *before, size_t n_before,
	      const char *const *after, size_t n_after, struct err *err)
{
	struct matches m = { 0 };
	int rc;

	*diff = (struct diff){ 0 };
	rc = read_side(diff, DIFF_BEFORE, before, n_before, err);
	if (!rc)
		rc = read_side(diff, DIFF_AFTER, after, n_after, err);
	if (!rc)
		rc = check_sampling(diff, err);
	if (rc)
		return rc;
	match_all(diff, &m);
	compare_all(diff, &m);
	add_totals(diff);
	vec_release(&m);
	strtab_release(&m.keys);
	return 0;
}

void diff_release(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		vec_for_each (&diff->runs[side], struct diff_run, run) {
			if (run->result.meta)
				result_release(&run->result);
			slices_release(&run->slices);
			trace_reader_free(run->reader);
		}
		vec_release(&diff->runs[side]);
	}
	vec_release(&diff->blocks);
}

double diff_growth(const struct diff_block *b)
{
	if (b->verdict == DIFF_ONLY_AFTER && !b->half[DIFF_AFTER].idle)
		return b->half[DIFF_AFTER].sci;
	if (b->verdict != DIFF_SLOWER || b->half[DIFF_AFTER].idle)
		return NAN;
	return b->half[DIFF_AFTER].sci - b->half[DIFF_BEFORE].sci;
}
