/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/handout.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/threads/standard.h"
#include "analysis/threads/threads.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

#define FRAMES_INSIDE 4	  /* frames by which a wait for work may be deeper than the outermost one */
#define NEAR_SHARE    0.9 /* of the time waited there: that in waits so near the outermost one */
#define GIVEN_SHARE   0.25 /* of it: that ended by threads that never wait there themselves */
#define TURNS_SHARE   0.2  /* of its life: a thread that takes turns with a pool waits so long */
#define MUTUAL_SHARE  0.1  /* of it, thread by thread: releasers may in turn wait for waiters */
#define QUEUE_SHARE   0.5  /* of it: that ended by threads that wait in the same place */
#define QUEUE_SLEEPS  10   /* fewer may be a coincidence */
#define PLACE_FRAMES  8	   /* number of innermost frames that identify a place */
#define GATHER_ROUNDS 10   /* fewer may be a coincidence */
#define GATHER_SHARE  0.9  /* of the rounds: those that end more than one sleep */
#define GATHER_SPAN   0.5  /* of the time, for all rounds: queued threads wake each other always */
#define GIVER_SHARE   0.75 /* of the time waited where it gives work: with less, others give, too */
#define AS_BUSY_SHARE 0.5  /* of the time in which the giver is busy */
#define RESULTS_SHARE 0.25 /* of its life: a thread that waits less works while the others do */
#define AT_A_TIME     1.25 /* average number of threads that work while one waits for them */
#define ROUNDS_SHARE  0.25 /* of the rounds: a thread in fewer gets its work otherwise */
#define QUEUE_FRAMES  3	   /* stacks with fewer frames do not identify a place */
#define ACROSS_SHARE  0.4  /* of the sleeps: a broadcast may wake threads of both sides */

static uint64_t pair_key(uint32_t waiter, uint32_t waker)
{
	return (uint64_t)waiter << 32 | waker;
}

static uint64_t key_of(const struct handout *row)
{
	return hash_u64(pair_key(row->waiter, row->waker)) ^
	       hash_u64(~pair_key(row->place, row->word));
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

/* Returns whether the sleep's depth is meaningful. Page faults and the disk block a thread
 * anywhere. */
static bool says_depth(const struct sleep *s)
{
	return s->stack && s->kind != WAIT_PAGE_FAULT && s->kind != WAIT_DISK &&
	       !s->uninterruptible;
}

/* Returns the number of frames that are not of a standard library, at least 1. How many layers a
 * library has says nothing of what the program is in the middle of. */
static uint32_t own_frames(const struct meta *meta, const struct meta_stack *stack)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		n += !f || !(standard_is_library(f->object) || meta_frame_is_wrapper(f));
	}
	return n ? n : 1;
}

/* Returns the depth of the sleep's stack, or 0 if the stack is cut short or unknown. */
static uint32_t depth_of_sleep(struct thread *t)
{
	const struct meta_stack *stack;
	struct thread_depth *d = &t->depth;
	uint32_t root, frames;

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
	frames = own_frames(t->all->meta, stack);
	if (!d->shortest || frames < d->shortest)
		d->shortest = frames;
	return frames;
}

static uint64_t hash_frame(uint64_t hash, const struct meta_frame *f)
{
	hash = hash_u64(hash ^ hash_bytes(f->object, strlen(f->object)));
	if (!*f->symbol)
		return hash_u64(hash ^ f->offset);
	return hash_u64(hash ^ hash_bytes(f->symbol, strlen(f->symbol)));
}

/* Returns whether the code has no file and no name. Each thread may have such code of its own. */
static bool is_made_at_run_time(const struct meta_frame *f)
{
	return f && !*f->symbol && *f->object != '/';
}

static uint64_t hash_stack(const struct meta *meta, const struct meta_stack *stack)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < stack->n_frames && i < PLACE_FRAMES; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (i >= QUEUE_FRAMES && is_made_at_run_time(f))
			break;
		hash = f ? hash_frame(hash, f) : hash_u64(hash ^ stack->frames[i]);
	}
	return hash;
}

static struct handout_place new_place(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f = standard_own_function(meta, stack);

	return (struct handout_place){ .n_frames = stack->n_frames,
				       .function = f ? hash_frame(1, f) : 0 };
}

/* Returns the place of the stack, its number + 1. Stacks of the same functions have different
 * numbers in different processes, so places are compared by their functions. */
