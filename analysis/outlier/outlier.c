/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/outlier/outlier.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/outlier/watch.h"
#include "analysis/result/result.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

/* The meaning of counters for outliers, by the role that the recording gives them. */
static const struct {
	const char *role;
	enum outlier_count count;
} roles[] = {
	{ "minor-faults", OUTLIER_FAULTS },	  { "page-faults", OUTLIER_FAULTS },
	{ "major-faults", OUTLIER_MAJOR_FAULTS }, { "llc-misses", OUTLIER_MISSES },
	{ "cache-misses", OUTLIER_MISSES },	  { "LLC-load-misses", OUTLIER_MISSES },
};

static void find_counters(struct outliers *o)
{
	memset(o->counters, -1, sizeof(o->counters));
	vec_for_each (&o->meta->counters, const struct meta_counter, c)
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!*c->why && c->id < META_COUNTERS_MAX &&
			    (!strcmp(c->role, roles[i].role) || !strcmp(c->name, roles[i].role)) &&
			    !(o->counted & 1u << roles[i].count)) {
				o->counters[c->id] = (int8_t)roles[i].count;
				o->counted |= 1u << roles[i].count;
			}
}

/* ---- the second pass ---- */

static uint32_t find_usual(const struct outlier_block *b, uint32_t parent, uint32_t id)
{
	uint32_t i = 0;

	while (i < b->typical.callees.n &&
	       (b->typical.callees.data[i].id != id || b->typical.callees.data[i].parent != parent))
		i++;
	return i;
}

const struct outlier_usual *outlier_usual_of(const struct outlier_block *b, const struct outlier *x,
					     uint32_t callee)
{
	const struct outlier_callee *c = &x->callees[callee];
	uint32_t parent = OUTLIER_TOP, i;

	if (c->parent != OUTLIER_TOP) {
		const struct outlier_usual *of = outlier_usual_of(b, x, c->parent);

		if (!of)
			return NULL;
		parent = (uint32_t)(of - b->typical.callees.data);
	}
	i = find_usual(b, parent, c->id);
	return i < b->typical.callees.n ? &b->typical.callees.data[i] : NULL;
}

/* Adds the callees of a typical execution. Callers come first, so that each callee's parent is
 * known. */
static void add_usual(struct outlier_block *b, const struct outlier *x)
{
	uint32_t at[OUTLIER_CALLEES];

	for (uint32_t i = 0; i < x->n_callees; i++) {
		const struct outlier_callee *c = &x->callees[i];
		uint32_t parent = c->parent == OUTLIER_TOP ? OUTLIER_TOP : at[c->parent];
		struct outlier_usual *u;

		at[i] = OUTLIER_TYPICAL;
		if (parent == OUTLIER_TYPICAL) /* there was no room for its caller */
			continue;
		at[i] = find_usual(b, parent, c->id);
		if (at[i] == b->typical.callees.n) {
			if (at[i] >= OUTLIER_TYPICAL)
				continue;
			*vec_add(&b->typical.callees) =
				(struct outlier_usual){ .id = c->id, .parent = parent };
		}
		u = &b->typical.callees.data[at[i]];
		u->executions++;
		u->calls += c->calls;
		u->ns += c->ns;
	}
}

static void add_typical(struct outlier_block *b, const struct outlier *x)
{
	b->typical.n++;
	offcpu_add(&b->typical.off, &x->off);
	shapes_add(&b->typical.shapes, x->shape, x->duration_ns);
	for (unsigned i = 0; i < OUTLIER_COUNTS; i++)
		if (x->counted & 1u << i) {
			b->typical.counts[i] += (double)x->counts[i];
			b->typical.counted[i]++;
		}
	add_usual(b, x);
}

/* Whether x is dropped before y. Outliers that another block reports (passed) are dropped first. */
static bool is_less(const struct outlier *x, const struct outlier *y)
{
	if (x->passed != y->passed)
		return x->passed;
	return x->residual_ns < y->residual_ns;
}

/* Restores the heap below at. Its first element is the one to drop next: the nearest to the
 * line. */
static void sink(struct outlier *heap, size_t n, size_t at)
{
	for (;;) {
		size_t least = at, left = 2 * at + 1;
		struct outlier swap;

		if (left < n && is_less(&heap[left], &heap[least]))
			least = left;
		if (left + 1 < n && is_less(&heap[left + 1], &heap[least]))
			least = left + 1;
		if (least == at)
			return;
		swap = heap[at];
		heap[at] = heap[least];
		heap[least] = swap;
		at = least;
	}
}

