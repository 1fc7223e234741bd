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
	uint64_t period = run->result.meta->session.period;

	return period == META_UNKNOWN ? 1 : period;
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

/* A side's mean: of its runs with equal weight. Their spread counts where it is the larger. */
static struct slice_mean side_mean(const struct match *m, size_t n, bool of_log)
{
	struct slice_mean sum = { .df = 0 };
	double squares = 0, between;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		struct slice_mean one = slices_mean(&m[i].run->slices, m[i].block->id, of_log);

		if (!one.n || isnan(one.variance))
			continue;
		known++;
		sum.n += one.n;
		sum.mean += one.mean;
		sum.variance += one.variance;
		sum.df += one.df;
		squares += one.mean * one.mean;
	}
	if (!known)
		return (struct slice_mean){ .mean = NAN, .variance = NAN };
	sum.mean /= (double)known;
	sum.variance /= (double)known * (double)known;
	if (known < 2)
		return sum;
	between = (squares / (double)known - sum.mean * sum.mean) / (double)(known - 1);
	if (between > sum.variance) {
		sum.variance = between;
		sum.df = (double)(known - 1);
	}
	return sum;
}

/* Degrees of freedom of a difference of two means (Welch, Satterthwaite). */
static double welch(const struct slice_mean *a, const struct slice_mean *b)
{
	double sum = a->variance + b->variance;
	double parts = a->variance * a->variance / a->df + b->variance * b->variance / b->df;

	return parts > 0 ? sum * sum / parts : INFINITY;
}

/* How far a difference of the two may be from the truth, at the level. */
static double margin(const struct slice_mean *a, const struct slice_mean *b, double level)
{
	double df = welch(a, b);

	if (!(a->variance + b->variance > 0))
		return a->variance + b->variance == 0 ? 0 : NAN;
	return stats_t_quantile(1 - level / 2, df > 1e6 ? 1e6 : df) *
	       sqrt(a->variance + b->variance);
}

static struct diff_change mean_change(const struct match *m, size_t n_before, size_t n_after,
				      double level, double *noise)
{
	struct slice_mean a = side_mean(m, n_before, false);
	struct slice_mean b = side_mean(m + n_before, n_after, false);
	double far = margin(&a, &b, level) / a.mean, ratio = b.mean / a.mean - 1;

	*noise = far;
	return (struct diff_change){ ratio, ratio - far, ratio + far };
}

static struct diff_change typical_change(const struct match *m, size_t n_before, size_t n_after,
					 double level)
{
	struct slice_mean a = side_mean(m, n_before, true);
	struct slice_mean b = side_mean(m + n_before, n_after, true);
	double far = margin(&a, &b, level), diff = b.mean - a.mean;

	return (struct diff_change){ expm1(diff), expm1(diff - far), expm1(diff + far) };
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
	d->by_typical = c == &d->typical;
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

static void compare(struct diff *diff, const struct match *m, size_t n, double level)
{
	struct diff_block *d = vec_add(&diff->blocks);
	size_t n_before = 0;
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
	d->mean = d->typical = (struct diff_change){ NAN, NAN, NAN };
	d->noise = NAN;
	d->verdict = n_before ? DIFF_ONLY_BEFORE : DIFF_ONLY_AFTER;
	if (!n_before || n_before == n)
		return;
	d->mean = mean_change(m, n_before, n - n_before, level, &d->noise);
	d->typical = typical_change(m, n_before, n - n_before, level);
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
	/* two tests a block, and any of them may be the false one */
	double level = DIFF_LEVEL / (2 * (m->keys.n ? (double)m->keys.n : 1));

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