static uint32_t place_of_stack(struct handouts *h, const struct meta *meta, uint64_t stack)
{
	uint32_t place = map_get(&h->place_of, stack);
	uint64_t hash;

	if (place != MAP_NONE)
		return place;
	hash = hash_stack(meta, &meta->stacks.data[stack - 1]);
	place = map_get(&h->places, hash);
	if (place == MAP_NONE) {
		place = h->places.n + 1;
		map_put(&h->places, hash, place);
		*vec_add(&h->rounds) = new_place(meta, &meta->stacks.data[stack - 1]);
	}
	map_put(&h->place_of, stack, place);
	return place;
}

static void note_round(struct handouts *h, uint32_t place, const struct thread *t)
{
	struct handout_place *p = &h->rounds.data[place - 1];
	const struct sleep *s = &t->sleep;

	p->sleeps++;
	p->messages += s->kind == WAIT_PIPE || s->kind == WAIT_SOCKET || s->kind == WAIT_POLL;
	p->polls += s->kind == WAIT_POLL;
	if (map_get(&h->waits_at, pair_key(place, t->index)) == MAP_NONE) {
		map_put(&h->waits_at, pair_key(place, t->index), 1);
		p->waiters++;
	}
	if (p->size && s->since_ns < p->first_ns) {
		p->spans_ns += s->woken_ns - p->last_ns;
		p->last_ns = s->woken_ns;
		p->shared += ++p->size == 2;
		return;
	}
	if (!p->rounds++)
		p->since_ns = s->woken_ns;
	p->size = 1;
	p->first_ns = p->last_ns = s->woken_ns;
}

/* Returns whether threads gather at the place, as at a barrier: all waiters except the last to
 * arrive are woken together, and then none for a while. A leader that wakes only those whose work
 * it has done is in a queue. */
static bool gathers(const struct handouts *h, uint32_t place)
{
	const struct handout_place *p = place ? &h->rounds.data[place - 1] : NULL;

	return p && p->rounds >= GATHER_ROUNDS &&
	       (double)p->shared >= GATHER_SHARE * (double)p->rounds &&
	       (double)p->sleeps >= GATHER_SHARE * (double)(p->rounds * (p->waiters - 1)) &&
	       (double)p->spans_ns <= GATHER_SPAN * (double)(p->last_ns - p->since_ns);
}

void handouts_restart(struct handouts *h, uint64_t time_ns)
{
	h->shown_from_ns = time_ns;
	vec_for_each (&h->rows, struct handout, row)
		row->shown_ns = 0;
}

void handouts_add(struct handouts *h, struct thread *t)
{
	struct sleep *s = &t->sleep;
	uint32_t frames = depth_of_sleep(t);
	uint32_t place = s->stack ? place_of_stack(h, t->all->meta, s->stack) : 0;
	struct handout like = { .word = s->word, .waiter = t->index, .waker = s->waker };
	struct handout *row;

	if (s->word != SLEEP_NOBODY)
		s->side = futexes_side(&t->all->futexes, s->word, t->index, &place);
	if (s->waker == SLEEP_NOBODY)
		return;
	like.place = place;
	row = row_of(h, &like);
	if (!row)
		return;
	row->ns += s->woken_ns - s->since_ns;
	if (s->woken_ns > h->shown_from_ns)
		row->shown_ns += s->woken_ns -
				 (s->since_ns > h->shown_from_ns ? s->since_ns : h->shown_from_ns);
	row->sleeps++;
	if (row->place)
		note_round(h, row->place, t);
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

static int by_place(const void *a, const void *b)
{
	const struct handout *x = a, *y = b;

	if (x->word != y->word)
		return (x->word > y->word) - (x->word < y->word);
	return (x->place > y->place) - (x->place < y->place);
}

/* Returns how many of the sorted rows are at the same futex as the first, and in the same place. */
static size_t n_in_place(const struct handout *rows, size_t n)
{
	size_t same = 1;

	while (same < n && !by_place(&rows[same], &rows[0]))
		same++;
	return same;
}

/* Returns how many of the sorted rows are at the same futex as the first, or in the same place if
 * at none. */
static size_t n_alike(const struct handout *rows, size_t n)
{
	size_t same = 1;

	if (rows->word == SLEEP_NOBODY)
		return n_in_place(rows, n);
	while (same < n && rows[same].word == rows->word)
		same++;
	return same;
}

/* How long threads slept, by the waiter and a second number. */
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
	struct waited for_thread; /* by the thread that ended the wait, except for waits at locks */
	struct waited at_place;
	struct waited for_work; /* by the thread that ended the wait, if it gives work there */
	/* By the thread that gives work: how long those do not wait for it that are given some in
	 * many of its rounds, added up. */
	struct waited at_work;
};

