/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fold.h"
#include "analysis/sequence.h"
#include "analysis/sleeps.h"
#include "analysis/track.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta.h"
#include "trace/record.h"

struct body {
	uint32_t function, group, n;
	bool rest; /* every body of the function that is not told apart */
	struct pattern_element *elements;
	uint64_t calls;
};

/* The row of calls at one depth of a thread: those inside the open call above it. */
struct level {
	struct fold *fold;   /* while loops are learnt */
	struct track *track; /* else */
	bool cut;	     /* a part of the row is not known */
	bool same_inside;    /* the call above holds another of its function */
};

struct sequence_thread {
	struct {
		VEC(struct level)
	} levels;
	struct sleeps *sleeps; /* NULL: none yet */
};

void sequences_init(struct sequences *s, const struct meta *meta)
{
	size_t n = meta->functions.n + 1;

	*s = (struct sequences){ .meta = meta, .share_of_50 = NAN };
	patterns_init(&s->patterns, (uint32_t)meta->functions.n);
	s->leaf_of = xmalloc(n * sizeof(*s->leaf_of));
	s->rest_of = xmalloc(n * sizeof(*s->rest_of));
	memset(s->leaf_of, 0xff, n * sizeof(*s->leaf_of));
	memset(s->rest_of, 0xff, n * sizeof(*s->rest_of));
}

static void level_release(struct level *l)
{
	free(l->fold);
	if (l->track)
		track_release(l->track);
	free(l->track);
	*l = (struct level){ 0 };
}

static void thread_free(struct sequence_thread *t)
{
	if (!t)
		return;
	vec_for_each (&t->levels, struct level, l)
		level_release(l);
	vec_release(&t->levels);
	free(t->sleeps);
	free(t);
}

static void release_threads(struct sequences *s)
{
	vec_for_each (&s->threads, struct sequence_thread *, t)
		thread_free(*t);
	vec_release(&s->threads);
}

void sequences_release(struct sequences *s)
{
	release_threads(s);
	vec_for_each (&s->bodies, struct body, b)
		free(b->elements);
	vec_release(&s->bodies);
	map_release(&s->body_of);
	free(s->leaf_of);
	free(s->rest_of);
	free(s->group_of);
	pairs_release(&s->pairs);
	patterns_release(&s->patterns);
	*s = (struct sequences){ 0 };
}

void sequences_begin(struct sequences *s, enum sequence_stage stage, const struct calls *calls,
		     struct keyed *keyed)
{
	release_threads(s);
	s->stage = stage;
	s->calls = calls;
	s->keyed = keyed;
	if (stage == SEQUENCE_PAIRS) {
		patterns_normalise(&s->patterns);
		pairs_init(&s->pairs, &s->patterns);
	} else if (stage == SEQUENCE_MEASURE) {
		size_t n = s->patterns.lengths.n + 1;

		pairs_release(&s->pairs);
		s->group_of = xmalloc(n * sizeof(*s->group_of));
		memset(s->group_of, 0xff, n * sizeof(*s->group_of));
	}
}

static struct level *level_of(struct sequences *s, const struct thread *t, size_t depth, bool make)
{
	struct sequence_thread **st;

	while (make && s->threads.n <= t->index)
		(void)vec_add(&s->threads);
	if (depth > SEQUENCE_DEPTH || s->threads.n <= t->index)
		return NULL;
	st = &s->threads.data[t->index];
	if (!*st && make)
		*st = xcalloc(1, sizeof(**st));
	if (!*st)
		return NULL;
	while (make && (*st)->levels.n <= depth)
		(void)vec_add(&(*st)->levels);
	return depth < (*st)->levels.n ? &(*st)->levels.data[depth] : NULL;
}

/*
 * What probing cost in a row, but for the first call's own probe in its duration, which stays as it
 * does in that of a call; beside the calls it took no more time than there was.
 */
static uint64_t cost_of_row(const struct mark *begin, const struct mark *end)
{
	uint64_t cost_ns = end->row.cost_ns - begin->row.cost_ns - begin->own_cost_ns;
	uint64_t between_ns = end->row.between_ns - begin->row.between_ns;
	uint64_t calls_ns = end->row.raw_ns - begin->row.raw_ns;
	uint64_t raw_ns = end->time_ns - begin->time_ns;
	uint64_t room_ns = raw_ns > calls_ns ? raw_ns - calls_ns : 0;

	return cost_ns + (between_ns < room_ns ? between_ns : room_ns);
}

/* What the thread slept in: in and between the calls of the row. */
static struct wait_sums *sleeps_of_row(const struct sequences *s, const struct call *c,
				       struct wait_sums *waits)
{
	const struct sequence_thread *st = s->threads.data[s->thread->index];