static void add_outlier(struct outlier_block *b, struct outlier *x)
{
	if (b->kept.n < OUTLIER_KEPT) {
		*vec_add(&b->kept) = *x;
		for (size_t i = b->kept.n == OUTLIER_KEPT ? OUTLIER_KEPT / 2 : 0; i--;)
			sink(b->kept.data, b->kept.n, i);
	} else if (is_less(&b->kept.data[0], x)) {
		wait_sums_free(&b->kept.data[0].waits);
		b->kept.data[0] = *x;
		sink(b->kept.data, b->kept.n, 0);
	} else {
		return;
	}
	x->waits = NULL;
}

static bool diverges(const struct outliers *o, const struct outlier_block *b,
		     const struct outlier *x)
{
	double expected = outlier_expected(b, x->index);

	return x->residual_ns > b->line.bound_ns &&
	       (o->rule == OUTLIER_PAPER || x->residual_ns > expected / 2);
}

/* If an execution is slow because a call in it is an outlier of its own block, only the innermost
 * such call is reported, not each of its callers again. Critical sections are reported apart. */
static void count_divergent(struct outlier_block *b, struct outlier *x)
{
	b->divergent++;
	b->divergent_ns += x->duration_ns;
	offcpu_add(&b->off, &x->off);
	b->residual_ns += x->residual_ns;
	if (x->waits)
		wait_merge(&b->waits, x->waits);
	x->passed = x->inside_ns >= OUTLIER_EXPLAINS * x->residual_ns;
	if (x->passed)
		return;
	b->own++;
	b->own_ns += x->duration_ns;
	offcpu_add(&b->own_off, &x->off);
	if (x->waits)
		wait_merge(&b->own_waits, x->waits);
}

/* Returns the idle part of the sleeps, now that the waits in them tell more. */
static uint64_t idle_part(const struct threads *th, struct offcpu *off, struct wait_sums *waits,
			  uint64_t all_ns)
{
	offcpu_shift(off, wait_reconsider(th, waits));
	return off->idle_ns < all_ns ? off->idle_ns : all_ns;
}

void outlier_reconsider(const struct threads *th, struct outlier_block *b)
{
	b->idle_ns = idle_part(th, &b->off, &b->waits, b->divergent_ns);
	b->own_idle_ns = idle_part(th, &b->own_off, &b->own_waits, b->own_ns);
	vec_for_each (&b->kept, struct outlier, x)
		if (x->waits)
			offcpu_shift(&x->off, wait_reconsider(th, x->waits));
}

double outlier_judge(struct outliers *o, struct outlier_block *b, struct outlier *x)
{
	double explains_ns = x->inside_ns;

	if (x->index >= b->begun)
		return explains_ns;
	x->residual_ns = (double)x->duration_ns - outlier_expected(b, x->index);
	if (!diverges(o, b, x)) {
		add_typical(b, x);
		return explains_ns;
	}
	count_divergent(b, x);
	if (x->residual_ns > explains_ns)
		explains_ns = x->residual_ns;
	add_outlier(b, x);
	return explains_ns;
}

/* Searches backwards, because pauses are few and the latest are last. */
uint64_t outlier_paused_ns(const struct outliers *o, const struct thread *t, const struct call *c,
			   uint64_t *safepoint_ns)
{
	uint64_t sum = 0;

	*safepoint_ns = 0;
	for (size_t i = o->pauses.n; i-- && o->pauses.data[i].end_ns > c->entry_ns;) {
		const struct outlier_pause *p = &o->pauses.data[i];
		uint64_t from = p->start_ns > c->entry_ns ? p->start_ns : c->entry_ns;
		uint64_t to = p->end_ns < c->exit_ns ? p->end_ns : c->exit_ns;

		if (p->tgid != t->tgid || from >= to)
			continue;
		sum += to - from;
		*safepoint_ns += p->collects ? 0 : to - from;
	}
	return sum;
}

/* ---- both ---- */

static void begin_pass(struct outliers *o, struct err *err)
{
	struct keyed_rule rule;

	o->locks = !sections_init(&o->sections, o->meta, &o->calls, &o->waits, err);
	if (o->locks) {
		rule = sections_rule(&o->sections);
		keyed_init(&o->waits, &rule, &o->calls, o->meta);
		o->sections.hook = outlier_watch_sections(o);
	}
	vec_for_each (&o->blocks, struct outlier_block, b)
		b->begun = 0;
}