/* The threads that wait at one futex, and those that wake them there. */
struct sides {
	struct map waiters,
		wakers;	 /* index of a thread -> 1; wakers are those that do not wait there */
	struct map back; /* a waker and a waiter -> 1, whose waits are in back_ns */
	uint64_t ns, near_ns;
	uint64_t given_ns;  /* waits that wakers ended */
	uint64_t beside_ns; /* of it, ended by wakers that wait in the same place */
	uint64_t back_ns;   /* how long the other wakers waited for the waiters */
	uint64_t beside_sleeps;
	double wakers_lives_ns;
};

static double life_ns(const struct threads *th, uint32_t thread)
{
	return (double)(th->all.data[thread]->end_ns - th->all.data[thread]->first_ns);
}

static bool is_new(struct map *map, uint64_t key)
{
	const bool is_known = map_get(map, key) != MAP_NONE;

	map_put(map, key, 1);
	return !is_known;
}

/* Returns whether the waker waits in the same place for a time comparable to that which others wait
 * for it. */
static bool is_beside(const struct handout *row, const struct all_waits *all)
{
	return row->place && (double)waited_ns(&all->at_place, row->waker, row->place) >
				     MUTUAL_SHARE * (double)row->ns;
}

static void add_row(struct sides *x, const struct threads *th, const struct handout *row,
		    const struct all_waits *all)
{
	uint32_t shortest = th->all.data[row->waiter]->depth.shortest;

	x->ns += row->ns;
	if (row->frames && row->frames <= shortest + FRAMES_INSIDE)
		x->near_ns += row->ns;
	if (map_get(&x->waiters, row->waker) != MAP_NONE)
		return; /* the waker is a worker that wakes the next one */
	if (is_new(&x->wakers, row->waker))
		x->wakers_lives_ns += life_ns(th, row->waker);
	x->given_ns += row->ns;
	if (is_beside(row, all)) {
		x->beside_ns += row->ns;
		x->beside_sleeps += row->sleeps;
	} else if (is_new(&x->back, pair_key(row->waker, row->waiter))) {
		x->back_ns += waited_ns(&all->for_thread, row->waker, row->waiter);
	}
}

static bool is_mostly_beside(const struct sides *x)
{
	return (double)x->beside_ns > QUEUE_SHARE * (double)x->given_ns;
}

static bool is_queue(const struct threads *th, const struct sides *x, uint32_t place)
{
	return is_mostly_beside(x) && x->beside_sleeps >= QUEUE_SLEEPS && place &&
	       th->handouts.rounds.data[place - 1].n_frames >= QUEUE_FRAMES;
}

/* Returns whether ns is a large part of the wait, compared thread by thread. */
static bool is_much(const struct sides *x, uint64_t ns)
{
	return (double)ns * x->waiters.n > MUTUAL_SHARE * (double)x->given_ns * x->wakers.n;
}

/*
 * Returns whether the wakers wait for the waiters often enough to take turns with them. Where one
 * thread gives work to a pool, most of its threads have nothing to do whether or not it waits for
 * one of them now and then: it takes turns with them if it waits for much of its life.
 */
static bool takes_turns(const struct sides *x)
{
	return is_much(x, x->back_ns) && (x->waiters.n <= x->wakers.n ||
					  (double)x->back_ns >= TURNS_SHARE * x->wakers_lives_ns);
}

/* Returns the row with the most time of those whose place is known, or the first. */
static const struct handout *main_row(const struct handout *rows, size_t n)
{
	const struct handout *most = rows;

	for (size_t i = 1; i < n; i++)
		if (rows[i].place && (!most->place || rows[i].ns > most->ns))
			most = &rows[i];
	return most;
}

static enum futex_work work_of(const struct threads *th, const struct handout *rows, size_t n,
			       const struct all_waits *all)
{
	const struct handout *most = main_row(rows, n);
	struct sides x = { 0 };
	bool near, given, beside, back;

	for (size_t i = 0; i < n; i++)
		map_put(&x.waiters, rows[i].waiter, 1);
	for (size_t i = 0; i < n; i++)
		add_row(&x, th, &rows[i], all);
	near = (double)x.near_ns >= NEAR_SHARE * (double)x.ns;
	given = (double)x.given_ns >= GIVEN_SHARE * (double)x.ns;
	beside = is_mostly_beside(&x);
	back = takes_turns(&x);
	map_release(&x.waiters);
	map_release(&x.wakers);
	map_release(&x.back);
	if (given && is_queue(th, &x, most->place))
		return gathers(&th->handouts, most->place) ? WORK_GATHER : WORK_QUEUE;
	if (!near || !given || beside)
		return WORK_NONE;
	return back ? WORK_IN_TURN : WORK_HANDED_OUT;
}

