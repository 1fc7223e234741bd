/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff/diff.h"
#include "analysis/diff/change.h"
#include "import/import.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = { "slower",	      "faster",	     "same",
					     "too-few-calls", "cannot-tell", "only-before",
					     "only-after" };

	return names[verdict];
}

const char *diff_verdict_words(enum diff_verdict verdict)
{
	static const char *const words[] = { "slower",	      "faster",		"same",
					     "too few calls", "not comparable", "only before",
					     "only after" };

	return words[verdict];
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

	rc = rc ? rc : grouping_find(NULL, &run->grouping.by, err);
	return rc ? rc : grouping_read(&run->grouping, run->reader, &o, &run->result, err);
}

/* Handles Ctrl-C while run was read: the further runs of its side are left out. */
static int cut_short(const struct diff *diff, const struct diff_run *run, size_t left_out,
		     struct err *err)
{
	char n[TEXT_COUNTED];

	if (!diff->runs[DIFF_AFTER].n)
		return err_set(err, -EINTR,
			       "interrupted before both sides were read; let it read on");
	log_notice("interrupted: of %s this is what was read until then%s%s", run->path,
		   left_out ? ", without " : "",
		   left_out ? text_counted(n, left_out, "further recording") : "");
	return 0;
}

static int read_side(struct diff *diff, enum diff_side side, const char *const *paths, size_t n,
		     struct err *err)
{
	int rc = 0;

	/* reserved first, because visitors point to their runs */
	vec_reserve(&diff->runs[side], n);
	for (size_t i = 0; i < n && !rc; i++) {
		struct diff_run *run = vec_add(&diff->runs[side]);

		run->path = paths[i];
		rc = read_run(run, err);
		if (!rc && run->result.interrupted)
			return cut_short(diff, run, n - i - 1, err);
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

static const char *program_of(const struct meta *meta)
{
	const char *program = meta->session.program;

	return program && *program ? program : NULL;
}

const char *diff_program(const struct diff *diff, enum diff_side side, size_t run)
{
	return program_of(diff->runs[side].data[run].result.meta);
}

static bool is_of_program(const struct meta *meta, const struct meta_object *object)
{
	const char *program = program_of(meta);

	return object && program && !strcmp(text_base_name(object->path), program);
}

/* Returns the symbols that several functions of the program have. */
static struct strtab find_ambiguous(const struct meta *meta)
{
	struct strtab seen = { 0 }, twice = { 0 };

	vec_for_each (&meta->functions, const struct meta_function, f) {
		if (!f->symbol || f->object >= meta->objects.n ||
		    !is_of_program(meta, meta_object(meta, f->object)))
			continue;
		if (strtab_find(&seen, f->symbol) != MAP_NONE)
			strtab_add(&twice, f->symbol);
		strtab_add(&seen, f->symbol);
	}
	strtab_release(&seen);
	return twice;
}

/*
 * If the program has another name on the other side, its source files may have, too. They matter
 * only where several functions have the symbol. ambiguous: those symbols; NULL: it has the same
 * name.
 */
static char *key_of(const struct meta *meta, const struct strtab *ambiguous,
		    const struct meta_object *object, const struct meta_function *f)
{
	const bool own = ambiguous && is_of_program(meta, object),
		   any_file = own && strtab_find(ambiguous, f->symbol) == MAP_NONE;

	return xasprintf("%s:%s@%s",
			 own	  ? "(program)"
			 : object ? text_base_name(object->path)
				  : "",
			 f->symbol, f->file && !any_file ? text_base_name(f->file) : "");
}

struct matches {
	bool renamed;				/* the program has another name on the other side */
	struct strtab keys, traced[DIFF_SIDES]; /* traced: keys of functions, called or not */
	VEC(struct diff_match)
};

static int by_key(const void *a, const void *b)
{
	const struct diff_match *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->side != y->side ? (x->side < y->side ? -1 : 1)
				  : (x->run > y->run) - (x->run < y->run);
}

static void match_run(struct matches *m, const struct diff_run *run, enum diff_side side)
{
	const struct meta *meta = run->result.meta;
	struct strtab twice = m->renamed ? find_ambiguous(meta) : (struct strtab){ 0 };
	const struct strtab *ambiguous = m->renamed ? &twice : NULL;
	char *key;

	vec_for_each (&run->result.blocks, const struct block, b) {
		key = key_of(meta, ambiguous, b->object, b->function);
		*vec_add(m) = (struct diff_match){ strtab_add(&m->keys, key), side, run, b };
		free(key);
	}
	vec_for_each (&meta->functions, const struct meta_function, f) {
		if (!f->symbol)
			continue;
		key = key_of(meta, ambiguous,
			     f->object < meta->objects.n ? meta_object(meta, f->object) : NULL, f);
		strtab_add(&m->traced[side], key);
		free(key);
	}
	strtab_release(&twice);
}

static void match_all(const struct diff *diff, struct matches *m)
{
	const char *before = diff_program(diff, DIFF_BEFORE, 0),
		   *after = diff_program(diff, DIFF_AFTER, 0);

	m->renamed = before && after && strcmp(before, after) != 0;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		vec_for_each (&diff->runs[side], const struct diff_run, run)
			match_run(m, run, side);
	vec_sort(m, by_key);
}

static bool was_traced(const struct matches *m, uint32_t key, enum diff_side side)
{
	return strtab_find(&m->traced[side], strtab_get(&m->keys, key)) != MAP_NONE;
}

static void matches_release(struct matches *m)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		strtab_release(&m->traced[side]);
	strtab_release(&m->keys);
	vec_release(m);
}

/* ---- one block on one side ---- */

static double calls_of(const struct block *b)
{
	return b->estimated_calls == BLOCK_NONE ? (double)b->timed_calls
						: (double)b->estimated_calls;
}

/* Returns the excess against another fastest call (min instead of own_min). The excess is linear in
 * it. */
static double rescored(const struct block *b, uint64_t excess_ns, uint64_t own_min, uint64_t min)
{
	if (excess_ns == BLOCK_NONE || own_min == BLOCK_NONE || min == BLOCK_NONE)
		return NAN;
	return (double)excess_ns + (calls_of(b) + (double)b->open_calls) * (double)(own_min - min);
}

static void add_half(struct diff_half *h, const struct diff_match *m, uint64_t min,
		     uint64_t own_min)
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
	h->own_mean_ns += own_min == BLOCK_NONE || !b->timed_calls
				  ? NAN
				  : own / calls_of(b) + (double)own_min;
	if (b->sums && b->sums->own_timed)
		h->own_wait_ns +=
			(double)b->sums->own_off.preempted_ns / (double)b->sums->own_timed;
}

