/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/handout.h"

#include <stdlib.h>

#include "analysis/threads/threads.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/meta/meta.h"

#define FRAMES_INSIDE 4	  /* that a wait for work may be further inside than a thread's outermost */
#define NEAR_SHARE    0.9 /* of the time waited there, that is so near */
#define GIVEN_SHARE   0.25 /* of it, that threads end which do not wait there themselves */
#define MUTUAL_SHARE  0.1  /* of it, that releasers may wait for waiters, both by thread */

static uint64_t pair_key(uint32_t waiter, uint32_t waker)
{
	return (uint64_t)waiter << 32 | waker;
}

static uint64_t key_of(const struct handout *row)
{
	return hash_u64(pair_key(row->waiter, row->waker)) ^ hash_u64(~(uint64_t)row->word);
}

static struct handout *row_of(struct handouts *h, const struct handout *like)
{
	uint64_t key = key_of(like);
	uint32_t i = map_get(&h->row_of, key);

	if (i != MAP_NONE)
		return &h->rows.data[i];
	if (h->rows.n >= HANDOUTS_MAX) {
		h->full = true;
		return NULL;
	}
	map_put(&h->row_of, key, (uint32_t)h->rows.n);
	*vec_add(&h->rows) = *like;
	return vec_last(&h->rows);
}

/* Faults and the disk hold a thread up anywhere. */
static bool says_depth(const struct sleep *s)
{
	return s->stack && s->kind != WAIT_PAGE_FAULT && s->kind != WAIT_DISK &&
	       !s->uninterruptible;
}

/* Frames of the sleep's stack; 0: it is cut short, or not known. */
static uint32_t depth_of_sleep(struct thread *t)
{
	const struct meta_stack *stack;
	struct thread_depth *d = &t->depth;
	uint32_t root;

	if (!says_depth(&t->sleep))
		return 0;
	stack = &t->all->meta->stacks.data[t->sleep.stack - 1];
	if (!stack->n_frames)
		return 0;
	root = stack->frames[stack->n_frames - 1];
	if (root != d->root && stack->n_frames > d->longest)
		*d = (struct thread_depth){ .root = root };
	if (root != d->root)
		return 0;
	if (stack->n_frames > d->longest)
		d->longest = stack->n_frames;
	if (!d->shortest || stack->n_frames < d->shortest)
		d->shortest = stack->n_frames;
	return stack->n_frames;
}

void handouts_add(struct handouts *h, struct thread *t)
{
	const struct sleep *s = &t->sleep;
	uint32_t frames = depth_of_sleep(t);
	const struct handout like = { .word = s->word, .waiter = t->index, .waker = s->waker };
	struct handout *row;

	if (s->waker == SLEEP_NOBODY)
		return;
	row = row_of(h, &like);
	if (!row)
		return;
	row->ns += s->woken_ns - s->since_ns;
	if (s->stack)
		row->stack = (uint32_t)s->stack;
	if (frames && (!row->frames || frames < row->frames))
		row->frames = frames;
}

void handouts_rename(struct handouts *h, const bool *is_one, uint32_t into)
{
	for (uint32_t i = 0; i < h->rows.n; i++) {
		struct handout *row = &h->rows.data[i];

		if (!is_one[row->waiter] && !is_one[row->waker])
			continue;
		map_remove(&h->row_of, key_of(row));
		if (is_one[row->waiter])
			row->waiter = into;
		if (is_one[row->waker])
			row->waker = into;
		map_put(&h->row_of, key_of(row), i);
	}
}

/* ---- at the end ---- */

static int by_word(const void *a, const void *b)
{
	const struct handout *x = a, *y = b;

	return (x->word > y->word) - (x->word < y->word);
}

/* How long threads slept, by waiter and another number. */
struct waited {
	struct map of;
	struct {
		VEC(uint64_t)
	} ns;
};

static void add_waited(struct waited *w, uint32_t waiter, uint32_t by, uint64_t ns)
{
	uint64_t key = pair_key(waiter, by);
	uint32_t i = map_get(&w->of, key);

	if (i == MAP_NONE) {
		map_put(&w->of, key, (uint32_t)w->ns.n);
		*vec_add(&w->ns) = ns;
	} else {
		w->ns.data[i] += ns;
	}
}

static uint64_t waited_ns(const struct waited *w, uint32_t waiter, uint32_t by)
{
	uint32_t i = map_get(&w->of, pair_key(waiter, by));

	return i == MAP_NONE ? 0 : w->ns.data[i];
}

static void waited_release(struct waited *w)
{
	map_release(&w->of);
	vec_release(&w->ns);
}

/* The waits of all rows. */
struct all_waits {
	struct waited for_thread; /* by who ended it, but at locks */
	struct waited at_stack;
};

