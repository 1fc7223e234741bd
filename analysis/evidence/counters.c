/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/evidence/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/evidence/counter_table.h"
#include "analysis/stat/hist.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/record.h"

struct counted_function {
	struct counter_table all, own;
	struct hist cycles;
};

/* An open call whose counter values at the entry are known. */
struct frame {
	uint64_t entry_ns; /* entry time of the call; 0: no such call at this depth */
	uint64_t changes;  /* counted_thread.changes at the entry */
	bool children_missing;
	bool children_counted; /* children is set */
	struct counter_delta entry, children;
};

/* A call that has ended and whose values come with the next record. */
struct ended {
	bool waits, outer, own_known;
	uint32_t id, depth;
	struct call_group group;
	uint64_t exit_ns, ns, running_ns, own_running_ns;
	uint64_t probes_ns; /* cost of the probes of traced calls inside, subtracted from its
			     * duration */
};

struct counted_thread {
	struct {
		VEC(struct frame)
	} frames; /* [depth] */
	struct ended ended;
	struct counter_delta latest; /* latest values of the counters that are written on change */
	uint64_t changes;	     /* how often latest changed so far */
};

void counters_init(struct counters *c, const struct meta *meta)
{
	*c = (struct counters){ .meta = meta, .cycles_per_ns = meta_cycles_per_ns(meta, NULL) };
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (*m->name && !*m->why) {
			c->mask |= 1u << m->id;
			c->on_change |= (uint32_t)m->on_change << m->id;
			c->n = m->id + 1;
			c->stamp |= (uint32_t)!strcmp(m->role, META_STAMP) << m->id;
		}
	c->n_functions = meta->functions.n;
	c->functions = xcalloc(c->n_functions + 1, sizeof(struct counted_function *));
}

void counters_group_by(struct counters *c, const struct call_group *group)
{
	c->group = group;
}

static void function_free(struct counted_function *f)
{
	if (!f)
		return;
	counter_table_release(&f->all);
	counter_table_release(&f->own);
	hist_release(&f->cycles);
	free(f);
}

void counters_release(struct counters *c)
{
	for (size_t id = 0; c->functions && id < c->n_functions; id++)
		function_free(c->functions[id]);
	free(c->functions);
	vec_for_each (&c->groups, struct counted_function *, g)
		function_free(*g);
	vec_release(&c->groups);
	vec_for_each (&c->threads, struct counted_thread *, t) {
		if (*t)
			vec_release(&(*t)->frames);
		free(*t);
	}
	vec_release(&c->threads);
	*c = (struct counters){ 0 };
}

/* ---- calls ---- */

static struct counted_thread *thread_of(struct counters *c, uint32_t index)
{
	while (c->threads.n <= index)
		*vec_add(&c->threads) = NULL;
	if (!c->threads.data[index])
		c->threads.data[index] = xcalloc(1, sizeof(struct counted_thread));
	return c->threads.data[index];
}

static struct counted_function *function_of(struct counters *c, uint32_t id)
{
	if (!c->functions[id])
		c->functions[id] = xcalloc(1, sizeof(struct counted_function));
	return c->functions[id];
}

/* Returns NULL if the call is in no group, or in one beyond COUNTED_GROUPS_MAX. */
static struct counted_function *group_of(struct counters *c, const struct call_group *group)
{
	if (group->number >= COUNTED_GROUPS_MAX)
		return NULL;
	while (c->groups.n <= group->number)
		*vec_add(&c->groups) = NULL;
	if (!c->groups.data[group->number])
		c->groups.data[group->number] = xcalloc(1, sizeof(struct counted_function));
	return c->groups.data[group->number];
}

static struct frame *frame_at(const struct counted_thread *t, uint32_t depth)
{
	struct frame *f = depth < t->frames.n ? &t->frames.data[depth] : NULL;

	return f && f->entry_ns ? f : NULL;
}

static void child_missing(const struct counted_thread *t, uint32_t depth)
{
	struct frame *parent = depth ? frame_at(t, depth - 1) : NULL;

	if (parent)
		parent->children_missing = true;
}

static void delta_read(const struct counters *c, const struct record *r, struct counter_delta *d)
{
	uint32_t next = 1;

	d->mask = 0;
	for (unsigned i = 0; i < COUNTERS_MAX && next < r->n_values; i++) {
		if (!(r->values[0] & 1u << i))
			continue;
		if (c->mask & 1u << i) {
			d->mask |= 1u << i;
			d->of[i] = r->values[next];
		}
		next++;
	}
}

/* Subtracts less from d. The result has the counters that both have. */
static void subtract(const struct counters *c, struct counter_delta *d,
		     const struct counter_delta *less)
{
	d->mask &= less->mask;
	for (unsigned i = 0; i < c->n; i++) {
		if (!(d->mask & 1u << i))
			continue;
		if (d->of[i] < less->of[i])
			d->mask &= ~(1u << i);
		else
			d->of[i] -= less->of[i];
	}
}