static bool is_condition(const struct threads *th, uint32_t word)
{
	const struct futex *w = &th->futexes.all.data[word];

	return futex_judge(w).class == FUTEX_CONDITION && !futex_is_end(w);
}

static bool is_given(enum futex_work work)
{
	return work == WORK_HANDED_OUT || work == WORK_IN_TURN || work == WORK_ROUNDS;
}

/* Notes what the waits are for that the rows stand for, of a futex or of one place of it. */
static void set_work(struct threads *th, const struct handout *rows, enum futex_work work)
{
	struct handouts *h = &th->handouts;

	if (map_get(&h->split, rows->word) == MAP_NONE) {
		futexes_set_work(&th->futexes, rows->word, work);
		return;
	}
	map_put(&h->work_of_side, pair_key(rows->word, rows->place), work);
	if (is_given(work))
		map_put(&h->split, rows->word, SPLIT_GIVES);
}

/* Judges the futex of the rows, or their place of it. A thread that wakes up by itself from time to
 * time to do something is as idle until then as one that waits for work, but no other thread limits
 * it. */
static void judge_word(struct threads *th, const struct handout *rows, size_t n,
		       const struct all_waits *all)
{
	enum futex_work work = work_of(th, rows, n, all);

	if (futexes_keeps_time(&th->futexes, rows->word))
		work = work == WORK_HANDED_OUT ? WORK_OR_TIME : WORK_NONE;
	set_work(th, rows, work);
}

static void split(struct threads *th, uint32_t word)
{
	if (map_get(&th->handouts.split, word) == MAP_NONE)
		map_put(&th->handouts.split, word, SPLIT);
}

/*
 * Judges each place of a futex, as if it had a futex of its own, where threads wait for each other
 * in several places: a condition variable may tell one side that there is work, and the other that
 * it is done.
 */
static void judge_sides(struct threads *th, const struct handout *rows, size_t n,
			const struct all_waits *all)
{
	if (n_in_place(rows, n) == n || !th->futexes.all.data[rows->word].has_sides)
		return;
	split(th, rows->word);
	for (size_t i = 0, side; i < n; i += side) {
		side = n_in_place(&rows[i], n - i);
		if (rows[i].place)
			judge_word(th, &rows[i], side, all);
	}
}

/* Returns whether the futex is a lock. Its waiters wait for the holder, not for work that the
 * holder does for them. */
static bool is_at_lock(const struct threads *th, uint32_t word)
{
	return word != SLEEP_NOBODY && futex_judge(&th->futexes.all.data[word]).class == FUTEX_LOCK;
}

/* Joins the rows of the two futexes that one condition variable of glibc has. */
static void join_twins(const struct threads *th, struct handouts *h)
{
	vec_for_each (&h->rows, struct handout, row)
		if (row->word != SLEEP_NOBODY)
			row->word = futexes_first_twin(&th->futexes, row->word);
	vec_sort(&h->rows, by_place);
	map_release(&h->row_of);
}

/* Returns the function of the program in which the row's thread waits, as a hash; 0: unknown. */
static uint64_t function_of(const struct threads *th, const struct handout *row)
{
	return row->place ? th->handouts.rounds.data[row->place - 1].function : 0;
}

/*
 * Notes whether at the futex of the rows threads of two sides release each other: who releases the
 * threads that wait in one function waits there in another one. Those who hand on a lock all wait
 * in the function that takes it. Who never waits there, or in an unknown function, is of no side.
 */
static void note_sides(struct threads *th, const struct handout *rows, size_t n)
{
	struct map waits_in = { 0 };  /* thread and function, thread and 0 -> 1 */
	uint64_t across = 0, all = 0; /* sleeps */

	for (size_t i = 0; i < n; i++) {
		const uint64_t function = function_of(th, &rows[i]);

		if (!function)
			continue;
		map_put(&waits_in, hash_u64(rows[i].waiter) ^ function, 1);
		map_put(&waits_in, hash_u64(rows[i].waiter), 1);
	}
	for (size_t i = 0; i < n; i++) {
		const uint64_t function = function_of(th, &rows[i]);
		const uint64_t waker = hash_u64(rows[i].waker);

		all += rows[i].sleeps;
		if (function && map_get(&waits_in, waker) != MAP_NONE &&
		    map_get(&waits_in, waker ^ function) == MAP_NONE)
			across += rows[i].sleeps;
	}
	if (across && (double)across >= ACROSS_SHARE * (double)all)
		futexes_set_sides(&th->futexes, rows->word);
	map_release(&waits_in);
}