static void end_pass(struct outliers *o)
{
	if (o->locks)
		keyed_release(&o->waits);
	sections_release(&o->sections);
	outlier_watch_release(o);
}

static int pass(struct outliers *o, struct trace_reader *r, struct result_options *ro,
		struct err *err)
{
	struct call_visitor v = outlier_watch(o);
	struct err none;
	int rc;

	begin_pass(o, &none);
	rc = result_scan(&o->calls, r, ro, &v, err);
	end_pass(o);
	return rc;
}

static int more_divergent(const void *a, const void *b)
{
	const struct outlier_block *x = a, *y = b;

	uint64_t x_ns = x->own_ns - x->own_idle_ns, y_ns = y->own_ns - y->own_idle_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	if (x->durations.sum != y->durations.sum)
		return x->durations.sum < y->durations.sum ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void hints_release(struct outlier_hints *hints)
{
	vec_for_each (hints, struct outlier_hint, h)
		free(h->evidence);
	vec_release(hints);
}

static void outlier_block_release(struct outlier_block *b)
{
	hist_release(&b->durations);
	vec_release(&b->sample);
	vec_for_each (&b->kept, struct outlier, x) {
		wait_sums_free(&x->waits);
		free(x->evidence);
	}
	vec_release(&b->kept);
	vec_release(&b->waits);
	vec_release(&b->own_waits);
	vec_release(&b->typical.callees);
	hints_release(&b->hints);
	hints_release(&b->own_hints);
}

/* Drops blocks without timed executions, and sorts the others. */
static void finish(struct outliers *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->blocks.n; i++) {
		struct outlier_block *b = &o->blocks.data[i], swap = *b;

		if (!b->durations.count)
			continue;
		if (b->kind == BLOCK_LOCK)
			o->section_ns += b->durations.sum;
		*b = o->blocks.data[kept];
		o->blocks.data[kept++] = swap;
	}
	for (size_t i = kept; i < o->blocks.n; i++)
		outlier_block_release(&o->blocks.data[i]);
	o->blocks.n = kept;
	vec_sort(&o->blocks, more_divergent);
}

/* The start is that of the recording, even with a window, because other views do the same. */
static void set_span(struct outliers *o, const struct trace_reader *r,
		     const struct result_options *ro)
{
	uint64_t end;

	result_span(r, &o->start_ns, &end);
	o->duration_ns = end > o->start_ns ? end - o->start_ns : 0;
	if (ro->to_ns < o->duration_ns)
		o->duration_ns = ro->to_ns;
	o->duration_ns -= ro->from_ns < o->duration_ns ? ro->from_ns : o->duration_ns;
}

void outlier_name(struct outliers *o, struct outlier_block *b)
{
	struct text name = { 0 };
	char *printable;

	if (b->kind == BLOCK_LOCK)
		sections_name(&o->sections, b->id, &name);
	else
		text_add(&name, b->function->name);
	printable = text_printable_new(name.s ? name.s : "");
	b->name = strtab_get(&o->names, strtab_add(&o->names, printable));
	free(printable);
	text_release(&name);
}

int outliers_read(struct outliers *o, struct trace_reader *r, struct result_options *ro,
		  enum outlier_rule rule, struct err *err)
{
	int rc;

	*o = (struct outliers){ .meta = trace_reader_meta(r), .rule = rule };
	o->of_function = xcalloc(o->meta->functions.n + 1, sizeof(*o->of_function));
	memset(o->of_function, 0xff, (o->meta->functions.n + 1) * sizeof(*o->of_function));
	find_counters(o);
	rc = pass(o, r, ro, err);
	trace_reader_rewind(r);
	o->judging = true;
	if (!rc)
		rc = pass(o, r, ro, err);
	if (!rc) {
		set_span(o, r, ro);
		finish(o);
	}
	return rc;
}

void outliers_release(struct outliers *o)
{
	vec_for_each (&o->blocks, struct outlier_block, b)
		outlier_block_release(b);
	vec_release(&o->blocks);
	strtab_release(&o->names);
	map_release(&o->of_group);
	map_release(&o->ran);
	free(o->of_function);
	*o = (struct outliers){ 0 };
}