static void give_to_parent(const struct counters *c, const struct counted_thread *t,
			   const struct counter_delta *d)
{
	struct frame *parent = t->ended.depth ? frame_at(t, t->ended.depth - 1) : NULL;

	if (!parent)
		return;
	if (!parent->children_counted) {
		parent->children.mask = UINT32_MAX;
		memset(parent->children.of, 0, c->n * sizeof(*parent->children.of));
		parent->children_counted = true;
	}
	parent->children.mask &= d->mask;
	for (unsigned i = 0; i < c->n; i++)
		if (d->mask & 1u << i)
			parent->children.of[i] += d->of[i];
}

static void add_cycles(const struct counters *c, struct counted_function *f, uint64_t probes_ns,
		       const struct counter_delta *d)
{
	unsigned i = c->stamp ? (unsigned)__builtin_ctz(c->stamp) : 0;
	uint64_t probes;

	if (!(d->mask & c->stamp) || isnan(c->cycles_per_ns))
		return;
	probes = (uint64_t)(c->cycles_per_ns * (double)probes_ns);
	hist_add(&f->cycles, d->of[i] > probes ? d->of[i] - probes : 0);
}

static void count_call(struct counters *c, struct counted_thread *t, struct counter_delta *d)
{
	struct counted_function *f = function_of(c, t->ended.id);
	struct counted_function *g = group_of(c, &t->ended.group);
	struct frame *frame = &t->frames.data[t->ended.depth];

	t->ended.waits = false;
	frame->entry_ns = 0;
	subtract(c, d, &frame->entry);
	give_to_parent(c, t, d);
	if (t->ended.outer) {
		counter_table_add(c, &f->all, t->ended.ns, t->ended.running_ns, d);
		add_cycles(c, f, t->ended.probes_ns, d);
	}
	if (g && !t->ended.group.inner) {
		counter_table_add(c, &g->all, t->ended.ns, t->ended.running_ns, d);
		add_cycles(c, g, t->ended.probes_ns, d);
	}
	if (!t->ended.own_known)
		return;
	if (frame->children_counted)
		subtract(c, d, &frame->children);
	counter_table_add(c, &f->own, t->ended.ns, t->ended.own_running_ns, d);
	if (g)
		counter_table_add(c, &g->own, t->ended.ns, t->ended.own_running_ns, d);
}

/* Adds the call that ended last if no counter changed from its entry to its exit, and all counters
 * are written on change. */
static void count_still(struct counters *c, struct counted_thread *t)
{
	struct counted_function *f = function_of(c, t->ended.id);
	struct counted_function *g = group_of(c, &t->ended.group);

	t->ended.waits = false;
	t->frames.data[t->ended.depth].entry_ns = 0;
	if (t->ended.outer)
		counter_table_add_still(c, &f->all, t->ended.ns, t->ended.running_ns);
	if (g && !t->ended.group.inner)
		counter_table_add_still(c, &g->all, t->ended.ns, t->ended.running_ns);
	if (!t->ended.own_known)
		return;
	counter_table_add_still(c, &f->own, t->ended.ns, t->ended.own_running_ns);
	if (g)
		counter_table_add_still(c, &g->own, t->ended.ns, t->ended.own_running_ns);
}

/* Finishes the call that ended last, which has no record of counters at its exit. Counters that are
 * written on change have not changed then; others are not known. */
static void settle(struct counters *c, struct counted_thread *t)
{
	struct frame *f = t->ended.waits ? &t->frames.data[t->ended.depth] : NULL;
	struct counter_delta d;

	if (!f)
		return;
	if (f->changes == t->changes && c->on_change == c->mask && t->latest.mask == c->on_change) {
		count_still(c, t);
	} else if (t->latest.mask) {
		d = t->latest;
		count_call(c, t, &d);
	} else {
		t->ended.waits = false;
		f->entry_ns = 0;
		child_missing(t, t->ended.depth);
	}
}

static void on_call(void *self, const struct thread *thread, const struct call *call)
{
	struct counters *c = self;
	struct counted_thread *t = thread_of(c, thread->index);
	uint32_t depth = (uint32_t)(call - thread->open);
	struct frame *f;

	settle(c, t);
	f = frame_at(t, depth);
	if (!f || f->entry_ns != call->entry_ns || call->end != CALL_TIMED) {
		if (f)
			f->entry_ns = 0;
		child_missing(t, depth);
		return;
	}
	t->ended = (struct ended){
		.waits = true,
		.outer = !call->recursive,
		.own_known = !call->own_unknown && !f->children_missing,
		.id = call->id,
		.depth = depth,
		.group = c->group ? *c->group : (struct call_group){ MAP_NONE, false },
		.exit_ns = call->exit_ns,
		.ns = call->duration_ns,
		.probes_ns = call->exit_ns - call->entry_ns - call->duration_ns,
		.running_ns = offcpu_running_ns(call->duration_ns, &call->off),
		.own_running_ns = offcpu_running_ns(call->own_ns, &call->own_off),
	};
}

static void delta_copy(const struct counters *c, struct counter_delta *to,
		       const struct counter_delta *from)
{
	to->mask = from->mask;
	memcpy(to->of, from->of, c->n * sizeof(*to->of));
}