/* Judges the sleeps of one place that are at no futex. */
static void judge_place(struct threads *th, const struct handout *rows, size_t n,
			const struct all_waits *all)
{
	const struct handout_place *place = &th->handouts.rounds.data[rows->place - 1];
	const enum futex_work work =
		place->messages > place->sleeps / 2 ? work_of(th, rows, n, all) : WORK_NONE;
	struct sides x = { 0 };

	if (is_given(work))
		map_put(&th->handouts.given, rows->place, work);
	for (size_t i = 0; i < n; i++) {
		x.given_ns += rows[i].ns;
		if (is_beside(&rows[i], all)) {
			x.beside_ns += rows[i].ns;
			x.beside_sleeps += rows[i].sleeps;
		}
	}
	if (is_queue(th, &x, rows->place))
		map_put(&th->handouts.queues, rows->place, 1);
}

enum futex_work handouts_work(const struct threads *th, uint32_t word, uint32_t side)
{
	const struct handouts *h = &th->handouts;
	const uint32_t first = futexes_first_twin(&th->futexes, word);
	const uint32_t place = side ? side : th->futexes.all.data[first].place;
	const uint32_t work = map_get(&h->work_of_side, pair_key(first, place));

	return work == MAP_NONE ? th->futexes.all.data[word].work : (enum futex_work)work;
}

static enum futex_work work_at(const struct threads *th, const struct handout *row)
{
	return row->word == SLEEP_NOBODY ? WORK_NONE : handouts_work(th, row->word, row->place);
}

/* Returns how many of the sorted rows are judged together with the first. */
static size_t n_judged(const struct handouts *h, const struct handout *rows, size_t n)
{
	return map_get(&h->split, rows->word) == MAP_NONE ? n_alike(rows, n) : n_in_place(rows, n);
}

bool handouts_is_given(const struct threads *th, uint32_t word)
{
	const uint32_t first = futexes_first_twin(&th->futexes, word);

	return is_given(th->futexes.all.data[word].work) ||
	       map_get(&th->handouts.split, first) == SPLIT_GIVES;
}

static bool gives_work(const struct threads *th, const struct handout *row)
{
	enum futex_work work = work_at(th, row);

	return work == WORK_HANDED_OUT || work == WORK_IN_TURN;
}

/* The same, or at no futex in a place where work is given by a pipe or a socket. */
static bool limits(const struct threads *th, const struct handout *row)
{
	return row->word == SLEEP_NOBODY
		       ? row->place && map_get(&th->handouts.given, row->place) != MAP_NONE
		       : gives_work(th, row);
}

/* Returns the thread of nearly all sleeps in the rows, or SLEEP_NOBODY, also if it stands for
 * several. */
static uint32_t only_waiter(const struct threads *th, const struct handout *rows, size_t n)
{
	uint64_t all = 0, own = 0;
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		all += rows[i].sleeps;
		if (rows[i].sleeps > rows[most].sleeps)
			most = i;
	}
	for (size_t i = 0; i < n; i++)
		own += rows[i].waiter == rows[most].waiter ? rows[i].sleeps : 0;
	return (double)own >= NEAR_SHARE * (double)all &&
			       th->all.data[rows[most].waiter] != th->rest
		       ? rows[most].waiter
		       : SLEEP_NOBODY;
}

/* A thread that another one gives work to. */
struct worker {
	uint32_t giver, thread;
	uint64_t ns, sleeps; /* how long, and how often it waited for that */
};

static int by_giver(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;

	if (x->giver != y->giver)
		return (x->giver > y->giver) - (x->giver < y->giver);
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Adds how long the workers, all of one giver, do not wait for it, unless there is only one. */
static void add_at_work(const struct threads *th, struct all_waits *all,
			const struct worker *workers, size_t n)
{
	uint64_t most = 0, ns = 0;
	unsigned several = 0;

	for (size_t i = 0; i < n; i++)
		if (workers[i].sleeps > most)
			most = workers[i].sleeps;
	for (size_t i = 0; i < n; i++) {
		const double work_ns = life_ns(th, workers[i].thread) - (double)workers[i].ns;

		if ((double)workers[i].sleeps < ROUNDS_SHARE * (double)most || work_ns <= 0)
			continue;
		ns += (uint64_t)work_ns;
		several++;
	}
	if (several > 1)
		add_waited(&all->at_work, workers->giver, 0, ns);
}

/* Joins the workers of the same thread and giver, which are sorted. Returns how many are left. */
static size_t join_workers(struct worker *workers, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (left && !by_giver(&workers[left - 1], &workers[i])) {
			workers[left - 1].ns += workers[i].ns;
			workers[left - 1].sleeps += workers[i].sleeps;
		} else {
			workers[left++] = workers[i];
		}
	}
	return left;
}

