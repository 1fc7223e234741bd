/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/site/site.h"
#include "analysis/threads/setclock.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

void sites_init(struct sites *s, const struct calls *calls)
{
	*s = (struct sites){ .calls = calls };
}

void sites_release(struct sites *s)
{
	vec_for_each (&s->all, struct site, site) {
		hist_release(&site->sleeps);
		vec_release(&site->waits);
	}
	vec_release(&s->all);
	vec_release(&s->cells);
	vec_release(&s->asleep);
	vec_release(&s->stacks);
	map_release(&s->stack_of);
	map_release(&s->traced);
	map_release(&s->by_frames);
	map_release(&s->last_at);
	vec_release(&s->visits);
	map_release(&s->visits_of);
	map_release(&s->cell_of);
	map_release(&s->site_of);
	strtab_release(&s->names);
}

static const struct meta_frame *frame_of(const struct meta *meta, const struct meta_stack *stack,
					 uint32_t i)
{
	return i < stack->n_frames && stack->frames[i] < meta->frames.n
		       ? &meta->frames.data[stack->frames[i]]
		       : NULL;
}

/*
 * What the program called, whatever the library that it is in calls itself, which is no business of
 * the reader's: the name that the first place outside of the library calls. NULL: it sleeps in the
 * program itself, or how it came to the library is not known; else its caller's place in the stack.
 */
static const char *called(const struct meta *meta, const struct meta_stack *stack, uint32_t *caller)
{
	const struct meta_frame *first = frame_of(meta, stack, 0), *f = first;
	uint32_t i = 0;

	while (f && !strcmp(f->object, first->object))
		f = frame_of(meta, stack, ++i);
	if (!f || !*f->calls)
		return NULL;
	*caller = i;
	return f->calls;
}

/* Where its function has no name, the place in the file. */
static void name_frame(const struct meta_frame *f, struct text *name)
{
	if (f && *f->symbol)
		text_add(name, f->symbol);
	else if (f && *f->object)
		text_printf(name, "%s+0x%" PRIx64, text_base_name(f->object), f->offset);
	else
		text_add(name, "?");
}

/* "pthread_cond_wait in queue_pop in worker": not the same library's start of the thread. */
static void name_stack(const struct meta *meta, uint32_t id, struct text *name)
{
	const struct meta_stack *stack = &meta->stacks.data[id];
	const struct meta_frame *first = frame_of(meta, stack, 0);
	uint32_t i = 0, named = 0;
	const char *function = called(meta, stack, &i);
	bool wrapped = false;

	if (function) {
		text_add(name, function);
		named++;
	}
	for (; i < stack->n_frames && named < SITE_FRAMES; i++) {
		const struct meta_frame *f = frame_of(meta, stack, i);

		if (i && f && !*f->object) /* an address in no file tells nothing */
			continue;
		if (function && f && !strcmp(f->object, first->object))
			continue;
		if (f && f->symbol && i + 1 < stack->n_frames && meta_frame_in_header(f)) {
			wrapped = true;
			continue;
		}
		text_add(name, named++ ? " in " : "");
		name_frame(f, name);
	}
	if (named == 1 && !function && !wrapped &&
	    stack->n_frames > 1) /* not its caller: nor the function */
		text_add(name, " in ?");
}

static bool same_frames(const struct meta *meta, uint32_t a, uint32_t b)
{
	const struct meta_stack *x = &meta->stacks.data[a], *y = &meta->stacks.data[b];

	return x->n_frames == y->n_frames &&
	       !memcmp(x->frames, y->frames, x->n_frames * sizeof(*x->frames));
}

/* Stacks may differ in addresses that have no frame; they are the same to a reader. */
static uint32_t twin_of(struct sites *s, uint32_t id, uint64_t hash)
{
	uint32_t i = map_get(&s->by_frames, hash);

	if (i == MAP_NONE || !same_frames(s->calls->threads.meta, s->stacks.data[i].stack, id))
		return MAP_NONE;
	return i;
}

static bool is_traced(const struct meta *meta, const struct meta_frame *frame)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->symbol && (!strcmp(f->symbol, frame->symbol) ||
				  (f->name && !strcmp(f->name, frame->symbol))))
			return true;
	return false;
}

static bool has_traced(const struct meta *meta, const struct meta_stack *stack)
{
	for (uint32_t i = 0; i < stack->n_frames; i++)
		if (stack->frames[i] < meta->frames.n &&
		    is_traced(meta, &meta->frames.data[stack->frames[i]]))
			return true;
	return false;
}

/* In a call that was not recorded, as one in several was: it is in the scores of its function. */
static bool is_left_out(struct sites *s, uint32_t id)
{
	const struct meta *meta = s->calls->threads.meta;
	uint32_t traced;

	if (meta_period(meta) <= 1)
		return false;
	traced = map_get(&s->traced, id);
	if (traced == MAP_NONE) {
		traced = has_traced(meta, &meta->stacks.data[id]);
		map_put(&s->traced, id, traced);
	}
	return traced;
}

