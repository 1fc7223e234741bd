/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/rank.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/cause/verdict.h"
#include "analysis/result/result.h"
#include "report/block/column.h"
#include "report/block/counters.h"
#include "report/block/view.h"
#include "trace/meta/meta.h"

#define LISTED_LEAST	  0.005 /* of the thread time that is not idle, for functions */
#define HEADLINE_LEAST	  0.01	/* of the same time: less explains nothing */
#define UNEXPLAINED_LEAST 0.05	/* threads: less is not worth a line on the first screen */

bool report_worth(const struct block *b)
{
	return b->verdict == VERDICT_INTERFERENCE && b->sci >= SCI_SMALL;
}

bool report_unexplained(const struct block *b)
{
	return block_is_unexplained(b) && b->self_sci >= SCI_SMALL &&
	       b->unexplained_threads >= UNEXPLAINED_LEAST;
}

/*
 * Whether the block loses a share of the thread time that is not idle. Idle time is left out,
 * because a program may have any number of idle threads.
 */
static bool loses_share(const struct view *v, const struct block *b, double share)
{
	const struct result *res = v->result;
	uint64_t idle_ns = res->idle_ns == BLOCK_NONE ? 0 : res->idle_ns;

	return isnan(b->lost_threads) || b->lost_threads * (double)res->probed_ns >=
						 share * (double)(res->threads_ns - idle_ns);
}

double report_counted_ns(const struct view *v, const struct block *b)
{
	bool counts = v->by_thread || b->verdict == VERDICT_INTERFERENCE ||
		      (v->blocks == &v->result->blocks && b->in_lost);

	return counts && b->lost_threads > 0 ? b->lost_threads * (double)v->result->probed_ns : 0;
}

#define ELSEWHERE_LEAST 0.001 /* of thread time: less does not show in a sum of rounded rows */

double report_elsewhere_ns(const struct view *v)
{
	double ns = (double)v->result->lost_ns;

	if (v->by_thread || v->all)
		return 0;
	for (size_t i = 0; i < v->n_rows; i++)
		ns -= report_counted_ns(v, v->rows[i]);
	return ns > 0 && ns >= ELSEWHERE_LEAST * (double)v->result->threads_ns ? ns : 0;
}

const char *report_elsewhere(const struct view *v)
{
	enum block_kind kind = v->result->keyed.rule.kind;

	return v->result->sequences ? "in none of the sequences"
	       : kind == BLOCK_LOCK ? "in none of the locks"
	       : kind == BLOCK_SITE ? "in none of the call sites"
				    : "in other calls of functions with a row per argument";
}

#define LOST_MUCH 0.05 /* of thread time */

bool report_loses_much(const struct view *v, const struct block *b)
{
	return b->verdict == VERDICT_INTERFERENCE &&
	       b->lost_threads * (double)v->result->probed_ns >=
		       LOST_MUCH * (double)v->result->threads_ns;
}

/*
 * Whether the block loses enough for a row of the first screen. A caller whose callees lose the
 * time does not, nor does a block with very little lost time.
 */
static bool loses_enough(const struct view *v, const struct block *b)
{
	if (v->result->sequences)
		return b->verdict == VERDICT_INTERFERENCE && b->lost_threads > 0 &&
		       loses_share(v, b, LISTED_LEAST);
	if (v->blocks != &v->result->blocks)
		return report_worth(b);
	/* whatever its score is, so that no omitted row loses more than a listed one */
	return b->verdict == VERDICT_INTERFERENCE && b->self_sci > 0 &&
	       loses_share(v, b, LISTED_LEAST);
}

bool report_listed(const struct view *v, const struct block *b)
{
	bool lock = v->result->keyed.rule.kind == BLOCK_LOCK;

	return v->by_thread || v->all || v->sort || v->sort_counter || b == v->named ||
	       loses_enough(v, b) || report_unexplained(b) || b->asked ||
	       (lock && b->verdict != VERDICT_TOO_FEW_CALLS);
}

bool report_any_listed(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (report_listed(v, v->rows[i]))
			return true;
	return false;
}

/*
 * Whether the row is on the first screen. With -v a function that is split is listed beside its
 * per-argument rows; only one of the two is on the first screen.
 */
static bool stands(const struct block *b)
{
	return b->split == b->alike;
}

/*
 * Returns the worse of two rows. A row whose time goes to its callees has nothing to recover
 * itself.
 */
static const struct block *worse(const struct block *worst, const struct block *b, bool any)
{
	if (b->self_sci < SCI_SMALL)
		return worst;
	if (!report_worth(b) || !(b->lost_threads > 0) || !(any || stands(b)))
		return worst;
	return !worst || b->lost_threads > worst->lost_threads ? b : worst;
}

static const struct block *worst_of(const struct blocks *blocks, const struct block *worst,
				    bool any)
{
	vec_for_each (blocks, const struct block, b)
		worst = worse(worst, b, any);
	return worst;
}

const struct block *report_worst(const struct view *v)
{
	const struct result *res = v->result;
	const struct block *worst = NULL;

	if (v->by_thread) { /* the rows are threads, so the answer is what they lose most time in */
		worst = worst_of(&res->blocks, worst, false);
		worst = worst_of(&res->groups, worst, false);
		worst = worst_of(&res->sites, worst, false);
	}
	for (size_t i = 0; i < v->n_rows && !v->by_thread; i++)
		worst = worse(worst, v->rows[i], false);
	/* functions that lose as a whole what none of their per-argument rows is known to lose */
	if (!worst && (v->by_thread || v->blocks == &res->blocks))
		worst = worst_of(&res->blocks, worst, true);
	return worst && loses_share(v, worst, HEADLINE_LEAST) ? worst : NULL;
}