static void end_half(struct diff_half *h, size_t runs)
{
	h->mean_ns = h->timed_calls ? (double)h->total_ns / (double)h->timed_calls : NAN;
	h->sci /= (double)runs;
	h->lost_threads /= (double)runs;
	h->own_mean_ns /= h->runs ? h->runs : 1;
	h->own_wait_ns /= h->runs ? h->runs : 1;
	h->calls /= runs;
	h->total_ns /= runs;
}

/* ---- the verdict ---- */

static bool is_change(const struct diff_change *c, double least)
{
	return c->low > 0 ? c->ratio > least : c->high < 0 && c->ratio < -least;
}

/* Returns the relative change that different costs of the probes may cause, because the cost is in
 * every duration and differs between runs. */
static double probe_part(const struct diff_match *before, const struct diff_match *after,
			 double mean_ns)
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

static void common_min(const struct diff_match *m, size_t n, uint64_t *min, uint64_t *own)
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

static void set_means(struct diff_block *d, const struct diff_match *m, size_t n_before,
		      size_t n_after)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_match *of = side ? m + n_before : m;
		size_t n = side ? n_after : n_before;

		d->half[side].seen_ns = diff_mean(of, n, SLICE_SEEN_NS);
		d->half[side].typical_ns = exp(diff_mean(of, n, SLICE_SEEN_LOG));
		d->half[side].cpu_wait_ns = diff_mean(of, n, SLICE_NS) - d->half[side].seen_ns;
	}
}

#define HIDING 0.5  /* noise with which a mean that halves looks the same */
#define MOVED  0.25 /* a mean that moves less may well be the same */

/* Whether the mean moved a lot, in noise that would hide any change. */
static bool hides_change(const struct diff_block *d)
{
	return d->noise >= HIDING && fabs(d->mean.ratio) >= MOVED;
}

static void compare(struct diff *diff, const struct diff_match *m, size_t n, double level)
{
	struct diff_block *d = vec_add(&diff->blocks);
	const struct diff_change *decisive;
	size_t n_before = 0;
	struct diff_pair p;
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
	p = (struct diff_pair){ m, n_before, n - n_before, level };
	d->mean = diff_mean_change(&p);
	d->typical = diff_typical_change(&p);
	d->whole = diff_whole_change(&p);
	warn(d, m[0].block, m[n_before].block);
	d->verdict = judge(d, probe_part(&m[0], &m[n_before], d->half[0].mean_ns));
	decisive = diff_decisive(d);
	d->noise = decisive->ratio > 0 ? decisive->ratio - decisive->low
				       : decisive->high - decisive->ratio;
	if (d->verdict == DIFF_SAME && hides_change(d))
		d->verdict = DIFF_CANNOT_TELL;
}

static double weight(const struct diff_block *b)
{
	double moved = diff_moved_ns(b);

	return isnan(moved) ? -1 : fabs(moved);
}

/* Sorts changes first, then by the thread time won or lost; blocks of which that is not known, or
 * which wait for input, come last. */
