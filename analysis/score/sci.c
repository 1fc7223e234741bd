/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/calls/brief.h"
#include "analysis/calls/ended.h"
#include "analysis/calls/shape.h"
#include "analysis/score/keyed.h"
#include "analysis/score/sci.h"
#include "base/likely.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

void sci_init(struct sci *s, struct calls *calls, const struct meta *meta)
{
	*s = (struct sci){ .calls = calls, .meta = meta };
	s->migrants_count = meta->session.clock && !strcmp(meta->session.clock, "monotonic");
}

static void function_free(struct sci_function *f)
{
	if (!f)
		return;
	hist_release(&f->durations);
	workload_release(&f->workload);
	free(f->shapes);
	vec_release(&f->open_short);
	vec_release(&f->waits);
	free(f);
}

void sci_release(struct sci *s)
{
	vec_for_each (&s->functions, struct sci_function *, f)
		function_free(*f);
	vec_release(&s->functions);
	vec_release(&s->cells);
	*s = (struct sci){ 0 };
}

uint32_t sci_function_id(const struct sci *s, uint32_t id)
{
	return s->keyed ? s->keyed->groups.data[id].function : id;
}

const struct slot *sci_slot(const struct sci *s, uint32_t slot)
{
	return s->keyed ? &s->keyed->slots.data[slot] : &s->calls->threads.slots.data[slot];
}

static __attribute__((noinline, cold)) struct sci_function *new_function(struct sci *s, uint32_t id)
{
	struct sci_function *f = xcalloc(1, sizeof(*f));

	f->min_ns = f->own_min_ns = UINT64_MAX;
	solo_init(&f->solo);
	while (s->functions.n <= id)
		*vec_add(&s->functions) = NULL;
	return s->functions.data[id] = f;
}

static inline struct sci_function *function_of(struct sci *s, uint32_t id)
{
	struct sci_function *f = sci_function(s, id);

	return likely(f) ? f : new_function(s, id);
}

static __attribute__((noinline, cold)) void grow_cells(struct sci *s, uint32_t slot)
{
	while (s->cells.n <= slot)
		(void)vec_add(&s->cells);
}

static inline struct sci_cell *cell_of(struct sci *s, uint32_t slot)
{
	if (unlikely(s->cells.n <= slot))
		grow_cells(s, slot);
	return &s->cells.data[slot];
}

/* Whether a call without an exit is certainly still open. If exits are probed at `ret`
 * instructions, an unwinder may have left the call without a record. */
static bool leaves_by_ret(const struct sci *s, uint32_t id)
{
	return s->meta->functions.data[id].exit != EXIT_RET_SITES;
}

static void add_path(struct sci_function *f, const struct call *c)
{
	if (!f->shapes) {
		if (!c->shape)
			return;
		/* All calls so far had no callee: they took one path, whose sums are those of the
		 * function. */
		f->shapes = xcalloc(1, sizeof(*f->shapes));
		if (f->durations.count)
			*shapes_row(f->shapes, 0) = (struct shape){
				.calls = f->durations.count,
				.sum_ns = f->durations.sum,
				.min_ns = f->durations.min,
			};
	}
	shapes_add(f->shapes, c->shape, c->duration_ns);
}

/* Adds a timed call that is not inside another call of its function. */
static inline __attribute__((always_inline)) void
add_outer(struct sci *s, struct sci_function *f, struct sci_cell *cell, const struct call *c)
{
	bool migrated = c->entry_cpu != c->exit_cpu;

	if (migrated)
		f->migrated++;
	if (c->duration_ns < f->min_ns && (!migrated || s->migrants_count)) {
		f->min_ns = c->duration_ns;
		f->off_fastest = c->off;
	}
	add_path(f, c);
	hist_add(&f->durations, c->duration_ns);
	f->raw_ns += c->raw_ns;
	f->inside += c->inside;
	f->inside_cost_ns += c->inside_cost_ns;
	if (!c->never_off)
		offcpu_add(&f->off, &c->off);
	workload_add(&f->workload, c->duration_ns, &c->off, c->inside);
	if (c->arg_mask & 0xff)
		workload_add_arguments(&f->workload, c->arg_mask, c->args, c->duration_ns);
	cell->timed++;
	cell->timed_ns += c->duration_ns;
}

static inline __attribute__((always_inline)) void
add_own(struct sci_function *f, struct sci_cell *cell, const struct call *c)
{
	if (c->own_ns < f->own_min_ns) {
		f->own_min_ns = c->own_ns;
		f->own_off_fastest = c->own_off;
	}
	f->own_timed++;
	if (c->never_off) {
		switching_add_ran(&f->switching, c->own_ns);
	} else {
		offcpu_add(&f->own_off, &c->own_off);
		switching_add(&f->switching, c->own_ns, &c->own_off);
	}
	cell->own_timed++;
	cell->own_ns += c->own_ns;
}