	if (!st->sleeps)
		return NULL;
	sleeps_between(st->sleeps, c->entry_ns, c->exit_ns, waits);
	return waits;
}

/* A sequence as a call, from its first event to its last. */
static void seen(void *self, uint32_t symbol, const struct mark *begin, const struct mark *end)
{
	struct sequences *s = self;
	uint32_t *group = &s->group_of[symbol];
	struct call c = { .id = begin->function, .entry_cpu = begin->cpu, .exit_cpu = end->cpu };
	struct wait_sums waits = { 0 };

	if (*group == MAP_NONE)
		*group = keyed_group(s->keyed, begin->function, KEYED_KEY,
				     (uint64_t)symbol << 1 | 1);
	c.entry_ns = begin->time_ns;
	c.exit_ns = end->time_ns;
	c.inside = (uint32_t)(end->row.calls - begin->row.calls) - 1;
	c.inside_cost_ns = cost_of_row(begin, end);
	c.raw_ns = c.exit_ns - c.entry_ns;
	c.duration_ns = c.own_ns = c.raw_ns > c.inside_cost_ns ? c.raw_ns - c.inside_cost_ns : 0;
	c.off = offcpu_between(&begin->off, &end->off);
	c.own_off = c.off;
	c.shape = hash_u64(c.inside + 1);
	c.stack = begin->stack;
	c.arg_mask = begin->caller ? 1u << ARG_CALLER : 0;
	c.args[ARG_CALLER] = begin->caller;
	c.end = end->row.untimed != begin->row.untimed ? CALL_UNTIMED
		: end->time_ns < begin->time_ns	       ? CALL_NEGATIVE
						       : CALL_TIMED;
	if (c.off.blocked_ns || c.off.idle_ns)
		c.waits = sleeps_of_row(s, &c, &waits);
	keyed_add(s->keyed, s->thread, *group, false, &c);
	vec_release(&waits);
}

static void settled(void *self, struct track *t, uint32_t symbol)
{
	struct sequences *s = self;

	pairs_push(&s->pairs, &t->pair_node, symbol);
}

static struct track_user user_of(struct sequences *s)
{
	return (struct track_user){
		.self = s,
		.seen = s->stage == SEQUENCE_MEASURE ? seen : NULL,
		.settled = s->stage == SEQUENCE_PAIRS ? settled : NULL,
	};
}

static void level_end(struct sequences *s, struct level *l)
{
	struct track_user u = user_of(s);

	if (l->track)
		track_end(l->track, &s->patterns, &u);
}

static void level_clear(struct level *l)
{
	if (l->fold)
		fold_clear(l->fold);
	if (l->track)
		track_clear(l->track);
	l->cut = l->same_inside = false;
}

/* What comes next in the row does not follow what was before. */
static void cut(struct sequences *s, const struct thread *t, size_t depth)
{
	struct level *l = level_of(s, t, depth, true);

	if (!l)
		return;
	level_end(s, l);
	level_clear(l);
	l->cut = true;
}

/* Half of the cost beside a call is before its entry, half behind its exit. */
static void count_call(const struct calls *calls, struct row_sums *row, struct mark *begin,
		       struct mark *end, const struct call *c)
{
	uint64_t beside_ns = call_cost_beside_ns(calls, c);

	begin->own_cost_ns = call_cost_inside_ns(calls, c);
	begin->row.between_ns += beside_ns / 2;
	row->calls += 1 + c->inside;
	row->raw_ns += call_has_times(c) ? c->raw_ns : 0;
	row->cost_ns += begin->own_cost_ns + c->inside_cost_ns;
	row->between_ns += beside_ns + (call_has_times(c) ? 0 : c->between_ns);
	/* a function without an exit probe is an event at its entry */
	row->untimed += c->end != CALL_TIMED && c->end != CALL_UNTIMED;
	end->row = *row;
	end->row.between_ns -= beside_ns - beside_ns / 2;
}

static void set_marks(struct sequences *s, const struct thread *t, struct track *row,
		      const struct call *c, struct mark *begin, struct mark *end)
{
	const struct offcpu *off = &c->off; /* of a call without times: the thread's at its entry */

	*begin = (struct mark){ .time_ns = c->entry_ns, .off = *off, .row = row->sums };
	*end = (struct mark){ .time_ns = c->exit_ns, .off = t->off, .cpu = c->exit_cpu };
	count_call(s->calls, &row->sums, begin, end, c);
	begin->cpu = c->entry_cpu;
	begin->function = c->id;
	begin->stack = c->stack;
	begin->caller = c->arg_mask & 1u << ARG_CALLER ? (uint32_t)c->args[ARG_CALLER] : 0;
	if (call_has_times(c))
		begin->off = offcpu_between(off, &t->off);
}

