/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/site.h"
#include "base/text.h"
#include "trace/meta.h"
#include "trace/record.h"

#define NAMED_FRAMES 3 /* frames of a stack that make its name */

void sites_init(struct sites *s, const struct calls *calls)
{
	*s = (struct sites){ .calls = calls };
}

void sites_release(struct sites *s)
{
	vec_for_each (&s->all, struct site, site)
		hist_release(&site->sleeps);
	vec_release(&s->all);
	vec_release(&s->cells);
	vec_release(&s->asleep);
	map_release(&s->by_stack);
	map_release(&s->cell_of);
	arena_release(&s->arena);
}

static uint32_t site_of(struct sites *s, uint32_t stack)
{
	uint32_t i = map_get(&s->by_stack, stack);

	if (i == MAP_NONE) {
		i = (uint32_t)s->all.n;
		map_put(&s->by_stack, stack, i);
		*vec_add(&s->all) = (struct site){ .stack = stack };
	}
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

static struct site_sleep *sleep_of(struct sites *s, const struct thread *t)
{
	while (s->asleep.n <= t->index)
		(void)vec_add(&s->asleep);
	return &s->asleep.data[t->index];
}

static void fall_asleep(struct sites *s, const struct thread *t)
{
	struct site_sleep *sleep = sleep_of(s, t);

	*sleep = (struct site_sleep){ .site = MAP_NONE, .off = t->off };
	sleep->on = !t->n_open && (t->state == THREAD_SLEEPING || t->state == THREAD_BLOCKED);
}

static void name_sleep(struct sites *s, const struct thread *t, uint64_t stack)
{
	const struct meta *meta = s->calls->threads.meta;
	struct site_sleep *sleep = sleep_of(s, t);

	if (sleep->on && stack < meta->stacks.n && meta->stacks.data[stack].n_frames)
		sleep->site = site_of(s, (uint32_t)stack);
}

static void wake(struct sites *s, const struct thread *t, bool ended)
{
	struct site_sleep *sleep = sleep_of(s, t);
	struct site_cell *cell;
	struct site *site;
	uint64_t blocked, idle;

	if (!sleep->on || sleep->site == MAP_NONE)
		return;
	sleep->on = false;
	site = &s->all.data[sleep->site];
	cell = cell_of(s, sleep->site, t->index);
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

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	(void)self, (void)t, (void)c;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct sites *s = self;

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
static void on_lost(void *self, const struct thread *t, uint64_t count, uint64_t loss)
{
	(void)count, (void)loss;
	sleep_of(self, t)->on = false;
}

struct call_visitor sites_visitor(struct sites *s)
{
	return (struct call_visitor){
		.self = s, .call = on_call, .record = on_record, .lost = on_lost
	};
}

void sites_end(struct sites *s)
{
	for (size_t i = 0; i < s->asleep.n; i++)
		wake(s, s->calls->threads.all.data[i], false);
}

/* "pthread_cond_wait in queue_pop in worker" */
static const char *name_of(struct sites *s, const struct site *site)
{
	const struct meta *meta = s->calls->threads.meta;
	const struct meta_stack *stack = &meta->stacks.data[site->stack];
	struct text name = { 0 };
	const char *kept;

	for (uint32_t i = 0; i < stack->n_frames && i < NAMED_FRAMES; i++) {
		uint32_t id = stack->frames[i];
		const struct meta_frame *f = id < meta->frames.n ? &meta->frames.data[id] : NULL;

		text_add(&name, i ? " in " : "");
		text_add(&name, f && f->symbol && *f->symbol ? f->symbol : "?");
	}
	kept = arena_strdup(&s->arena, name.s ? name.s : "?");
	text_release(&name);
	return kept;
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
	b->min_ns = h->min;
	b->p50_ns = hist_quantile(h, 0.5);
	b->p90_ns = hist_quantile(h, 0.9);
	b->p99_ns = hist_quantile(h, 0.99);
	b->max_ns = h->max;
	b->shapes = 1;
}

static double excess_of(const struct site_cell *c, const struct site *site, double *open)
{
	double min = (double)site->sleeps.min;

	*open = (double)c->open_ns - (double)c->open * min;
	if (*open < 0 || !site->sleeps.count)
		*open = 0;
	return (double)c->ns - (double)c->sleeps * min + *open;
}

static void add_cell(struct sites *s, struct block *b, const struct site_cell *c,
		     const struct block_options *o)
{
	const struct threads *th = &s->calls->threads;
	double observed = (double)thread_watched_ns(th, th->all.data[c->thread]);
	double open, excess = excess_of(c, &s->all.data[c->site], &open);

	b->threads++;
	b->observed_ns += (uint64_t)observed;
	b->excess_ns += (uint64_t)(excess + 0.5);
	b->open_ns += (uint64_t)(open + 0.5);
	if (observed > 0 && observed >= 0.01 * (double)o->duration_ns &&
	    !(excess / observed <= b->sci_worst_thread))
		b->sci_worst_thread = excess / observed;
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
	b->fit = (struct workload_fit){ NAN, NAN, NAN, NAN };
	b->off_known = true;
	b->off_cpu_ns = excess;
	if (slept > 0) {
		b->pools[POOL_BLOCKED] = excess * (double)site->blocked_ns / slept;
		b->pools[POOL_IDLE] = excess * (double)site->idle_ns / slept;
	}
	b->verdict = block_verdict(b);
	causes_find(b, NULL);
}

void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns)
{
	size_t first = blocks->n;
	double open;

	for (size_t i = 0; i < s->all.n; i++) {
		struct block *b = vec_add(blocks);

		b->kind = BLOCK_SITE;
		b->id = s->all.data[i].stack;
		b->name = name_of(s, &s->all.data[i]);
		b->sci_worst_thread = NAN;
		copy_sums(b, &s->all.data[i]);
	}
	vec_for_each (&s->cells, const struct site_cell, c)
		add_cell(s, &blocks->data[first + c->site], c, o);
	for (size_t i = 0; i < s->all.n; i++)
		score(&blocks->data[first + i], &s->all.data[i], o);
	vec_for_each (&s->cells, const struct site_cell, c)
		if (blocks->data[first + c->site].verdict == VERDICT_INTERFERENCE)
			lost_ns[c->thread] += excess_of(c, &s->all.data[c->site], &open);
}