/* Finds which threads wait for the work of others. The places where work is given are known by now.
 */
static void find_workers(const struct threads *th, struct all_waits *all)
{
	struct {
		VEC(struct worker)
	} workers = { 0 };

	vec_for_each (&th->handouts.rows, const struct handout, row) {
		if (!gives_work(th, row))
			continue;
		add_waited(&all->for_work, row->waiter, row->waker, row->ns);
		*vec_add(&workers) =
			(struct worker){ row->waker, row->waiter, row->ns, row->sleeps };
	}
	vec_sort(&workers, by_giver);
	workers.n = join_workers(workers.data, workers.n);
	for (size_t i = 0, n; i < workers.n; i += n) {
		for (n = 1;
		     i + n < workers.n && workers.data[i + n].giver == workers.data[i].giver;)
			n++;
		add_at_work(th, all, &workers.data[i], n);
	}
	vec_release(&workers);
}

/*
 * Returns whether a thread waits at the place of the rows, for much of its life, until others are
 * done that wait for work from it, several of which work meanwhile. If it asks one after the other,
 * these work no longer in all than it waits: they take turns with it.
 */
static bool awaits_results(const struct threads *th, const struct handout *rows, size_t n,
			   const struct all_waits *all, uint32_t waiter)
{
	uint64_t ns = 0, workers_ns = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].waiter != waiter)
			continue;
		if (is_beside(&rows[i], all))
			return false;
		ns += rows[i].ns;
		if (waited_ns(&all->for_work, rows[i].waker, waiter))
			workers_ns += rows[i].ns;
	}
	return (double)workers_ns >= NEAR_SHARE * (double)ns &&
	       (double)waited_ns(&all->at_work, waiter, 0) >= AT_A_TIME * (double)ns &&
	       (double)ns >= RESULTS_SHARE * life_ns(th, waiter);
}

/* Returns whether most of the wait in the rows is for work of threads in the map. */
static bool is_given_by(const struct map *givers, const struct handout *rows, size_t n)
{
	uint64_t ns = 0, given_ns = 0;

	for (size_t i = 0; i < n; i++) {
		ns += rows[i].ns;
		if (map_get(givers, rows[i].waker) != MAP_NONE)
			given_ns += rows[i].ns;
	}
	return (double)given_ns >= NEAR_SHARE * (double)ns;
}

/* Returns the thread that waits for the results of several where the rows say, or SLEEP_NOBODY. */
static uint32_t results_for(const struct threads *th, const struct handout *rows, size_t n,
			    const struct all_waits *all)
{
	const uint32_t waiter = only_waiter(th, rows, n);

	return waiter != SLEEP_NOBODY && awaits_results(th, rows, n, all, waiter) ? waiter
										  : SLEEP_NOBODY;
}

/* Marks where a thread waits for the results of several, whether or not it also acts when a time is
 * over. Returns that thread, or SLEEP_NOBODY. */
static uint32_t judge_results(struct threads *th, const struct handout *rows, size_t n,
			      const struct all_waits *all)
{
	const bool known = rows->word == SLEEP_NOBODY ? rows->place : is_condition(th, rows->word);
	const uint32_t waiter = known ? results_for(th, rows, n, all) : SLEEP_NOBODY;

	if (waiter == SLEEP_NOBODY)
		return SLEEP_NOBODY;
	if (rows->word == SLEEP_NOBODY)
		map_put(&th->handouts.results, rows->place, 1);
	else
		set_work(th, rows, WORK_RESULTS);
	return waiter;
}