const struct block *report_most_unexplained(const struct view *v)
{
	const struct block *most = NULL;

	for (size_t i = 0; i < v->n_rows && !v->by_thread; i++)
		if (report_unexplained(v->rows[i]) &&
		    (!most || v->rows[i]->unexplained_threads > most->unexplained_threads))
			most = v->rows[i];
	return most;
}

const struct block *report_most_unjudged(const struct view *v)
{
	double least = SCI_SMALL * (double)v->result->threads_ns / (double)v->result->probed_ns;
	const struct block *most = NULL;

	for (size_t i = 0; i < v->n_rows && !v->by_thread; i++) {
		const struct block *b = v->rows[i];

		if (b->verdict == VERDICT_TOO_FEW_CALLS && b->lost_threads >= least &&
		    (!most || b->lost_threads > most->lost_threads))
			most = b;
	}
	return most;
}

/* Orders larger means first, and blocks without a count last. */
static int by_counter(const struct meta_counter *m, const struct block *a, const struct block *b)
{
	double x = counters_mean(a, m), y = counters_mean(b, m);

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x < y) - (x > y);
}

int view_sort_by(struct view *v, const char *name, struct err *err)
{
	if (!name)
		return 0;
	v->sort = column_find(name);
	vec_for_each (&v->result->meta->counters, const struct meta_counter, m)
		if (!v->sort && !strcasecmp(m->name, name))
			v->sort_counter = m;
	return v->sort || v->sort_counter ? 0 : column_unknown(name, err);
}

/* Whether the row is a sequence whose lost time is all in the rows of other sequences. */
static bool owns_nothing(const struct view *v, const struct block *b)
{
	return v->result->sequences && !(b->lost_threads > 0) && !(b->unexplained_threads > 0);
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct block *a = *(const struct block *const *)pa;
	const struct block *b = *(const struct block *const *)pb;
	const struct view *v = ctx;
	const struct column *column = v->sort ? v->sort : column_find("lost_threads");

	if (v->sort_counter && by_counter(v->sort_counter, a, b))
		return by_counter(v->sort_counter, a, b);
	if (!v->sort && !(a->lost_threads != b->lost_threads))
		column = column_find(
			owns_nothing(v, a) && owns_nothing(v, b) ? "sci" : "unexplained_threads");
	return column_compare(column, a, b);
}

bool report_is_row(const struct view *v, const struct block *b)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (v->rows[i] == b)
			return true;
	return false;
}

/* Finds the row that the first sentence is about. A function that loses as a whole what none of its
 * per-argument rows is known to lose becomes a row by that. */
static void add_named(struct view *v)
{
	if (v->by_thread)
		return;
	v->named = report_worst(v);
	if (!v->named)
		v->named = report_most_unjudged(v);
	if (v->named && !report_is_row(v, v->named))
		v->rows[v->n_rows++] = v->named;
}

void view_rank(struct view *v)
{
	const struct blocks *sites = &v->result->sites, *groups = &v->result->groups;

	v->rows = xcalloc(v->blocks->n + groups->n + sites->n + 1, sizeof(*v->rows));
	vec_for_each (v->blocks, const struct block, b)
		if (!b->split || b->alike || v->totals)
			v->rows[v->n_rows++] = b;
	for (size_t i = 0; v->blocks == &v->result->blocks && i < groups->n; i++)
		if (!groups->data[i].alike || v->totals)
			v->rows[v->n_rows++] = &groups->data[i];
	for (size_t i = 0; i < sites->n && !v->by_thread && !v->result->sequences &&
			   v->result->keyed.rule.kind != BLOCK_LOCK;
	     i++)
		v->rows[v->n_rows++] = &sites->data[i];
	add_named(v);
	qsort_r(v->rows, v->n_rows, sizeof(*v->rows), compare, v);
}

static void clear_unmeasured(struct block *b)
{
	b->estimated_calls = b->total_ns = b->excess_ns = b->open_ns = BLOCK_NONE;
	b->min_ns = b->p50_ns = b->p90_ns = b->p99_ns = b->max_ns = BLOCK_NONE;
	b->min_cycles = b->p50_cycles = b->p99_cycles = BLOCK_NONE;
	b->sci_low = b->sci_high = b->sci_by_shape = b->floor = NAN;
}

static void count_calls(const struct result *res, struct blocks *blocks)
{
	const struct threads *th = &res->calls.threads;

	for (uint32_t slot = 1; slot < res->sci.cells.n; slot++) {
		const struct sci_cell *cell = &res->sci.cells.data[slot];
		struct block *b = &blocks->data[th->slots.data[slot].thread];

		b->calls += cell->calls;
		b->timed_calls += cell->own_timed;
		b->open_calls += cell->ended_open;
	}
	vec_for_each (blocks, struct block, b)
		b->untimed_calls = b->calls - b->timed_calls - b->open_calls;
}

void view_thread_blocks(const struct result *res, struct blocks *blocks)
{
	vec_for_each (&res->threads, const struct result_thread, row) {
		struct block *b = vec_add(blocks);

		clear_unmeasured(b);
		b->kind = BLOCK_THREAD;
		b->id = row->thread->index;
		b->thread = row->thread;
		b->name = row->thread->comm[0] ? row->thread->comm : "?";
		b->threads = 1;
		b->observed_ns = row->observed_ns;
		b->sci = b->self_sci = b->sci_worst_thread = row->sci;
		b->lost_threads =
			isnan(row->sci) || !res->duration_ns
				? NAN
				: row->sci * (double)row->observed_ns / (double)res->probed_ns;
		b->self_excess_ns = isnan(row->sci)
					    ? BLOCK_NONE
					    : (uint64_t)(row->sci * (double)row->observed_ns);
	}
	count_calls(res, blocks);
}