static uint32_t stack_of(struct sites *s, uint32_t id)
{
	const struct meta_stack *m = &s->calls->threads.meta->stacks.data[id];
	uint32_t i = map_get(&s->stack_of, id);
	struct text name = { 0 };
	struct site_stack *stack;
	uint64_t hash;

	if (i != MAP_NONE)
		return i;
	hash = hash_bytes(m->frames, m->n_frames * sizeof(*m->frames));
	i = twin_of(s, id, hash);
	if (i != MAP_NONE) {
		map_put(&s->stack_of, id, i);
		return i;
	}
	name_stack(s->calls->threads.meta, id, &name);
	i = (uint32_t)s->stacks.n;
	map_put(&s->stack_of, id, i);
	map_put(&s->by_frames, hash, i);
	stack = vec_add(&s->stacks);
	stack->stack = id;
	stack->name = strtab_add(&s->names, name.s);
	text_release(&name);
	return i;
}

static struct site_cell *cell_of(struct sites *s, uint32_t site, uint32_t thread)
{
	uint64_t key = (uint64_t)site << 32 | thread;
	uint32_t i = map_get(&s->cell_of, key);

	if (i == MAP_NONE) {
		i = (uint32_t)s->cells.n;
		map_put(&s->cell_of, key, i);
		*vec_add(&s->cells) = (struct site_cell){ .site = site, .thread = thread };
	}
	return &s->cells.data[i];
}

/* By what is known of the futex now. */
static enum word_class class_of(const struct sites *s, const struct thread *t)
{
	uint32_t word = t->sleep.word;

	return word == SLEEP_NOBODY ? WORD_CONDITION
				    : word_judge(&s->calls->threads.futexes.all.data[word]).class;
}

static uint32_t site_of(struct sites *s, uint32_t name, const struct thread *t)
{
	uint32_t word = t->sleep.word, i = MAP_NONE;
	enum word_class class = class_of(s, t);
	uint64_t key = (uint64_t)name << 32;

	if (word != SLEEP_NOBODY)
		i = map_get(&s->site_of, key | (word + WORD_CLASSES));
	if (i != MAP_NONE)
		return i;
	if (s->all.n >= SITE_WORDS_MAX)
		word = SLEEP_NOBODY;
	key |= word == SLEEP_NOBODY ? (uint32_t) class : word + WORD_CLASSES;
	i = map_get(&s->site_of, key);
	if (i != MAP_NONE)
		return i;
	i = (uint32_t)s->all.n;
	map_put(&s->site_of, key, i);
	*vec_add(&s->all) = (struct site){ .name = name, .class = class, .word = word };
	return i;
}

static void count_visit(struct sites *s, uint32_t site, uint32_t stack)
{
	uint64_t key = (uint64_t)site << 32 | stack;
	uint32_t i = map_get(&s->visits_of, key);

	if (i == MAP_NONE) {
		i = (uint32_t)s->visits.n;
		map_put(&s->visits_of, key, i);
		*vec_add(&s->visits) = (struct site_visit){ .site = site, .stack = stack };
	}
	s->visits.data[i].sleeps++;
}

static struct site_sleep *sleep_of(struct sites *s, const struct thread *t)
{
	while (s->asleep.n <= t->index)
		(void)vec_add(&s->asleep);
	return &s->asleep.data[t->index];
}

static void fall_asleep(struct sites *s, const struct thread *t)
{
	struct site_sleep *sleep = sleep_of(s, t);

	*sleep = (struct site_sleep){ .stack = MAP_NONE, .off = t->off };
	sleep->asleep = !t->n_open && thread_sleeps(t);
	sleep->on = sleep->asleep && setclocks_any_on(t->all, t->tgid);
}

static void name_sleep(struct sites *s, const struct thread *t, uint64_t stack)
{
	const struct meta *meta = s->calls->threads.meta;
	struct site_sleep *sleep = sleep_of(s, t);

	if (sleep->asleep && stack < meta->stacks.n && meta->stacks.data[stack].n_frames &&
	    !is_left_out(s, (uint32_t)stack))
		sleep->stack = stack_of(s, (uint32_t)stack);
}

/* thread: its index + 1, 0: any */
static uint64_t futex_key(const struct thread *t, uint32_t thread)
{
	return (uint64_t)t->sleep.word << 32 | thread;
}

/* Where the same futex was waited for before; where calls are left out, it may have been in one. */
static uint32_t likely_stack(const struct sites *s, const struct thread *t)
{
	uint32_t stack;

	if (t->sleep.word == SLEEP_NOBODY || meta_period(s->calls->threads.meta) > 1)
		return MAP_NONE;
	stack = map_get(&s->last_at, futex_key(t, t->index + 1));
	return stack == MAP_NONE ? map_get(&s->last_at, futex_key(t, 0)) : stack;
}