/* By the place alone. */
static int by_place_alone(const void *a, const void *b)
{
	const struct handout *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* Marks where a thread waits in one place for the results of several, for each at the futex of that
 * one. Adds the threads to the map. */
static void judge_results_in_places(struct threads *th, const struct all_waits *all,
				    struct map *givers)
{
	struct {
		VEC(struct handout)
	} rows = { 0 };

	vec_for_each (&th->handouts.rows, const struct handout, row)
		if (row->place && row->word != SLEEP_NOBODY && is_condition(th, row->word))
			*vec_add(&rows) = *row;
	vec_sort(&rows, by_place_alone);
	for (size_t i = 0, n; i < rows.n; i += n) {
		uint32_t waiter;

		for (n = 1; i + n < rows.n && rows.data[i + n].place == rows.data[i].place;)
			n++;
		waiter = results_for(th, &rows.data[i], n, all);
		if (waiter == SLEEP_NOBODY)
			continue;
		map_put(givers, waiter, 1);
		for (size_t k = i; k < i + n; k++) {
			if (rows.data[k].waiter != waiter)
				continue;
			split(th, rows.data[k].word);
			set_work(th, &rows.data[k], WORK_RESULTS);
		}
	}
	vec_release(&rows);
}

/* Judges all rows once more, because the places where work is given are known only now. */
static void judge_rounds(struct threads *th, struct all_waits *all)
{
	const struct handout *rows = th->handouts.rows.data;
	const size_t n_rows = th->handouts.rows.n;
	struct map givers = { 0 }; /* index of a thread that waits for results -> 1 */

	find_workers(th, all);
	for (size_t i = 0, n; i < n_rows; i += n) {
		uint32_t waiter;

		n = n_judged(&th->handouts, &rows[i], n_rows - i);
		waiter = judge_results(th, &rows[i], n, all);
		if (waiter != SLEEP_NOBODY)
			map_put(&givers, waiter, 1);
	}
	judge_results_in_places(th, all, &givers);
	for (size_t i = 0, n; i < n_rows; i += n) {
		n = n_judged(&th->handouts, &rows[i], n_rows - i);
		if (work_at(th, &rows[i]) == WORK_IN_TURN && is_given_by(&givers, &rows[i], n))
			set_work(th, &rows[i], WORK_ROUNDS);
	}
	map_release(&givers);
}

void handouts_judge(struct threads *th)
{
	struct handouts *h = &th->handouts;
	struct all_waits all = { 0 };
	const struct handout *rows = h->rows.data;

	if (h->full)
		return;
	join_twins(th, h);
	for (size_t i = 0, n; i < h->rows.n; i += n) {
		n = n_alike(&rows[i], h->rows.n - i);
		if (rows[i].word != SLEEP_NOBODY)
			note_sides(th, &rows[i], n);
	}
	vec_for_each (&h->rows, const struct handout, row) {
		if (!is_at_lock(th, row->word))
			add_waited(&all.for_thread, row->waiter, row->waker, row->ns);
		if (row->place)
			add_waited(&all.at_place, row->waiter, row->place, row->ns);
	}
	for (size_t i = 0, n; i < h->rows.n; i += n) {
		n = n_alike(&rows[i], h->rows.n - i);
		if (rows[i].word != SLEEP_NOBODY && is_condition(th, rows[i].word)) {
			judge_word(th, &rows[i], n, &all);
			if (th->futexes.all.data[rows[i].word].work == WORK_NONE)
				judge_sides(th, &rows[i], n, &all);
		} else if (rows[i].word == SLEEP_NOBODY && rows[i].place)
			judge_place(th, &rows[i], n, &all);
	}
	judge_rounds(th, &all);
	waited_release(&all.for_thread);
	waited_release(&all.at_place);
	waited_release(&all.for_work);
	waited_release(&all.at_work);
}

uint32_t handouts_place(const struct handouts *h, uint64_t stack)
{
	uint32_t place = stack ? map_get(&h->place_of, stack) : MAP_NONE;

	return place == MAP_NONE ? 0 : place;
}

bool handouts_is_queue(const struct handouts *h, uint64_t stack)
{
	uint32_t place = handouts_place(h, stack);

	return place && map_get(&h->queues, place) != MAP_NONE;
}

bool handouts_polls_for_work(const struct handouts *h, uint32_t place)
{
	return place && map_get(&h->given, place) == WORK_HANDED_OUT &&
	       h->rounds.data[place - 1].polls > h->rounds.data[place - 1].sleeps / 2;
}

bool handouts_awaits_results(const struct handouts *h, uint32_t place)
{
	return place && map_get(&h->results, place) != MAP_NONE;
}

/* How long others waited for the work of a thread, and of all threads that give work in the same
 * place. */
struct given {
	uint64_t own_ns, all_ns;
};

/*
 * Adds the waiting in the rows of one word to the threads that ended it. A worker that wakes the
 * next one passes on work that another thread gives out, so that it is left out. behind_ns: how
 * long threads waited for locks whose holders waited there.
 */
static void add_given(struct given *given, const struct handout *rows, size_t n, double behind_ns)
{
	struct map waiters = { 0 }, givers = { 0 };
	uint64_t all_ns = 0, shown_ns = 0;
	double more;

	for (size_t i = 0; i < n; i++)
		map_put(&waiters, rows[i].waiter, 1);
	for (size_t i = 0; i < n; i++)
		if (map_get(&waiters, rows[i].waker) == MAP_NONE) {
			all_ns += rows[i].ns;
			shown_ns += rows[i].shown_ns;
		}
	more = all_ns ? 1 + behind_ns / (double)all_ns : 1;
	for (size_t i = 0; i < n; i++) {
		if (map_get(&waiters, rows[i].waker) != MAP_NONE)
			continue;
		given[rows[i].waker].own_ns += (uint64_t)(more * (double)rows[i].shown_ns);
		if (map_get(&givers, rows[i].waker) == MAP_NONE)
			given[rows[i].waker].all_ns += (uint64_t)(more * (double)shown_ns);
		map_put(&givers, rows[i].waker, 1);
	}
	map_release(&waiters);
	map_release(&givers);
}

/*
 * A thread that collects the results of several others waits for all of them, and none of those
 * alone limits it.
 */
static bool gives_alone(const struct given *given)
{
	return (double)given->own_ns >= GIVER_SHARE * (double)given->all_ns;
}

static double busy_ns(const struct thread *t)
{
	return (double)(t->end_ns - t->born_ns) - (double)(t->off.blocked_ns + t->off.idle_ns) +
	       (double)sleep_naps_ns(t);
}

/*
 * Returns whether the thread ended nearly all sleeps where it gives work, of those that threads as
 * busy as it ended. Of workers in parallel whose results are collected in order, the one that
 * always has the first one of a round is waited for longest, and limits no more than the others.
 */
static bool gives_most_sleeps(const struct threads *th, const struct thread *giver)
{
	const struct handout *rows = th->handouts.rows.data;
	uint64_t own = 0, others = 0;

	for (size_t i = 0, n; i < th->handouts.rows.n; i += n) {
		uint64_t own_here = 0, others_here = 0;

		n = n_judged(&th->handouts, &rows[i], th->handouts.rows.n - i);
		if (!limits(th, &rows[i]))
			continue;
		for (size_t k = i; k < i + n; k++)
			if (rows[k].waker == giver->index)
				own_here += rows[k].sleeps;
			else if (busy_ns(th->all.data[rows[k].waker]) >
				 AS_BUSY_SHARE * busy_ns(giver))
				others_here += rows[k].sleeps;
		if (own_here) {
			own += own_here;
			others += others_here;
		}
	}
	return (double)own >= GIVER_SHARE * (double)(own + others);
}

/*
 * Returns whether threads that work as much as the giver do so for longer than others wait for it.
 * A first thread that waits until several threads have worked in parallel is released by one of
 * them, which limits no more than the others.
 */
static bool works_among_equals(const struct threads *th, const struct thread *giver,
			       uint64_t waited_ns)
{
	double equals_ns = 0;

	vec_for_each (&th->all, struct thread *const, t)
		if (*t != giver && *t != th->rest && busy_ns(*t) >= GIVER_SHARE * busy_ns(giver))
			equals_ns += busy_ns(*t);
	return equals_ns >= (double)waited_ns;
}

const struct thread *handouts_giver(const struct threads *th, uint64_t *waited_ns)
{
	struct given *given = xcalloc(th->all.n + 1, sizeof(*given));
	const struct handout *rows = th->handouts.rows.data;
	const struct thread *giver = NULL;
	uint32_t word = SLEEP_NOBODY; /* futex whose waits behind this one were counted before */

	*waited_ns = 0;
	for (size_t i = 0, n; i < th->handouts.rows.n; i += n) {
		n = n_judged(&th->handouts, &rows[i], th->handouts.rows.n - i);
		if (!limits(th, &rows[i]))
			continue;
		add_given(given, &rows[i], n,
			  rows[i].word == word || rows[i].word == SLEEP_NOBODY
				  ? 0
				  : behind_given_ns(&th->behind, rows[i].word));
		word = rows[i].word;
	}
	vec_for_each (&th->all, struct thread *, t)
		if (*t != th->rest && given[(*t)->index].own_ns > *waited_ns &&
		    gives_alone(&given[(*t)->index]) && gives_most_sleeps(th, *t) &&
		    !works_among_equals(th, *t, given[(*t)->index].own_ns)) {
			giver = *t;
			*waited_ns = given[giver->index].own_ns;
		}
	free(given);
	return giver;
}

void handouts_release(struct handouts *h)
{
	vec_release(&h->rows);
	map_release(&h->row_of);
	map_release(&h->places);
	map_release(&h->waits_at);
	map_release(&h->place_of);
	map_release(&h->queues);
	map_release(&h->results);
	map_release(&h->given);
	map_release(&h->split);
	map_release(&h->work_of_side);
	vec_release(&h->rounds);
}