static void push(struct sequences *s, const struct thread *t, size_t depth, const struct call *c)
{
	struct level *l = level_of(s, t, depth, true);
	struct track_user u = user_of(s);
	struct mark begin, end;

	if (!l)
		return;
	if (s->stage == SEQUENCE_LOOPS) {
		if (!l->fold)
			l->fold = xcalloc(1, sizeof(*l->fold));
		fold_push(l->fold, &s->patterns, c->id, true);
		return;
	}
	if (!l->track)
		l->track = xcalloc(1, sizeof(*l->track));
	set_marks(s, t, l->track, c, &begin, &end);
	track_push(l->track, &s->patterns, &u, c->id, &begin, &end);
}

static uint32_t add_body(struct sequences *s, uint32_t function, const struct track *row)
{
	struct body *b = vec_add(&s->bodies);

	b->function = function;
	b->n = row ? row->n_row : 0;
	b->elements = b->n ? xcalloc(b->n, sizeof(*b->elements)) : NULL;
	for (uint32_t i = 0; i < b->n; i++)
		b->elements[i].symbol = row->row[i].symbol;
	b->group = keyed_group(s->keyed, function, KEYED_KEY, (uint64_t)(s->bodies.n - 1) << 1);
	return (uint32_t)s->bodies.n - 1;
}

static bool is_body(const struct body *b, uint32_t function, const struct track *row)
{
	if (b->function != function || b->rest || b->n != row->n_row)
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		if (b->elements[i].symbol != row->row[i].symbol)
			return false;
	return true;
}

static struct body *lone_body(struct sequences *s, uint32_t *of, uint32_t function)
{
	if (of[function] == MAP_NONE)
		of[function] = add_body(s, function, NULL);
	return &s->bodies.data[of[function]];
}

static struct body *rest_body(struct sequences *s, uint32_t function)
{
	struct body *b = lone_body(s, s->rest_of, function);

	s->not_kept++;
	b->rest = true;
	return b;
}

static struct body *find_body(struct sequences *s, uint32_t function, const struct track *row)
{
	uint64_t hash = hash_u64(function + 1);
	uint32_t i;

	for (uint32_t k = 0; k < row->n_row; k++)
		hash = hash_u64(hash * 0x9e3779b97f4a7c15ull + row->row[k].symbol);
	while ((i = map_get(&s->body_of, hash)) != MAP_NONE &&
	       !is_body(&s->bodies.data[i], function, row))
		hash++;
	if (i == MAP_NONE && s->bodies.n >= SEQUENCE_BODIES)
		return rest_body(s, function);
	if (i == MAP_NONE) {
		i = add_body(s, function, row);
		map_put(&s->body_of, hash, i);
	}
	return &s->bodies.data[i];
}

static void count_elements(struct body *b, const struct track *row)
{
	for (uint32_t i = 0; !b->rest && i < b->n; i++)
		pattern_count(&b->elements[i], row->row[i].repetitions);
}

static struct body *body_of(struct sequences *s, const struct call *c, const struct level *inside)
{
	struct track *row = inside ? inside->track : NULL;
	struct body *b;

	if (!c->children)
		return lone_body(s, s->leaf_of, c->id);
	if (!row || !row->n_row || row->dropped || inside->cut)
		return rest_body(s, c->id);
	b = find_body(s, c->id, row);
	count_elements(b, row);
	return b;
}

/* An inner call of its own function may be of the same sequence only if it holds one, too. */
static bool is_inner(struct sequences *s, const struct thread *t, const struct call *c,
		     const struct level *inside)
{
	bool same = inside && inside->same_inside;
	const struct call *outer = c;

	if (!c->recursive)
		return false;
	while (outer-- > t->open)
		if (outer->id == c->id) {
			struct level *l = level_of(s, t, (size_t)(outer - t->open) + 1, true);

			if (l)
				l->same_inside = true;
			break;
		}
	return same;
}

static void measure(struct sequences *s, const struct thread *t, const struct call *c,
		    struct level *inside)
{
	bool inner = is_inner(s, t, c, inside);
	struct body *b = body_of(s, c, inside);

	b->calls++;
	keyed_add(s->keyed, t, b->group, inner, c);
}

/* A call that ended around others still open (markers that overlap): its rows are parted there. */
static void take_out(struct sequences *s, const struct thread *t, size_t depth,
		     const struct call *c)
{
	if (s->stage == SEQUENCE_MEASURE)
		keyed_add(s->keyed, t, rest_body(s, c->id)->group, c->recursive, c);
	for (size_t i = depth; i <= t->n_open; i++)
		cut(s, t, i);
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct sequences *s = self;
	size_t depth = (size_t)(c - t->open);
	struct level *inside = level_of(s, t, depth + 1, false);

	s->thread = t;
	if (depth < t->n_open) {
		take_out(s, t, depth, c);
		return;
	}
	if (inside)
		level_end(s, inside);
	if (s->stage == SEQUENCE_MEASURE)
		measure(s, t, c, inside);
	inside = level_of(s, t, depth + 1, false);
	if (inside)
		level_clear(inside);
	if (c->end == CALL_OPEN || c->end == CALL_LOST)
		cut(s, t, depth);
	else
		push(s, t, depth, c);
}

