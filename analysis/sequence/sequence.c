/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sequence/body.h"
#include "analysis/sequence/fold.h"
#include "analysis/sequence/owner.h"
#include "analysis/sequence/sequence.h"
#include "analysis/sequence/track.h"
#include "analysis/threads/sleeps.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

/* The row of calls at one depth of a thread: the direct calls of the open call above. */
struct level {
	struct fold *fold;	 /* used while loops are learnt */
	struct track *track;	 /* used in the other stages */
	bool cut;		 /* a part of the row is missing */
	struct track *iteration; /* calls of the open iteration of a choice (turns.h); NULL: not
				  * used yet */
	uint32_t choice;	 /* choice of the open iteration; PATTERN_NONE: none is open */
	uint32_t first;		 /* function of the iteration's first call */
	bool several;		 /* the iteration has calls of other functions, too */
	struct mark begin, end;	 /* of the iteration */
	bool same_inside;	 /* the open call above contains another call of its function */
};

struct sequence_thread {
	struct {
		VEC(struct level)
	} levels;
	struct sleeps *sleeps; /* NULL: none so far */
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
	if (l->iteration)
		track_release(l->iteration);
	free(l->track);
	free(l->iteration);
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
	free(s->losses);
	free(s->placed_ns);
	pairs_release(&s->pairs);
	turns_release(&s->turns);
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
		turns_init(&s->turns, s->patterns.n_functions);
	} else if (stage == SEQUENCE_MEASURE) {
		size_t n;

		pairs_release(&s->pairs);
		turns_decide(&s->turns, &s->patterns);
		n = s->patterns.lengths.n + (size_t)s->turns.n_choices * TURNS_FORMS + 1;
		s->group_of = xmalloc(n * sizeof(*s->group_of));
		memset(s->group_of, 0xff, n * sizeof(*s->group_of));
		s->placed_ns = xcalloc(n, sizeof(*s->placed_ns));
	}
}

void sequences_set_loss(struct sequences *s, uint32_t function, struct sequence_loss loss)
{
	if (!s->losses)
		s->losses = xcalloc(s->patterns.n_functions + 1, sizeof(*s->losses));
	s->losses[function] = loss;
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
		*vec_add(&(*st)->levels) = (struct level){ .choice = PATTERN_NONE };
	return depth < (*st)->levels.n ? &(*st)->levels.data[depth] : NULL;
}

/*
 * Returns the cost of probing in a row of calls. The first call's own probe stays in the duration,
 * as it does for a single call. The cost outside of the calls is at most the time between the
 * calls.
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

/* Sums the thread's sleeps in and between the calls of the row. */
static struct wait_sums *sleeps_of_row(const struct sequences *s, const struct call *c,
				       struct wait_sums *waits)
{
	const struct sequence_thread *st = s->threads.data[s->thread->index];

	if (!st->sleeps)
		return NULL;
	sleeps_between(st->sleeps, c->entry_ns, c->exit_ns, waits);
	return waits;
}

/* Adds an occurrence of a sequence as a made-up call, from its first event to its last. */
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

	pairs_push(&s->pairs, &t->learnt.pair_node, symbol);
	if (symbol != t->learnt.settled)
		t->learnt.elements =
			hash_u64(t->learnt.elements * 0x9e3779b97f4a7c15ull + symbol + 1);
	t->learnt.settled = symbol;
}

/* ---- transitions from one call or element of a row to the next (transition.h) ---- */

static uint64_t less_cost(uint64_t from_ns, uint64_t to_ns, uint64_t cost_ns)
{
	uint64_t raw_ns = to_ns > from_ns ? to_ns - from_ns : 0;

	return raw_ns > cost_ns ? raw_ns - cost_ns : 0;
}