static void remember_stack(struct sites *s, const struct thread *t, uint32_t stack)
{
	if (t->sleep.word == SLEEP_NOBODY)
		return;
	map_put(&s->last_at, futex_key(t, t->index + 1), stack);
	map_put(&s->last_at, futex_key(t, 0), stack);
}

static void wake(struct sites *s, const struct thread *t, bool ended)
{
	struct site_sleep *sleep = sleep_of(s, t);
	struct site_cell *cell;
	struct site *site;
	uint32_t index;
	uint64_t blocked, idle;

	sleep->asleep = false;
	if (!sleep->on)
		return;
	if (sleep->stack == MAP_NONE)
		sleep->stack = likely_stack(s, t);
	else
		remember_stack(s, t, sleep->stack);
	if (sleep->stack == MAP_NONE)
		return;
	sleep->on = false;
	index = site_of(s, s->stacks.data[sleep->stack].name, t);
	count_visit(s, index, sleep->stack);
	site = &s->all.data[index];
	cell = cell_of(s, index, t->index);
	wait_add(&site->waits, t, t->since_ns);
	blocked = t->off.blocked_ns - sleep->off.blocked_ns;
	idle = t->off.idle_ns - sleep->off.idle_ns;
	site->blocked_ns += blocked;
	site->idle_ns += idle;
	if (!ended) {
		site->open++;
		cell->open++;
		cell->open_ns += blocked + idle;
		return;
	}
	hist_add(&site->sleeps, blocked + idle);
	cell->sleeps++;
	cell->ns += blocked + idle;
}

/* The probes came: those who sleep since before are seen from here on. */
static void begin_watched(struct sites *s, uint64_t time_ns)
{
	for (size_t i = 0; i < s->asleep.n; i++) {
		struct thread *t = s->calls->threads.all.data[i];
		struct site_sleep *sleep = &s->asleep.data[i];

		if (!sleep->asleep || sleep->on || !setclocks_any_on(t->all, t->tgid))
			continue;
		thread_settle(t, time_ns);
		sleep->off = t->off;
		sleep->on = true;
	}
}

/* The probes went: what threads sleep in from here on is not seen. */
static void end_unwatched(struct sites *s, uint64_t time_ns)
{
	for (size_t i = 0; i < s->asleep.n; i++) {
		struct thread *t = s->calls->threads.all.data[i];

		if (!s->asleep.data[i].on || setclocks_any_on(t->all, t->tgid))
			continue;
		thread_settle(t, time_ns);
		wake(s, t, false);
		s->asleep.data[i].on = false;
	}
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct sites *s = self;

	if (r->kind == REC_SET_ON)
		begin_watched(s, r->time_ns);
	if (r->kind == REC_SET_OFF)
		end_unwatched(s, r->time_ns);
	if (!t)
		return;
	switch (r->kind) {
	case REC_SWITCH_OUT:
		fall_asleep(s, t);
		break;
	case REC_BLOCK_STACK:
		name_sleep(s, t, r->values[0]);
		break;
	case REC_SWITCH_IN:
		wake(s, t, true);
		break;
	case REC_TASK_EXIT:
		wake(s, t, false);
		break;
	default:
		break;
	}
}

/* Sleeps across a loss may have been several. */
static void on_unseen(void *self, const struct thread *t)
{
	sleep_of(self, t)->asleep = sleep_of(self, t)->on = false;
}

static void sum_up_cell(struct sites *s, const struct ended_threads *e, uint32_t i)
{
	const struct site_cell from = s->cells.data[i];
	const struct threads *th = &s->calls->threads;
	struct site_cell *to;

	if (!from.sleeps && !from.open)
		return;
	to = cell_of(s, from.site, e->into->index);
	to->sleeps += from.sleeps;
	to->ns += from.ns;
	to->open += from.open;
	to->open_ns += from.open_ns;
	to->ended++;
	to->ended_observed_ns += thread_watched_ns(th, th->all.data[from.thread]);
	s->cells.data[i] = (struct site_cell){ .site = from.site, .thread = from.thread };
}

static void on_sum_up(void *self, const struct ended_threads *e)
{
	struct sites *s = self;

	for (uint32_t i = 0, n = (uint32_t)s->cells.n; i < n; i++)
		if (e->is_one[s->cells.data[i].thread])
			sum_up_cell(s, e, i);
	vec_for_each (&s->all, struct site, site)
		ended_rename_wakers(e, &site->waits);
	for (size_t k = 0; k < e->n; k++)
		if (e->threads[k]->index < s->asleep.n)
			s->asleep.data[e->threads[k]->index] = (struct site_sleep){ 0 };
}

struct call_visitor sites_visitor(struct sites *s)
{
	return (struct call_visitor){
		.self = s, .record = on_record, .unseen = on_unseen, .sum_up = on_sum_up
	};
}

void sites_end(struct sites *s)
{
	for (size_t i = 0; i < s->asleep.n; i++)
		wake(s, s->calls->threads.all.data[i], false);
}