static void remember_short(struct sci_function *f, uint32_t slot, bool own, uint64_t ns)
{
	if (f->open_short.n < OPEN_SHORT_MAX)
		*vec_add(&f->open_short) = (struct sci_short){ .slot = slot, .own = own, .ns = ns };
}

static void add_open(struct sci_function *f, struct sci_cell *cell, uint32_t slot, bool recursive,
		     const struct call *c)
{
	if (!recursive) {
		offcpu_add(&f->open_off, &c->off);
		if (c->duration_ns >= f->min_ns) {
			cell->open++;
			cell->open_ns += c->duration_ns;
		} else {
			remember_short(f, slot, false, c->duration_ns);
		}
	}
	if (c->own_unknown)
		return;
	offcpu_add(&f->own_open_off, &c->own_off);
	if (c->own_ns >= f->own_min_ns) {
		cell->own_open++;
		cell->own_open_ns += c->own_ns;
	} else {
		remember_short(f, slot, true, c->own_ns);
	}
}

/* Continues edge_of() beyond the first slot of the id; adds the edge if it is new. */
static __attribute__((noinline)) struct sci_edge *edge_further(struct sci_function *caller,
							       uint32_t id)
{
	uint32_t i = id % SCI_EDGE_SLOTS;

	for (; caller->edge_at[i]; i = (i + 1) % SCI_EDGE_SLOTS)
		if (caller->edges[caller->edge_at[i]].id == id)
			return &caller->edges[caller->edge_at[i]];
	if (caller->n_edges == SCI_EDGES_MAX)
		return &caller->edges[0];
	caller->edge_at[i] = (uint8_t)++caller->n_edges;
	caller->edges[caller->n_edges].id = id;
	return &caller->edges[caller->n_edges];
}

/* Returns the edge to a callee. Whether the slot is in use is unpredictable, so that is not a
 * branch. */
static inline struct sci_edge *edge_of(struct sci_function *caller, uint32_t id)
{
	uint32_t i = caller->edge_at[id % SCI_EDGE_SLOTS];
	bool is_new = !i & (caller->n_edges < SCI_EDGES_MAX);
	bool is_other = (i != 0) & (caller->edges[i].id != id);

	if (unlikely(is_new | is_other))
		return edge_further(caller, id);
	return &caller->edges[i];
}

static inline __attribute__((always_inline)) void add_edge(struct sci *s, uint32_t parent_id,
							   const struct call *c)
{
	struct sci_edge *edge = edge_of(function_of(s, parent_id), c->id);

	if (!edge->calls++ || c->duration_ns < edge->min_ns)
		edge->min_ns = c->duration_ns;
	edge->ns += c->duration_ns;
}

void sci_add_edge(struct sci *s, uint32_t parent_id, const struct call *c)
{
	add_edge(s, parent_id, c);
}

static inline __attribute__((always_inline)) void add(struct sci *s, uint32_t id, uint32_t slot,
						      bool recursive, const struct call *c)
{
	struct sci_function *f = function_of(s, id);
	struct sci_cell *cell = cell_of(s, slot);

	f->calls++;
	f->ends[c->end]++;
	s->ends[c->end]++;
	cell->calls++;
	cell->outer_calls += !recursive;
	if (c->waits)
		wait_merge(&f->waits, c->waits);
	if (c->end == CALL_TIMED) {
		if (unlikely(s->meta->solos.n) && !solo_is_outside(&f->solo, s->meta, c))
			return;
		if (!recursive)
			add_outer(s, f, cell, c);
		if (!c->own_unknown)
			add_own(f, cell, c);
	} else if (c->end == CALL_OPEN) {
		cell->ended_open++;
		if (leaves_by_ret(s, c->id))
			add_open(f, cell, slot, recursive, c);
	}
}

void sci_add(struct sci *s, uint32_t id, uint32_t slot, bool recursive, const struct call *c)
{
	add(s, id, slot, recursive, c);
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	(void)t;
	add(self, c->id, c->slot, c->recursive, c);
	if (c->parent && c->end == CALL_TIMED)
		add_edge(self, c->parent->id, c);
}

/* Adds the sums of brief calls, which have no records of their own. They are no evidence of why one
 * call took longer than another. */