static void step_to(struct transitions *t, const struct placed *last, uint32_t state,
		    const struct mark *begin)
{
	if (last->any)
		transitions_add(
			t, TRANSITION_NEXT, last->state, state,
			last->timed ? less_cost(last->end.time_ns, begin->time_ns,
						begin->row.between_ns - last->end.row.between_ns)
				    : TRANSITION_NOTIME);
	else if (last->cut)
		return;
	else if (last->caller == UINT32_MAX)
		transitions_add(t, TRANSITION_BEGIN, state, state, TRANSITION_NOTIME);
	else
		transitions_add(
			t, TRANSITION_CALL, transitions_state(t, last->caller), state,
			less_cost(last->caller_entry_ns, begin->time_ns, begin->row.between_ns));
}

static void place(struct sequences *s, struct track *row, uint32_t symbol, const struct mark *begin,
		  const struct mark *end)
{
	uint32_t state = transitions_state(s->transitions, symbol);
	bool timed = end->row.untimed == begin->row.untimed && end->time_ns >= begin->time_ns;

	step_to(s->transitions, &row->placed, state, begin);
	transitions_pass(s->transitions, state,
			 timed ? less_cost(begin->time_ns, end->time_ns, cost_of_row(begin, end))
			       : TRANSITION_NOTIME);
	row->placed.any = true;
	row->placed.timed = timed;
	row->placed.state = state;
	row->placed.end = *end;
}

static void placed(void *self, struct track *t, const struct element *e)
{
	place(self, t, e->symbol, &e->begin, &e->end);
}

/* Whether the call's end has no record, so that the next call need not follow it directly. */
static bool call_ended_unseen(const struct call *c)
{
	return c->end == CALL_OPEN || c->end == CALL_LOST;
}

/* Adds the transition from the last inner call to the exit of the call around it. */
static void leave(struct sequences *s, const struct call *c, const struct track *row)
{
	const struct placed *last = row ? &row->placed : NULL;
	bool timed = c->end == CALL_TIMED || c->end == CALL_UNTIMED;

	if (!last || !last->any || call_ended_unseen(c))
		return;
	transitions_add(s->transitions, TRANSITION_RETURN, last->state,
			transitions_state(s->transitions, c->id),
			timed && last->timed
				? less_cost(last->end.time_ns, c->exit_ns,
					    row->sums.between_ns - last->end.row.between_ns)
				: TRANSITION_NOTIME);
}

static bool of_functions(const struct sequences *s)
{
	return s->transitions && !s->transitions->of_sequences;
}

static struct track_user user_of(struct sequences *s)
{
	bool measuring = s->stage == SEQUENCE_MEASURE;

	return (struct track_user){
		.self = s,
		.seen = measuring && !s->transitions ? seen : NULL,
		.settled = s->stage == SEQUENCE_PAIRS ? settled : NULL,
		.placed = !measuring	   ? NULL
			  : s->transitions ? placed
					   : sequence_placed,
	};
}

/* The user for calls of an iteration of a choice, which are no elements of the row. */
static struct track_user user_inside(struct sequences *s)
{
	struct track_user u = user_of(s);

	u.placed = NULL;
	return u;
}

static void end_iteration(struct sequences *s, struct level *l)
{
	struct track_user u = user_of(s), inside = user_inside(s);
	const struct mark begin = l->begin, end = l->end;

	track_end(l->iteration, &s->patterns, &inside);
	turns_add(&s->turns, &s->patterns, &inside, l->choice, l->iteration);
	track_clear(l->iteration);
	track_add(l->track, &s->patterns, &u, l->choice, &begin, &end);
	l->choice = PATTERN_NONE;
}

static void level_end(struct sequences *s, struct level *l)
{
	struct track_user u = user_of(s);

	if (l->choice != PATTERN_NONE)
		end_iteration(s, l);
	if (l->track)
		track_end(l->track, &s->patterns, &u);
}

static void level_clear(struct level *l)
{
	if (l->fold)
		fold_clear(l->fold);
	if (l->track)
		track_clear(l->track);
	if (l->iteration)
		track_clear(l->iteration);
	l->choice = PATTERN_NONE;
	l->cut = l->same_inside = false;
}