/* Of the rows of one word. */
struct sides {
	struct map waiters, wakers; /* index of a thread -> 1; wakers: that do not wait there */
	uint64_t ns, near_ns;
	uint64_t given_ns;	     /* ended by wakers */
	uint64_t back_ns, beside_ns; /* that these waited for waiters, and in the same place */
};

static void add_row(struct sides *x, const struct threads *th, const struct handout *row,
		    const struct all_waits *all)
{
	uint32_t shortest = th->all.data[row->waiter]->depth.shortest;

	x->ns += row->ns;
	if (row->frames && row->frames <= shortest + FRAMES_INSIDE)
		x->near_ns += row->ns;
	if (map_get(&x->waiters, row->waker) != MAP_NONE)
		return; /* a worker that wakes the next one */
	map_put(&x->wakers, row->waker, 1);
	x->given_ns += row->ns;
	x->back_ns += waited_ns(&all->for_thread, row->waker, row->waiter);
	x->beside_ns += row->stack ? waited_ns(&all->at_stack, row->waker, row->stack) : 0;
}

/* As long as so, thread by thread. */
static bool is_much(const struct sides *x, uint64_t ns)
{
	return (double)ns * x->waiters.n > MUTUAL_SHARE * (double)x->given_ns * x->wakers.n;
}

static enum word_work work_of(const struct threads *th, const struct handout *rows, size_t n,
			      const struct all_waits *all)
{
	struct sides x = { 0 };
	bool near, given, beside, back;

	for (size_t i = 0; i < n; i++)
		map_put(&x.waiters, rows[i].waiter, 1);
	for (size_t i = 0; i < n; i++)
		add_row(&x, th, &rows[i], all);
	near = (double)x.near_ns >= NEAR_SHARE * (double)x.ns;
	given = (double)x.given_ns >= GIVEN_SHARE * (double)x.ns;
	beside = is_much(&x, x.beside_ns);
	back = is_much(&x, x.back_ns);
	map_release(&x.waiters);
	map_release(&x.wakers);
	if (!near || !given || beside)
		return WORK_NONE;
	return back ? WORK_IN_TURN : WORK_HANDED_OUT;
}

static bool is_condition(const struct threads *th, uint32_t word)
{
	const struct word *w = &th->futexes.all.data[word];

	return word_judge(w).class == WORD_CONDITION && !word_is_end(w) &&
	       !futexes_keeps_time(&th->futexes, word);
}

/* Who waits for a lock waits for whoever has it, not for what that thread does for it. */
static bool is_at_lock(const struct threads *th, uint32_t word)
{
	return word != SLEEP_NOBODY && word_judge(&th->futexes.all.data[word]).class == WORD_LOCK;
}

/* The rows of both words of a condition variable of glibc's are those of one. */
static void join_twins(const struct threads *th, struct handouts *h)
{
	vec_for_each (&h->rows, struct handout, row)
		if (row->word != SLEEP_NOBODY)
			row->word = futexes_first_twin(&th->futexes, row->word);
	vec_sort(&h->rows, by_word);
	map_release(&h->row_of);
}

void handouts_judge(struct threads *th)
{
	struct handouts *h = &th->handouts;
	struct all_waits all = { 0 };
	const struct handout *rows = h->rows.data;

	if (h->full)
		return;
	vec_for_each (&h->rows, const struct handout, row) {
		if (!is_at_lock(th, row->word))
			add_waited(&all.for_thread, row->waiter, row->waker, row->ns);
		if (row->stack)
			add_waited(&all.at_stack, row->waiter, row->stack, row->ns);
	}
	join_twins(th, h);
	for (size_t i = 0, n; i < h->rows.n && rows[i].word != SLEEP_NOBODY; i += n) {
		for (n = 1; i + n < h->rows.n && rows[i + n].word == rows[i].word; n++)
			;
		if (is_condition(th, rows[i].word))
			futexes_set_work(&th->futexes, rows[i].word,
					 work_of(th, &rows[i], n, &all));
	}
	waited_release(&all.for_thread);
	waited_release(&all.at_stack);
}

const struct thread *handouts_giver(const struct threads *th, uint64_t *waited_ns)
{
	uint64_t *ns = xcalloc(th->all.n + 1, sizeof(*ns));
	const struct thread *giver = NULL;

	*waited_ns = 0;
	vec_for_each (&th->handouts.rows, const struct handout, row)
		if (row->word != SLEEP_NOBODY && th->futexes.all.data[row->word].work)
			ns[row->waker] += row->ns;
	vec_for_each (&th->all, struct thread *, t)
		if (*t != th->rest && ns[(*t)->index] > *waited_ns) {
			giver = *t;
			*waited_ns = ns[giver->index];
		}
	free(ns);
	return giver;
}

void handouts_release(struct handouts *h)
{
	vec_release(&h->rows);
	map_release(&h->row_of);
}