static void add_brief(struct sci *s, const struct brief *b, uint32_t slot, const struct record *r)
{
	struct sci_function *f = function_of(s, b->id);
	struct sci_cell *cell = cell_of(s, slot);

	f->calls += b->calls;
	f->brief += b->calls;
	f->ends[CALL_TIMED] += b->calls;
	s->ends[CALL_TIMED] += b->calls;
	cell->calls += b->calls;
	cell->outer_calls += b->outer;
	f->raw_ns += b->sum_ns + b->cost_ns;
	f->inside += b->inside;
	f->inside_cost_ns += b->cost_ns;
	brief_add(b, r, &f->durations);
	if (b->outer && b->min_ns < f->min_ns)
		f->min_ns = b->min_ns;
	if (b->calls && b->own_min_ns < f->own_min_ns)
		f->own_min_ns = b->own_min_ns;
	cell->timed += b->outer;
	cell->timed_ns += b->sum_ns;
	f->own_timed += b->calls;
	cell->own_timed += b->calls;
	cell->own_ns += b->own_ns;
	free(f->shapes); /* the paths of brief calls are not known */
	f->shapes = NULL;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct sci *s = self;
	uint64_t id = r->kind == REC_CALL_COUNT || r->kind == REC_BRIEF ? r->values[0] : UINT64_MAX;
	struct brief b;
	uint32_t slot;

	if (!t || id >= s->meta->functions.n || !s->meta->functions.data[id].symbol)
		return;
	function_of(s, (uint32_t)id);
	slot = threads_slot(&s->calls->threads, s->calls->threads.all.data[t->index], (uint32_t)id);
	if (r->kind == REC_BRIEF) {
		if (brief_read(&b, r, (uint32_t)s->meta->functions.n))
			add_brief(s, &b, slot, r);
		return;
	}
	cell_of(s, slot)->is_told = true;
	cell_of(s, slot)->unrecorded += r->values[1];
	cell_of(s, slot)->unrecorded_outer += r->values[r->n_values > 2 ? 2 : 1];
}

/* Any function that the thread has called may have lost records. */
static void on_lost(void *self, const struct thread *t, const struct call_loss *loss)
{
	struct sci *s = self;
	size_t pages = s->meta->functions.n / THREAD_SLOTS + 1;

	for (size_t p = 0; t->slots && p < pages; p++)
		for (uint32_t i = 0; t->slots[p] && i < THREAD_SLOTS; i++) {
			uint32_t id = (uint32_t)p * THREAD_SLOTS + i;
			struct sci_function *f = t->slots[p][i] ? sci_function(s, id) : NULL;

			if (!f || f->last_loss == loss->number)
				continue;
			f->last_loss = loss->number;
			f->lost_records += loss->count;
		}
}

static void cell_move(struct sci_cell *to, struct sci_cell *from)
{
	to->calls += from->calls;
	to->outer_calls += from->outer_calls;
	to->ended_open += from->ended_open;
	to->timed += from->timed;
	to->timed_ns += from->timed_ns;
	to->own_timed += from->own_timed;
	to->own_ns += from->own_ns;
	to->open += from->open;
	to->open_ns += from->open_ns;
	to->own_open += from->own_open;
	to->own_open_ns += from->own_open_ns;
	to->unrecorded += from->unrecorded;
	to->unrecorded_outer += from->unrecorded_outer;
	to->is_told |= from->is_told;
	*from = (struct sci_cell){ 0 };
}

static void sum_up_slot(struct sci *s, const struct ended_threads *e, const struct thread *t,
			uint32_t id, uint32_t slot)
{
	uint32_t into = threads_slot(&s->calls->threads, e->into, id);
	struct sci_cell *to = cell_of(s, into), *from = &s->cells.data[slot];

	if (!from->calls && !from->unrecorded)
		return;
	cell_move(to, from);
	to->ended++;
	to->ended_observed_ns += s->observed_ns ? s->observed_ns(s->observed_ctx, t)
						: thread_observed_ns(&s->calls->threads, t, id);
}

static void sum_up_short(struct sci *s, const struct ended_threads *e, struct sci_function *f,
			 uint32_t id)
{
	vec_for_each (&f->open_short, struct sci_short, o)
		if (e->is_one[sci_slot(s, o->slot)->thread])
			o->slot = threads_slot(&s->calls->threads, e->into, id);
}

static void on_sum_up(void *self, const struct ended_threads *e)
{
	struct sci *s = self;
	size_t pages = s->meta->functions.n / THREAD_SLOTS + 1;

	for (size_t k = 0; k < e->n; k++)
		for (size_t i = 0; e->threads[k]->slots && i < pages * THREAD_SLOTS; i++) {
			const uint32_t *page = e->threads[k]->slots[i / THREAD_SLOTS];
			uint32_t slot = page ? page[i % THREAD_SLOTS] : 0;

			if (slot && slot < s->cells.n)
				sum_up_slot(s, e, e->threads[k], (uint32_t)i, slot);
		}
	for (uint32_t id = 0; id < s->functions.n; id++)
		if (s->functions.data[id]) {
			sum_up_short(s, e, s->functions.data[id], id);
			ended_rename_wakers(e, &s->functions.data[id]->waits);
		}
}

struct call_visitor sci_visitor(struct sci *s)
{
	return (struct call_visitor){ .self = s,
				      .call = on_call,
				      .record = on_record,
				      .lost = on_lost,
				      .sum_up = on_sum_up };
}