static int by_weight(const void *a, const void *b)
{
	const struct diff_block *x = a, *y = b;
	bool cx = diff_changed(x), cy = diff_changed(y);

	if (cx != cy)
		return cx ? -1 : 1;
	return weight(x) != weight(y) ? (weight(x) > weight(y) ? -1 : 1) : strcmp(x->name, y->name);
}

/* Tells a block that is not called any more, or only now, from one that was not traced. */
static void set_uncalled(struct diff_block *d, const struct matches *m, uint32_t key)
{
	if (d->verdict == DIFF_ONLY_BEFORE || d->verdict == DIFF_ONLY_AFTER)
		d->uncalled = was_traced(m, key,
					 d->verdict == DIFF_ONLY_BEFORE ? DIFF_AFTER : DIFF_BEFORE);
}

static void compare_all(struct diff *diff, const struct matches *m)
{
	/* Bonferroni: three tests for each block */
	double level = DIFF_LEVEL / (3 * (m->keys.n ? (double)m->keys.n : 1));

	for (size_t i = 0, n; i < m->n; i += n) {
		for (n = 1; i + n < m->n && m->data[i + n].key == m->data[i].key; n++)
			;
		compare(diff, &m->data[i], n, level);
		set_uncalled(&diff->blocks.data[diff->blocks.n - 1], m, m->data[i].key);
	}
	vec_sort(&diff->blocks, by_weight);
}

/* Whether the recording was ended by -d, --max-size, Ctrl-C or a detach, not by the program. */
static bool was_timed(const struct meta *meta)
{
	return meta->session.attached || (meta->end.present && *meta->end.reason &&
					  strcmp(meta->end.reason, "command ended") != 0);
}

static void add_totals(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		double n = (double)diff->runs[side].n;

		vec_for_each (&diff->runs[side], const struct diff_run, run) {
			const struct result *res = &run->result;

			diff->duration_ns[side] += (double)res->duration_ns / n;
			diff->threads_ns[side] += (double)res->threads_ns / n;
			diff->lost_ns[side] += (double)res->lost_ns / n;
			diff->lost_threads[side] +=
				(double)res->lost_ns / (double)res->probed_ns / n;
			diff->timed |= was_timed(res->meta);
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
	matches_release(&m);
	return 0;
}

void diff_release(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		vec_for_each (&diff->runs[side], struct diff_run, run) {
			if (run->result.meta)
				result_release(&run->result);
			grouping_release(&run->grouping);
			slices_release(&run->slices);
			trace_reader_free(run->reader);
		}
		vec_release(&diff->runs[side]);
	}
	vec_release(&diff->blocks);
}

const struct diff_change *diff_decisive(const struct diff_block *b)
{
	return b->by_typical ? &b->typical : b->by_whole ? &b->whole : &b->mean;
}

bool diff_is_idle(const struct diff_block *b)
{
	return (b->half[DIFF_BEFORE].idle || !b->half[DIFF_BEFORE].runs) &&
	       (b->half[DIFF_AFTER].idle || !b->half[DIFF_AFTER].runs);
}

bool diff_changed(const struct diff_block *b)
{
	return b->verdict == DIFF_SLOWER || b->verdict == DIFF_FASTER || b->uncalled;
}

/* Returns the own time of a call, or 0 if there are no calls because nothing called the block. */
static double own_ns(const struct diff_block *b, enum diff_side side)
{
	const struct diff_half *h = &b->half[side];

	if (!h->runs && b->uncalled)
		return 0;
	if (!h->timed_calls)
		return NAN;
	return b->by_whole ? h->own_mean_ns : fmax(h->own_mean_ns - h->own_wait_ns, 0);
}

double diff_moved_ns(const struct diff_block *b)
{
	const enum diff_side counted = b->verdict == DIFF_ONLY_AFTER ? DIFF_AFTER : DIFF_BEFORE;
	double ns =
		(own_ns(b, DIFF_AFTER) - own_ns(b, DIFF_BEFORE)) * (double)b->half[counted].calls;

	if (diff_is_idle(b))
		return NAN;
	return b->by_typical && (ns > 0) != (b->verdict == DIFF_SLOWER) ? NAN : ns;
}

double diff_moved_share(const struct diff *diff, const struct diff_block *b)
{
	double all = diff->threads_ns[DIFF_BEFORE];

	return all > 0 ? diff_moved_ns(b) / all : NAN;
}

double diff_growth(const struct diff_block *b)
{
	if (b->verdict == DIFF_ONLY_AFTER && !b->half[DIFF_AFTER].idle)
		return b->half[DIFF_AFTER].sci;
	if (b->verdict != DIFF_SLOWER || b->half[DIFF_AFTER].idle)
		return NAN;
	return b->half[DIFF_AFTER].sci - b->half[DIFF_BEFORE].sci;
}