static void end_thread(struct sequences *s, const struct thread *t)
{
	struct sequence_thread **st = t->index < s->threads.n ? &s->threads.data[t->index] : NULL;

	if (!st || !*st)
		return;
	s->thread = t;
	vec_for_each (&(*st)->levels, struct level, l)
		level_end(s, l);
	thread_free(*st);
	*st = NULL;
}

static void slept(struct sequences *s, const struct thread *t, uint64_t time_ns)
{
	struct sequence_thread *st = t->index < s->threads.n ? s->threads.data[t->index] : NULL;

	if (!st || s->stage != SEQUENCE_MEASURE)
		return;
	if (!st->sleeps)
		st->sleeps = xcalloc(1, sizeof(*st->sleeps));
	sleeps_add(st->sleeps, t, time_ns);
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	if (t && r->kind == REC_TASK_EXIT)
		end_thread(self, t);
	else if (t && r->kind == REC_SWITCH_IN && t->sleep.ended_ns == r->time_ns)
		slept(self, t, r->time_ns);
}

static void on_unseen(void *self, const struct thread *t)
{
	struct sequences *s = self;

	s->thread = t;
	cut(s, t, 0);
}

static void on_end(void *self)
{
	struct sequences *s = self;

	vec_for_each (&s->calls->threads.all, struct thread *, t)
		end_thread(s, *t);
}

struct call_visitor sequences_visitor(struct sequences *s)
{
	return (struct call_visitor){
		.self = s, .call = on_call, .record = on_record, .unseen = on_unseen, .end = on_end
	};
}

static const char *function_name(void *ctx, uint32_t id)
{
	const struct meta_function *f = &((const struct meta *)ctx)->functions.data[id];

	return f->name && *f->name ? f->name : f->symbol;
}

static void name_body(struct sequences *s, const struct body *b, struct text *name)
{
	void *meta = (void *)(uintptr_t)s->meta;

	text_add(name, function_name(meta, b->function));
	if (b->rest)
		text_add(name, " { … }");
	if (!b->n)
		return;
	text_add(name, " {");
	for (uint32_t i = 0; i < b->n; i++) {
		text_add(name, " ");
		pattern_element_name(&s->patterns, &b->elements[i], function_name, meta, name);
	}
	text_add(name, " }");
}

static void name_of(void *ctx, const struct keyed_group *g, struct text *name)
{
	struct sequences *s = ctx;

	if (g->key & 1)
		patterns_name(&s->patterns, (uint32_t)(g->key >> 1), function_name,
			      (void *)(uintptr_t)s->meta, name);
	else
		name_body(s, &s->bodies.data[g->key >> 1], name);
}

struct keyed_rule sequences_rule(struct sequences *s)
{
	return (struct keyed_rule){ .kind = BLOCK_SEQUENCE, .ctx = s, .name = name_of };
}

static int more_calls(const void *a, const void *b)
{
	const struct body *x = a, *y = b;

	return (x->calls < y->calls) - (x->calls > y->calls);
}

/* Orders the bodies: only their names were needed. */
static double share_of(struct sequences *s, uint32_t n)
{
	uint64_t all = 0, first = 0;
	uint32_t taken = 0;

	vec_sort(&s->bodies, more_calls);
	vec_for_each (&s->bodies, const struct body, b) {
		all += b->calls;
		if (!b->rest && taken < n) {
			first += b->calls;
			taken++;
		}
	}
	return all ? (double)first / (double)all : NAN;
}

static bool says_something(const struct sequences *s, const struct keyed_group *g,
			   const struct block *b)
{
	if (b->calls < 2)
		return false;
	return g->rest || !(g->key & 1) ||
	       !pattern_is_part(pattern_of(&s->patterns, (uint32_t)(g->key >> 1)));
}

void sequences_finish(struct sequences *s, struct blocks *blocks)
{
	size_t kept = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct block *b = &blocks->data[i];
		const struct keyed_group *g = &s->keyed->groups.data[b->id];

		if (!says_something(s, g, b)) {
			causes_release(&b->causes);
			continue;
		}
		if (!g->rest) {
			b->name = g->name;
			b->key = NULL;
		}
		blocks->data[kept++] = *b;
	}
	blocks->n = kept;
	s->share_of_50 = share_of(s, 50);
}