/* Ends the row and begins a new one: the next call need not follow the calls before. */
static void cut(struct sequences *s, const struct thread *t, size_t depth)
{
	struct level *l = level_of(s, t, depth, true);

	if (!l)
		return;
	level_end(s, l);
	level_clear(l);
	l->cut = true;
}

/* Half of the cost outside of a call is taken to be before its entry, half after its exit. */
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
	*begin = (struct mark){ .time_ns = c->entry_ns, .off = c->off_at_entry, .row = row->sums };
	*end = (struct mark){ .time_ns = c->exit_ns, .off = t->off, .cpu = c->exit_cpu };
	row->sums.lost_ns += sequence_lost_ns(s, c);
	count_call(s->calls, &row->sums, begin, end, c);
	begin->cpu = c->entry_cpu;
	begin->function = c->id;
	begin->stack = c->stack;
	begin->caller = c->arg_mask & 1u << ARG_CALLER ? (uint32_t)c->args[ARG_CALLER] : 0;
}

/*
 * Adds a call to the open iteration if its function belongs to a choice, else returns false. A call
 * that begins an iteration ends the one before, unless the iteration consists only of calls of this
 * function.
 */
static bool add_turn(struct sequences *s, struct level *l, uint32_t caller, uint32_t function,
		     const struct mark *begin, const struct mark *end)
{
	struct track_user u = user_inside(s);
	struct turn turn = turns_of(&s->turns, caller, function);
	bool run = !turn.alone && l->first == function && !l->several;

	if (l->choice != PATTERN_NONE && (turn.choice != l->choice || (turn.first && !run)))
		end_iteration(s, l);
	if (turn.choice == PATTERN_NONE)
		return false;
	if (l->choice == PATTERN_NONE) {
		l->choice = turn.choice;
		l->first = function;
		l->several = false;
		l->begin = *begin;
	}
	if (!l->iteration)
		l->iteration = xcalloc(1, sizeof(*l->iteration));
	l->several |= function != l->first;
	l->end = *end;
	track_push(l->iteration, &s->patterns, &u, function, begin, end);
	return true;
}

static void learn(struct sequences *s, struct track *row, uint32_t caller, uint32_t function)
{
	uint32_t last = row->learnt.callee;

	turns_next(&s->turns, caller, &row->learnt.callee, function);
	row->learnt.calls += last != row->learnt.callee;
}

static void push(struct sequences *s, const struct thread *t, size_t depth, const struct call *c)
{
	struct level *l = level_of(s, t, depth, true);
	uint32_t caller = depth ? t->open[depth - 1].id : UINT32_MAX;
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
	l->track->placed.cut = l->cut;
	l->track->placed.caller = caller;
	l->track->placed.caller_entry_ns = depth ? t->open[depth - 1].entry_ns : 0;
	if (of_functions(s)) {
		place(s, l->track, c->id, &begin, &end);
		return;
	}
	if (depth && s->stage == SEQUENCE_PAIRS)
		learn(s, l->track, caller, c->id);
	if (depth && s->stage == SEQUENCE_MEASURE && add_turn(s, l, caller, c->id, &begin, &end))
		return;
	track_push(l->track, &s->patterns, &u, c->id, &begin, &end);
}

/* Whether a recursive call may be of the same sequence as a call around it: only if it contains a
 * call of its function, as that one does. */
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
	struct body *b;

	if (s->transitions) {
		leave(s, c, inside ? inside->track : NULL);
		return;
	}
	b = sequence_body(s, c, inside && !inside->cut ? inside->track : NULL);
	b->calls++;
	*(call_ended_unseen(c) ? &b->alone_ns : &b->lost_ns) += sequence_lost_ns(s, c);
	keyed_add(s->keyed, t, b->group, inner, c);
}

/* Handles a call that ended before calls inside it (overlapping markers): the rows at its depth and
 * below are cut. */
