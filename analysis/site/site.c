/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/site/site.h"
#include "analysis/site/name.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/verdict.h"
#include "analysis/score/pools.h"
#include "analysis/threads/setclock.h"
#include "analysis/threads/standard.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

void sites_init(struct sites *s, const struct calls *calls)
{
	*s = (struct sites){ .calls = calls };
	s->entered = xcalloc(calls->n_functions + 1, sizeof(*s->entered));
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
	free(s->entered);
	vec_release(&s->stacks);
	map_release(&s->stack_of);
	map_release(&s->traced);
	map_release(&s->by_frames);
	map_release(&s->last_at);
	vec_release(&s->visits);
	map_release(&s->visits_of);
	map_release(&s->cell_of);
	map_release(&s->site_of);
	map_release(&s->path_of);
	vec_release(&s->paths);
	strtab_release(&s->names);
}

/* Returns the path of the stack. A program decides how many paths there are, so those beyond
 * SITE_PATHS_MAX are cut to SITE_FRAMES. */
static uint32_t path_of(struct sites *s, uint32_t id)
{
	struct site_path path;
	uint32_t i, *last = &path.names[SITE_DEPTHS - 1];

	site_name(s->calls->threads.meta, id, &s->names, &path);
	if (s->paths.n >= SITE_PATHS_MAX && map_get(&s->path_of, *last) == MAP_NONE)
		for (unsigned d = 1; d < SITE_DEPTHS; d++)
			path.names[d] = path.names[0];
	i = map_get(&s->path_of, *last);
	if (i == MAP_NONE) {
		i = (uint32_t)s->paths.n;
		*vec_add(&s->paths) = path;
		map_put(&s->path_of, *last, i);
	}
	return i;
}

static bool same_frames(const struct meta *meta, uint32_t a, uint32_t b)
{
	const struct meta_stack *x = &meta->stacks.data[a], *y = &meta->stacks.data[b];

	return x->n_frames == y->n_frames &&
	       !memcmp(x->frames, y->frames, x->n_frames * sizeof(*x->frames));
}

/* Returns the stack with the same frames, or MAP_NONE. Stacks that differ only in addresses without
 * a frame look the same to a reader. */
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
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (f && is_traced(meta, f))
			return true;
	}
	return false;
}

/* Returns whether the sleep is in a call that sampling left out. The scores of that call's function
 * include it. */
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
	i = (uint32_t)s->stacks.n;
	map_put(&s->stack_of, id, i);
	map_put(&s->by_frames, hash, i);
	stack = vec_add(&s->stacks);
	stack->stack = id;
	stack->path = path_of(s, id);
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

/* Returns what the standard function that the thread sleeps in waits for. */
static enum futex_class class_of_stack(const struct sites *s, const struct thread *t)
{
	const struct meta *meta = s->calls->threads.meta;

	if (!t->sleep.stack)
		return FUTEX_CONDITION;
	switch (standard_wait_in(meta, &meta->stacks.data[t->sleep.stack - 1])) {
	case STANDARD_LOCK:
	case STANDARD_INTERPRETER:
		return FUTEX_LOCK;
	case STANDARD_BARRIER:
		return FUTEX_BARRIER;
	default:
		return FUTEX_CONDITION;
	}
}

/* Returns the class of the futex, as far as it is known now. Without a record of the futex, as of
 * the first and the last sleep of a recording, the function tells. */
static enum futex_class class_of(const struct sites *s, const struct thread *t)
{
	uint32_t word = t->sleep.word;

	return word == SLEEP_NOBODY ? class_of_stack(s, t)
				    : futex_judge(&s->calls->threads.futexes.all.data[word]).class;
}