static void count_entry(const struct counters *c, struct counted_thread *t, uint32_t depth,
			uint64_t time_ns, const struct counter_delta *d)
{
	struct frame *f;

	while (t->frames.n <= depth)
		(void)vec_add(&t->frames);
	f = &t->frames.data[depth];
	f->entry_ns = time_ns;
	f->changes = t->changes;
	f->children_missing = f->children_counted = false;
	delta_copy(c, &f->entry, d);
}

/* Takes the latest values for the entry. If the entry has a record of counters, it comes next and
 * replaces them. */
static void on_enter(void *self, const struct thread *thread, const struct call *call)
{
	struct counters *c = self;
	struct counted_thread *t;

	if (!c->on_change)
		return;
	t = thread_of(c, thread->index);
	settle(c, t);
	if (t->latest.mask)
		count_entry(c, t, (uint32_t)(call - thread->open), call->entry_ns, &t->latest);
}

/* Stores the values of d in latest, and completes d with the latest values of counters that did not
 * change. */
static void store_latest(const struct counters *c, struct counted_thread *t,
			 struct counter_delta *d)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (!(c->on_change & 1u << i))
			continue;
		if (d->mask & 1u << i)
			t->latest.of[i] = d->of[i];
		else
			d->of[i] = t->latest.of[i];
	}
	t->changes += (d->mask & c->on_change) != 0;
	t->latest.mask |= d->mask & c->on_change;
	d->mask |= t->latest.mask;
}

static void on_counters(struct counters *c, const struct thread *thread, const struct record *r)
{
	struct counted_thread *t = thread_of(c, thread->index);
	struct counter_delta d;

	delta_read(c, r, &d);
	if (!t->ended.waits || t->ended.exit_ns != r->time_ns || t->ended.depth != thread->n_open)
		settle(c, t);
	store_latest(c, t, &d);
	if (t->ended.waits)
		count_call(c, t, &d);
	else if (thread->n_open && thread->open[thread->n_open - 1].entry_ns == r->time_ns)
		count_entry(c, t, thread->n_open - 1, r->time_ns, &d);
}

static void forget(struct counters *c, uint32_t index)
{
	struct counted_thread *t = index < c->threads.n ? c->threads.data[index] : NULL;

	if (!t)
		return;
	settle(c, t);
	vec_release(&t->frames);
	free(t);
	c->threads.data[index] = NULL;
}

static void on_record(void *self, const struct thread *thread, const struct record *r)
{
	struct counters *c = self;

	if (r->kind == REC_COUNTERS && thread && r->n_values)
		on_counters(c, thread, r);
	if (r->kind == REC_TASK_EXIT && thread && thread->dead)
		forget(c, thread->index);
}

static void on_sum_up(void *self, const struct ended_threads *e)
{
	for (size_t k = 0; k < e->n; k++)
		forget(self, e->threads[k]->index);
}

static void on_end(void *self)
{
	struct counters *c = self;

	vec_for_each (&c->threads, struct counted_thread *, t)
		if (*t)
			settle(c, *t);
}

struct call_visitor counters_visitor(struct counters *c)
{
	return (struct call_visitor){
		.self = c,
		.call = on_call,
		.enter = on_enter,
		.record = on_record,
		.sum_up = on_sum_up,
		.end = on_end,
	};
}

/* ---- all ---- */

static struct cycle_summary cycles_of(const struct hist *h)
{
	return (struct cycle_summary){ .calls = h->count,
				       .min = h->min,
				       .p50 = hist_quantile(h, 0.5),
				       .p99 = hist_quantile(h, 0.99) };
}

static struct block_counters summaries(const struct counters *c, const struct counted_function *f,
				       uint64_t fast_max_ns, uint64_t slow_min_ns)
{
	if (!f)
		return (struct block_counters){ 0 };
	return (struct block_counters){
		.all = counter_table_summary(c, &f->all, fast_max_ns, slow_min_ns),
		.own = counter_table_summary(c, &f->own, fast_max_ns, slow_min_ns),
		.cycles = cycles_of(&f->cycles),
	};
}

struct block_counters counters_of(const struct counters *c, uint32_t id, uint64_t fast_max_ns,
				  uint64_t slow_min_ns)
{
	return summaries(c, c && c->functions ? c->functions[id] : NULL, fast_max_ns, slow_min_ns);
}

struct block_counters counters_of_group(const struct counters *c, uint32_t number,
					uint64_t fast_max_ns, uint64_t slow_min_ns)
{
	return summaries(c, c && number < c->groups.n ? c->groups.data[number] : NULL, fast_max_ns,
			 slow_min_ns);
}

void block_counters_release(struct block_counters *bc)
{
	free(bc->all);
	free(bc->own);
	*bc = (struct block_counters){ 0 };
}

const struct counter_mean *counter_role(const struct counter_summary *s, const struct meta *meta,
					const char *role)
{
	if (!s)
		return NULL;
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (!*m->why && !strcmp(m->role, role) && s->value[m->id].calls)
			return &s->value[m->id];
	return NULL;
}