static void cut_inside(struct sequences *s, const struct thread *t, size_t depth,
		       const struct call *c)
{
	if (s->stage == SEQUENCE_MEASURE && !s->transitions) {
		struct body *b = sequence_rest_body(s, c->id);

		b->alone_ns += sequence_lost_ns(s, c);
		keyed_add(s->keyed, t, b->group, c->recursive, c);
	}
	for (size_t i = depth; i <= t->n_open; i++)
		cut(s, t, i);
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct sequences *s = self;
	size_t depth = (size_t)(c - t->open);
	struct level *inside = level_of(s, t, depth + 1, false);

	s->thread = t;
	/* records of waits for locks are no steps of the program */
	if (s->meta->functions.data[c->id].contended_only)
		return;
	if (depth < t->n_open) {
		cut_inside(s, t, depth, c);
		return;
	}
	if (inside)
		level_end(s, inside);
	if (s->stage == SEQUENCE_MEASURE)
		measure(s, t, c, inside);
	else if (inside && inside->track && inside->track->learnt.calls && !inside->cut)
		turns_row(&s->turns, c->id, inside->track->learnt.elements,
			  inside->track->learnt.calls);
	inside = level_of(s, t, depth + 1, false);
	if (inside)
		level_clear(inside);
	if (!call_ended_unseen(c) || of_functions(s))
		push(s, t, depth, c);
	if (call_ended_unseen(c))
		cut(s, t, depth);
}

static void end_steps(struct sequences *s, const struct track *outermost)
{
	const struct placed *last = outermost ? &outermost->placed : NULL;

	if (s->stage == SEQUENCE_MEASURE && last && last->any)
		transitions_add(s->transitions, TRANSITION_END, last->state, last->state,
				TRANSITION_NOTIME);
}

static void end_thread(struct sequences *s, const struct thread *t)
{
	struct sequence_thread **st = t->index < s->threads.n ? &s->threads.data[t->index] : NULL;

	if (!st || !*st)
		return;
	s->thread = t;
	vec_for_each (&(*st)->levels, struct level, l)
		level_end(s, l);
	if (s->transitions && (*st)->levels.n)
		end_steps(s, (*st)->levels.data[0].track);
	thread_free(*st);
	*st = NULL;
}

static void slept(struct sequences *s, const struct thread *t, uint64_t time_ns)
{
	struct sequence_thread *st = t->index < s->threads.n ? s->threads.data[t->index] : NULL;

	if (!st || s->stage != SEQUENCE_MEASURE || s->transitions)
		return;
	if (!st->sleeps)
		st->sleeps = xcalloc(1, sizeof(*st->sleeps));
	sleeps_add(st->sleeps, t, time_ns);
}

/* Cuts all rows when probes are switched off, because calls are missing then. */
static void set_off(struct sequences *s, uint64_t tgid)
{
	vec_for_each (&s->calls->threads.all, struct thread *, t) {
		if (tgid && (*t)->tgid != tgid)
			continue;
		s->thread = *t;
		for (size_t depth = 0; level_of(s, *t, depth, false); depth++)
			cut(s, *t, depth);
	}
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	if (r->kind == REC_SET_OFF)
		set_off(self, r->values[1]);
	else if (t && r->kind == REC_TASK_EXIT)
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

/* ---- names of sequences, and which of them are reported ---- */

static const char *function_name(void *ctx, uint32_t id)
{
	const struct meta_function *f = &((const struct meta *)ctx)->functions.data[id];

	return f->name && *f->name ? f->name : f->symbol;
}

static void name_body(const struct sequences *s, const struct body *b, struct text *name)
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

/* Returns the share of all calls that the n most frequent bodies have. Sorts the bodies, whose
 * indices are not needed any more. */
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

void sequences_finish(struct sequences *s, struct blocks *blocks, uint64_t duration_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct block *b = &blocks->data[i];
		const struct keyed_group *g = &s->keyed->groups.data[b->id];

		if (!says_something(s, g, b)) {
			block_release(b);
			continue;
		}
		if (!g->rest) {
			b->name = g->name;
			b->key = NULL;
		}
		blocks->data[kept++] = *b;
	}
	blocks->n = kept;
	if (s->losses)
		sequences_share_lost(s, blocks, duration_ns);
	s->share_of_50 = share_of(s, 50);
}