static uint32_t site_of(struct sites *s, uint32_t path, uint32_t inside, const struct thread *t)
{
	uint32_t word = t->sleep.word, i = MAP_NONE;
	enum futex_class class = class_of(s, t);
	uint64_t key =
		(uint64_t)path << 32 ^ (inside ? hash_u64(inside) & ~(uint64_t)UINT32_MAX : 0);

	if (word != SLEEP_NOBODY)
		i = map_get(&s->site_of, key | (word + FUTEX_CLASSES));
	if (i != MAP_NONE)
		return i;
	if (s->all.n >= SITE_WORDS_MAX)
		word = SLEEP_NOBODY;
	key |= word == SLEEP_NOBODY ? (uint32_t) class : word + FUTEX_CLASSES;
	i = map_get(&s->site_of, key);
	if (i != MAP_NONE)
		return i;
	i = (uint32_t)s->all.n;
	map_put(&s->site_of, key, i);
	*vec_add(&s->all) =
		(struct site){ .path = path, .inside = inside, .class = class, .word = word };
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

/* Returns whether the function may still have too few calls for a verdict at the end. */
static bool is_seldom(const struct sites *s, uint32_t id)
{
	return id < s->calls->n_functions && s->entered[id] < CALLS_MIN;
}

static void fall_asleep(struct sites *s, const struct thread *t)
{
	struct site_sleep *sleep = sleep_of(s, t);
	const struct call *innermost = t->n_open ? &t->open[t->n_open - 1] : NULL;

	*sleep = (struct site_sleep){ .stack = MAP_NONE,
				      .inside = innermost ? innermost->id + 1 : 0,
				      .off = t->off,
				      .since_ns = t->sleep.since_ns };
	sleep->asleep = thread_sleeps(t) && (!innermost || is_seldom(s, innermost->id));
	sleep->on = sleep->asleep && setclocks_any_on(t->all, t->tgid);
}

static void name_sleep(struct sites *s, const struct thread *t, uint64_t stack)
{
	const struct meta_stack *known = meta_stack(s->calls->threads.meta, stack);
	struct site_sleep *sleep = sleep_of(s, t);

	if (sleep->asleep && known && known->n_frames && !is_left_out(s, (uint32_t)stack))
		sleep->stack = stack_of(s, (uint32_t)stack);
}

/* thread: the index + 1, or 0 for any thread */
static uint64_t futex_key(const struct thread *t, uint32_t thread)
{
	return (uint64_t)t->sleep.word << 32 | thread;
}

/* Returns a key for the thread's waits of this kind in this system call, which differs from the
 * keys of futexes. */
static uint64_t kind_key(const struct thread *t)
{
	const uint64_t of_kinds = (uint64_t)SLEEP_NOBODY << 32;

	return of_kinds ^ (uint64_t)(t->sleep.call & 0xffff) << 40 ^ (uint64_t)t->sleep.kind << 56 ^
	       (t->index + 1);
}

/* Returns whether a system call waits for something other than a futex. Page faults do not count:
 * they can be anywhere. */
static bool is_call(const struct sleep *sleep)
{
	return sleep->call && sleep->kind != WAIT_FUTEX && sleep->kind != WAIT_PAGE_FAULT;
}

/*
 * Returns the stack of an earlier wait for the same futex, or of the thread's earlier wait in the
 * same system call, or MAP_NONE if there is none. If sampling leaves calls out, the wait may have
 * been in one of those.
 */
static uint32_t likely_stack(const struct sites *s, const struct thread *t)
{
	uint32_t stack;

	if (meta_period(s->calls->threads.meta) > 1)
		return MAP_NONE;
	if (t->sleep.word == SLEEP_NOBODY)
		return is_call(&t->sleep) ? map_get(&s->last_at, kind_key(t)) : MAP_NONE;
	stack = map_get(&s->last_at, futex_key(t, t->index + 1));
	return stack == MAP_NONE ? map_get(&s->last_at, futex_key(t, 0)) : stack;
}

static void remember_stack(struct sites *s, const struct thread *t, uint32_t stack)
{
	if (t->sleep.word == SLEEP_NOBODY) {
		if (is_call(&t->sleep))
			map_put(&s->last_at, kind_key(t), stack);
		return;
	}
	map_put(&s->last_at, futex_key(t, t->index + 1), stack);
	map_put(&s->last_at, futex_key(t, 0), stack);
}

static void wake(struct sites *s, const struct thread *t, bool ended)
{
	struct site_sleep *sleep = sleep_of(s, t);
	/* if not, it ended while switches had no records */
	bool same = t->sleep.since_ns == sleep->since_ns;
	const struct offcpu *until = same ? &t->off : &sleep->left;
	struct site_cell *cell;
	struct site *site;
	uint32_t index;
	uint64_t blocked, idle;

	sleep->asleep = false;
	if (!sleep->on)
		return;
	if (same && sleep->stack == MAP_NONE)
		sleep->stack = likely_stack(s, t);
	else if (same)
		remember_stack(s, t, sleep->stack);
	if (sleep->stack == MAP_NONE)
		return;
	sleep->on = false;
	index = site_of(s, s->stacks.data[sleep->stack].path, sleep->inside, t);
	count_visit(s, index, sleep->stack);
	site = &s->all.data[index];
	cell = cell_of(s, index, t->index);
	if (same)
		wait_add(&site->waits, t, t->since_ns);
	blocked = until->blocked_ns - sleep->off.blocked_ns;
	idle = until->idle_ns - sleep->off.idle_ns;
	site->blocked_ns += blocked;
	site->idle_ns += idle;
	if (!ended || !same) {
		site->open++;
		cell->open++;
		cell->open_ns += blocked + idle;
		return;
	}
	hist_add(&site->sleeps, blocked + idle);
	cell->sleeps++;
	cell->ns += blocked + idle;
}

/* Begins a time with probes. Threads that already sleep are seen from here on. */
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

/* Ends a time with probes. From here on, sleeps are not attributed. */
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

/* Switches have no records from here on. Sleeps may go on: what they were so far is kept. */
static void note_left(struct sites *s)
{
	for (size_t i = 0; i < s->asleep.n; i++)
		s->asleep.data[i].left = s->calls->threads.all.data[i]->off;
}

static void on_enter(void *self, const struct thread *t, const struct call *c)
{
	struct sites *s = self;

	(void)t;
	if (c->id < s->calls->n_functions)
		s->entered[c->id]++;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct sites *s = self;

	if (r->kind == REC_SET_ON)
		begin_watched(s, r->time_ns);
	if (r->kind == REC_SET_OFF)
		end_unwatched(s, r->time_ns);
	if (r->kind == REC_SWITCHES_OFF)
		note_left(s);
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

/* Ends the sleep at a loss, because it may have been several sleeps. After a time without records
 * of switches, the thread's next record tells whether it was (analysis/threads/unwatched.h). */
static void on_unseen(void *self, const struct thread *t)
{
	if (t->doubtful)
		return;
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
	return (struct call_visitor){ .self = s,
				      .enter = on_enter,
				      .record = on_record,
				      .unseen = on_unseen,
				      .sum_up = on_sum_up };
}

void sites_end(struct sites *s)
{
	for (size_t i = 0; i < s->asleep.n; i++)
		wake(s, s->calls->threads.all.data[i], false);
}

/* ---- what was gathered becomes blocks ---- */

#define IDLE_MUCH 0.01 /* threads that wait for work; fewer are not worth a verdict */
/* Few waits at a futex show a lock or a barrier only if a standard function says so, of nearly all
 * of their time. */
#define FEW_CERTAIN 0.98
/* Stacks get different names if each path, and all other paths together, have at least a tenth of
 * the time. */
#define WAY_LEAST 10

/*
 * Returns how long a sleep takes at best: the shortest one that was seen, or 0 at a lock and at a
 * barrier, where a thread at best need not sleep. Nor need it between tries for a lock, where a
 * sleep is as long as the program asks for.
 */
static uint64_t shortest(const struct site *site)
{
	return site->free ? 0 : site->sleeps.min;
}

static void copy_sums(struct block *b, const struct site *site)
{
	const struct hist *h = &site->sleeps;

	b->calls = h->count + site->open;
	b->timed_calls = h->count;
	b->open_calls = site->open;
	b->estimated_calls = BLOCK_NONE;
	b->total_ns = b->min_ns = b->p50_ns = b->p90_ns = b->p99_ns = b->max_ns = BLOCK_NONE;
	if (!h->count)
		return;
	b->total_ns = h->sum;
	b->min_ns = shortest(site);
	b->p50_ns = hist_quantile(h, 0.5);
	b->p90_ns = hist_quantile(h, 0.9);
	b->p99_ns = hist_quantile(h, 0.99);
	b->max_ns = h->max;
	b->shapes = 1;
}

/* Returns the part of the site's lost time that threads spent waiting for locks and at barriers, if
 * the evidence for that is at least so certain. */
static double free_at_best(const struct sites *s, const struct site *site, double certain)
{
	static const char *const kinds[] = { "lock", "barrier" };
	double sum = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct wait_part part = wait_part(&s->calls->threads, &site->waits, kinds[i]);

		if (part.confidence >= certain)
			sum += part.lost_share;
	}
	return sum;
}

static double excess_of(const struct site_cell *c, const struct site *site, double *open)
{
	double min = (double)shortest(site);

	*open = (double)c->open_ns - (double)c->open * min;
	if (*open < 0 || !site->sleeps.count)
		*open = 0;
	return (double)c->ns - (double)c->sleeps * min + *open;
}

static void add_cell(struct sites *s, struct block *b, const struct site_cell *c,
		     const struct block_options *o)
{
	const struct threads *th = &s->calls->threads;
	double observed = c->ended ? (double)c->ended_observed_ns
				   : (double)thread_watched_ns(th, th->all.data[c->thread]);
	double open, excess = excess_of(c, &s->all.data[c->site], &open);

	if (!c->sleeps && !c->open)
		return;
	b->threads += c->ended ? (uint32_t)c->ended : 1;
	b->observed_ns += (uint64_t)observed;
	if (!c->ended) {
		b->free_ns += thread_free_ns(th, th->all.data[c->thread]);
		b->asked_ns += thread_asked_ns(th, th->all.data[c->thread]);
	}
	b->excess_ns += (uint64_t)(excess + 0.5);
	b->open_ns += (uint64_t)(open + 0.5);
	if (!c->ended && observed > 0 && observed >= 0.01 * (double)o->duration_ns &&
	    !(excess / observed <= b->sci_worst_thread))
		b->sci_worst_thread = excess / observed;
}

/* Counts the waits for work as idle. They have no baseline, so all of their time is idle, however
 * few they are. */
static void count_as_idle(struct block *b, const struct site *site, const struct block_options *o)
{
	if (!o->duration_ns)
		return;
	b->idle_threads = (double)site->idle_ns / (double)o->duration_ns;
	if (b->verdict == VERDICT_TOO_FEW_CALLS && b->idle_threads >= IDLE_MUCH)
		b->verdict = VERDICT_IDLE;
}

static void score(struct block *b, const struct site *site, const struct block_options *o)
{
	double observed = (double)b->observed_ns, excess = (double)b->excess_ns;
	double slept = (double)(site->blocked_ns + site->idle_ns);

	b->self_excess_ns = b->excess_ns;
	b->self_min_ns = b->min_ns;
	b->sci = site->sleeps.count && observed > 0 ? excess / observed : NAN;
	b->sci_low = b->sci_high = b->self_sci = b->sci_by_shape = b->sci;
	b->lost_threads = o->duration_ns ? excess / (double)o->duration_ns : NAN;
	b->floor = 0;
	b->fit = workload_no_fit();
	b->off_known = true;
	b->off_cpu_ns = excess;
	if (slept > 0) {
		b->pools[POOL_BLOCKED] = excess * (double)site->blocked_ns / slept;
		b->pools[POOL_IDLE] = excess * (double)site->idle_ns / slept;
	}
	block_set_idle(b, o->duration_ns);
	b->verdict = block_verdict(b);
	if (site->idle)
		count_as_idle(b, site, o);
	causes_find(b, b->all_threads->meta);
}

static void reconsider(struct site *site, const struct threads *th)
{
	struct offcpu off = { .blocked_ns = site->blocked_ns, .idle_ns = site->idle_ns };

	offcpu_shift(&off, wait_reconsider(th, &site->waits));
	site->blocked_ns = off.blocked_ns;
	site->idle_ns = off.idle_ns;
}

/* ---- parts become whole sites ---- */

static uint64_t whole_key(uint32_t name, enum futex_class class, bool idle)
{
	return (uint64_t)name << 32 | (uint32_t) class * 2 | idle;
}

static void add_part(struct site *whole, struct site *part)
{
	hist_merge(&whole->sleeps, &part->sleeps);
	wait_merge(&whole->waits, &part->waits);
	whole->blocked_ns += part->blocked_ns;
	whole->idle_ns += part->idle_ns;
	whole->open += part->open;
	hist_release(&part->sleeps);
	vec_release(&part->waits);
}

static void judge_part(struct site *part, const struct threads *th)
{
	reconsider(part, th);
	if (part->word != SLEEP_NOBODY)
		part->class = futex_judge(&th->futexes.all.data[part->word]).class;
	part->idle = part->idle_ns > part->blocked_ns;
}

static uint64_t slept_ns(const struct site *site)
{
	return site->blocked_ns + site->idle_ns;
}

struct shares {
	struct map of; /* whole_key -> index */
	struct {
		VEC(uint64_t)
	} ns;
};

static uint64_t *share_of(struct shares *x, uint32_t name, const struct site *part)
{
	uint64_t key = whole_key(name, part->class, part->idle);
	uint32_t i = map_get(&x->of, key);

	if (i == MAP_NONE) {
		i = (uint32_t)x->ns.n;
		map_put(&x->of, key, i);
		*vec_add(&x->ns) = 0;
	}
	return &x->ns.data[i];
}

/* Gives parts with the same name longer names if their stacks differ at that depth and no path has
 * nearly all of the time. */
static void name_deeper(struct sites *s, unsigned depth, uint64_t least_ns)
{
	struct shares shorter = { 0 }, longer = { 0 };

	vec_for_each (&s->all, const struct site, part) {
		const uint32_t *names = s->paths.data[part->path].names;

		if (part->name != names[depth])
			continue;
		*share_of(&shorter, names[depth], part) += slept_ns(part);
		*share_of(&longer, names[depth + 1], part) += slept_ns(part);
	}
	vec_for_each (&s->all, struct site, part) {
		const uint32_t *names = s->paths.data[part->path].names;
		uint64_t all, own;

		if (part->name != names[depth])
			continue;
		all = *share_of(&shorter, names[depth], part);
		own = *share_of(&longer, names[depth + 1], part);
		if (all >= least_ns && own >= all / WAY_LEAST && own <= all - all / WAY_LEAST)
			part->name = names[depth + 1];
	}
	map_release(&shorter.of);
	map_release(&longer.of);
	vec_release(&shorter.ns);
	vec_release(&longer.ns);
}

static unsigned depth_of(const struct site_path *path, uint32_t name)
{
	unsigned depth = 0;

	while (depth + 1 < SITE_DEPTHS && path->names[depth] != name)
		depth++;
	return depth;
}

/* If several blocks begin with the same functions, adds one more function to each name: the one
 * that took nearly all of its time. */
static void report_more(struct sites *s)
{
	struct shares shortest = { 0 }, whole = { 0 }, longer = { 0 };

	vec_for_each (&s->all, struct site, part) {
		const struct site_path *path = &s->paths.data[part->path];
		unsigned depth = depth_of(path, part->name), next = depth + 1 < SITE_DEPTHS;
		const struct site any = { 0 };

		part->said = path->names[depth + next];
		if (!*share_of(&whole, part->name, part))
			++*share_of(&shortest, path->names[0], &any);
		*share_of(&whole, part->name, part) += slept_ns(part) + 1;
		*share_of(&longer, part->said, part) += slept_ns(part) + 1;
	}
	vec_for_each (&s->all, struct site, part) {
		const struct site any = { 0 };
		uint64_t all = *share_of(&whole, part->name, part);

		if (*share_of(&shortest, s->paths.data[part->path].names[0], &any) < 2 ||
		    *share_of(&longer, part->said, part) < all - all / WAY_LEAST)
			part->said = part->name;
	}
	map_release(&shortest.of);
	map_release(&whole.of);
	map_release(&longer.of);
	vec_release(&shortest.ns);
	vec_release(&whole.ns);
	vec_release(&longer.ns);
}

static void name_parts(struct sites *s, uint64_t duration_ns)
{
	vec_for_each (&s->all, struct site, part) {
		judge_part(part, &s->calls->threads);
		part->name = s->paths.data[part->path].names[0];
	}
	for (unsigned depth = 0; depth + 1 < SITE_DEPTHS; depth++)
		name_deeper(s, depth, (uint64_t)(IDLE_MUCH * (double)duration_ns));
	report_more(s);
}

/* Joins the parts of each site. The joined sites come first, and whole_of[part] is their index. */
static void join_parts(struct sites *s, uint32_t *whole_of, uint64_t duration_ns)
{
	uint32_t n = 0;

	map_release(&s->site_of);
	name_parts(s, duration_ns);
	for (uint32_t i = 0; i < s->all.n; i++) {
		struct site part = s->all.data[i];
		uint64_t key;

		key = whole_key(part.name, part.class, part.idle);
		whole_of[i] = map_get(&s->site_of, key);
		if (whole_of[i] != MAP_NONE) {
			if (s->all.data[whole_of[i]].said == part.name)
				s->all.data[whole_of[i]].said = part.said;
			add_part(&s->all.data[whole_of[i]], &part);
			continue;
		}
		map_put(&s->site_of, key, n);
		part.word = SLEEP_NOBODY;
		s->all.data[n] = part;
		whole_of[i] = n++;
	}
	s->all.n = n;
}

/* Joins the rows of (site, thread) whose sites were joined. */
static void join_cells(struct sites *s, const uint32_t *whole_of)
{
	size_t n = 0;

	map_release(&s->cell_of);
	vec_for_each (&s->cells, struct site_cell, from) {
		uint64_t key = (uint64_t)whole_of[from->site] << 32 | from->thread;
		uint32_t i = map_get(&s->cell_of, key);

		if (i == MAP_NONE) {
			map_put(&s->cell_of, key, (uint32_t)n);
			s->cells.data[n] = *from;
			s->cells.data[n++].site = whole_of[from->site];
			continue;
		}
		s->cells.data[i].sleeps += from->sleeps;
		s->cells.data[i].ns += from->ns;
		s->cells.data[i].open += from->open;
		s->cells.data[i].open_ns += from->open_ns;
	}
	s->cells.n = n;
}

static void join_visits(struct sites *s, const uint32_t *whole_of)
{
	size_t n = 0;

	map_release(&s->visits_of);
	vec_for_each (&s->visits, struct site_visit, from) {
		uint64_t key = (uint64_t)whole_of[from->site] << 32 | from->stack;
		uint32_t i = map_get(&s->visits_of, key);

		if (i == MAP_NONE) {
			map_put(&s->visits_of, key, (uint32_t)n);
			s->visits.data[n] = *from;
			s->visits.data[n++].site = whole_of[from->site];
			continue;
		}
		s->visits.data[i].sleeps += from->sleeps;
	}
	s->visits.n = n;
}

/* ---- sleeps in calls of functions that account for them ---- */

/* Returns whether the functions account for what their calls sleep, [id + 1]; 0: no function does.
 */
static bool *accounting(const struct sites *s, const struct blocks *functions)
{
	bool *accounts = xcalloc(s->calls->n_functions + 1, sizeof(*accounts));

	vec_for_each (functions, const struct block, b)
		if (b->id < s->calls->n_functions && b->verdict != VERDICT_TOO_FEW_CALLS)
			accounts[b->id + 1] = true;
	return accounts;
}

static void leave_out_cells(struct sites *s, const uint32_t *now)
{
	size_t n = 0;

	vec_for_each (&s->cells, struct site_cell, c) {
		if (now[c->site] == MAP_NONE)
			continue;
		s->cells.data[n] = *c;
		s->cells.data[n++].site = now[c->site];
	}
	s->cells.n = n;
	n = 0;
	vec_for_each (&s->visits, struct site_visit, v) {
		if (now[v->site] == MAP_NONE)
			continue;
		s->visits.data[n] = *v;
		s->visits.data[n++].site = now[v->site];
	}
	s->visits.n = n;
}

void sites_leave_out(struct sites *s, const struct blocks *functions)
{
	bool *accounts = accounting(s, functions);
	uint32_t *now = xcalloc(s->all.n + 1, sizeof(*now)), n = 0;

	for (uint32_t i = 0; i < s->all.n; i++) {
		struct site *part = &s->all.data[i];

		now[i] = accounts[part->inside] ? MAP_NONE : n;
		if (!accounts[part->inside]) {
			s->all.data[n++] = *part;
			continue;
		}
		hist_release(&part->sleeps);
		vec_release(&part->waits);
	}
	s->all.n = n;
	leave_out_cells(s, now);
	free(now);
	free(accounts);
}

/* ---- the sites' blocks ---- */

static bool is_there(const struct sites *s, uint32_t name, enum futex_class class, bool idle)
{
	return map_get(&s->site_of, whole_key(name, class, idle)) != MAP_NONE;
}

static bool has_other_class(const struct sites *s, const struct site *site)
{
	for (unsigned class = 0; class < FUTEX_CLASSES; class ++)
		if (class != site->class &&
		    (is_there(s, site->name, class, false) || is_there(s, site->name, class, true)))
			return true;
	return false;
}

/* Returns the site's name. One stack may have waits at locks and other waits, idle or not, so the
 * name states which. */
static const char *full_name(struct sites *s, const struct site *site)
{
	static const char *const at[FUTEX_CLASSES] = {
		[FUTEX_LOCK] = "locks",
		[FUTEX_BARRIER] = "barriers",
	};
	const char *name = strtab_get(&s->names, site->said);
	struct text full = { 0 };

	text_add(&full, name);
	if (at[site->class] && has_other_class(s, site))
		text_printf(&full, ", at %s", at[site->class]);
	if (site->said == site->name && site->idle && is_there(s, site->name, site->class, false))
		text_add(&full, ", idle");
	name = strtab_get(&s->names, strtab_add(&s->names, full.s));
	text_release(&full);
	return name;
}

void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns)
{
	uint32_t *whole_of = xcalloc(s->all.n + 1, sizeof(*whole_of));
	size_t first = blocks->n;
	double open;

	join_parts(s, whole_of, o->duration_ns);
	join_cells(s, whole_of);
	join_visits(s, whole_of);
	free(whole_of);
	vec_for_each (&s->all, struct site, site)
		site->free = wait_tried(&s->calls->threads, &site->waits) ||
			     free_at_best(s, site, 0) > 0.5;
	for (size_t i = 0; i < s->all.n; i++) {
		struct block *b = vec_add(blocks);

		b->kind = BLOCK_SITE;
		b->id = (uint32_t)i;
		b->name = full_name(s, &s->all.data[i]);
		b->sci_worst_thread = NAN;
		copy_sums(b, &s->all.data[i]);
		b->waits = &s->all.data[i].waits;
		b->all_threads = &s->calls->threads;
		b->fastest_known = free_at_best(s, &s->all.data[i], FEW_CERTAIN) > 0.5;
	}
	vec_for_each (&s->cells, const struct site_cell, c)
		add_cell(s, &blocks->data[first + c->site], c, o);
	for (size_t i = 0; i < s->all.n; i++)
		score(&blocks->data[first + i], &s->all.data[i], o);
	for (size_t i = first; i < blocks->n; i++)
		blocks->data[i].in_lost = blocks->data[i].verdict == VERDICT_INTERFERENCE;
	vec_for_each (&s->cells, const struct site_cell, c)
		if (blocks->data[first + c->site].in_lost)
			lost_ns[c->thread] += blocks->data[first + c->site].lost_share *
					      excess_of(c, &s->all.data[c->site], &open);
}
