// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/threads/wakeup_chain.h"

#include <string.h>

#include "analysis/threads/call.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/threads.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define HISTORY_MAX   512 /* steps; if there are more, every second one is dropped */
#define ANCESTORS_MAX 8
#define LAST_ACT_NS   1000000 /* how long a thread may run between its last release and its end */

static struct outside sum_at(const struct history *h, uint64_t time_ns)
{
	const size_t low = vec_search(i, 0, h->n, h->data[i].time_ns <= time_ns);
	const struct history_step *a, *b;
	double part;

	if (!low)
		return (struct outside){ 0 };
	a = &h->data[low - 1];
	if (low == h->n)
		return a->sum;
	b = &h->data[low];
	part = (double)(time_ns - a->time_ns) / (double)(b->time_ns - a->time_ns);
	return (struct outside){
		a->sum.work_ns + (uint64_t)(part * (double)(b->sum.work_ns - a->sum.work_ns)),
		a->sum.clock_ns + (uint64_t)(part * (double)(b->sum.clock_ns - a->sum.clock_ns)),
	};
}

static void thin_out(struct history *h)
{
	size_t kept = 0;

	for (size_t i = 1; i < h->n; i += 2)
		h->data[kept++] = h->data[i];
	h->n = kept;
}

static void add_step(struct history *h, uint64_t time_ns, const struct outside *sum)
{
	if (h->n && h->data[h->n - 1].time_ns >= time_ns)
		return;
	if (h->n >= HISTORY_MAX)
		thin_out(h);
	*vec_add(h) = (struct history_step){ time_ns, *sum };
}

/* Returns the thread that created t, or NULL if it was not seen, or ended so long ago that another
 * thread has its place. */
static const struct thread *parent_of(const struct threads *th, const struct thread *t)
{
	const struct thread *p = t->parent == SLEEP_NOBODY ? NULL : th->all.data[t->parent];

	return p && !p->vacant && p->born_ns <= t->born_ns ? p : NULL;
}

/* Returns how long the thread waited for the outside. Before its birth, the waits of its parent
 * count. */
static struct outside waited(const struct threads *th, const struct thread *t, uint64_t from_ns,
			     uint64_t to_ns)
{
	struct outside sum = { 0 };

	for (unsigned i = 0; t && i < ANCESTORS_MAX && from_ns < to_ns; i++) {
		uint64_t since =
			t->parent != SLEEP_NOBODY && t->born_ns > from_ns ? t->born_ns : from_ns;
		struct outside a = sum_at(&t->history, since), b = sum_at(&t->history, to_ns);

		if (since < to_ns) {
			sum.work_ns += b.work_ns - a.work_ns;
			sum.clock_ns += b.clock_ns - a.clock_ns;
			to_ns = since;
		}
		t = parent_of(th, t);
	}
	return sum;
}

static struct past_sleep past(const struct sleep *s)
{
	return (struct past_sleep){ s->since_ns, s->woken_ns, s->word };
}

/* Notes what the thread that released this sleeper did itself meanwhile. */
static void note_behind(struct thread *t, const struct thread *waker)
{
	const struct past_sleep sleep = past(&t->sleep),
				own[] = { past(&waker->sleep), waker->before };

	behind_add(&t->all->behind, &sleep, own);
}

void sleep_unknown(struct thread *t, uint64_t time_ns)
{
	t->sleep = (struct sleep){
		.since_ns = time_ns,
		.uninterruptible = true,
		.word = SLEEP_NOBODY,
		.for_end = SLEEP_NOBODY,
		.waker = SLEEP_NOBODY,
		.waker_function = SLEEP_NOBODY,
	};
}

void sleep_begin(struct thread *t, const struct record *r)
{
	t->before = past(&t->sleep);
	t->sleep = (struct sleep){
		.since_ns = r->time_ns,
		.off_ns = offcpu_ns(&t->off),
		.uninterruptible = r->values[0] == SWITCH_BLOCKED,
		.word = SLEEP_NOBODY,
		.for_end = SLEEP_NOBODY,
		.waker = SLEEP_NOBODY,
		.waker_function = SLEEP_NOBODY,
	};
}

/* A futex word may hold a thread's number and a bit that says whether others wait. */
#define WORD_WAITERS 0x80000000u
#define WORD_TID     0x3fffffffu

/* Returns the thread whose end is awaited. Newer kernels report a thread's end just before they
 * write it into the futex word. */
static uint32_t awaited(const struct thread *t, uint32_t tid)
{
	const struct thread *other = tid == t->tid ? NULL : threads_latest(t->all, tid);

	if (!other || other->tgid != t->tgid ||
	    (other->dead && other->end_ns + LAST_ACT_NS < t->sleep.since_ns))
		return SLEEP_NOBODY;
	return other->index;
}

static void describe_futex(struct thread *t, const struct record *r)
{
	uint32_t value = r->n_values > 4 ? (uint32_t)r->values[4] : 0;
	uint32_t named = value & WORD_TID;
	bool names = named && named != t->tid && threads_alive(t->all, named);
	struct futex_wait wait = {
		.thread = t->index,
		.operation = (uint32_t)(r->values[3] >> WAIT_FUTEX_OP_SHIFT),
		.value = value,
		.names_owner = names && value & WORD_WAITERS,
		.names_thread = names && !(value & ~WORD_TID),
	};

	t->sleep.word = futexes_wait(&t->all->futexes, t->tgid, r->values[2], &wait);
	if (named && named == value)
		t->sleep.for_end = awaited(t, named);
	if (t->sleep.for_end != SLEEP_NOBODY)
		t->all->all.data[t->sleep.for_end]->awaited = true;
}

void sleep_describe(struct thread *t, const struct record *r)
{
	if ((t->sleep.kind && !t->sleep.by_call) || t->sleep.woken_ns)
		return;
	t->sleep.by_call = false;
	t->sleep.standard = STANDARD_NONE;
	t->sleep.kind = r->values[0] < WAIT_KINDS ? (uint32_t)r->values[0] : WAIT_OTHER;
	t->sleep.call = (uint32_t)r->values[1];
	t->sleep.what = r->values[2];
	t->sleep.iowait = r->values[3] & WAIT_IOWAIT;
	if (t->sleep.kind == WAIT_FUTEX)
		describe_futex(t, r);
	standard_see_wait(t);
}

void sleep_describe_by_call(struct thread *t)
{
	t->sleep.kind = standard_kind_of_call(t);
	t->sleep.by_call = t->sleep.kind != WAIT_UNKNOWN;
	if (t->sleep.by_call)
		standard_see_wait(t);
}

/* Returns whether a thread that waits here blocks others, whatever it waits for. */
static bool is_held(const struct threads *th, const struct sleep *s)
{
	return s->word != SLEEP_NOBODY &&
	       futex_judge(&th->futexes.all.data[s->word]).class != FUTEX_CONDITION;
}

/* Returns whether the wait belongs to the program although its end comes from outside, as that of
 * the disk does. */
static bool is_own_device(const struct sleep *s)
{
	return s->uninterruptible || s->kind == WAIT_DISK || s->kind == WAIT_PAGE_FAULT;
}

static enum sleep_end end_of(const struct record *r, bool inside)
{
	if (r->tid)
		return inside ? SLEEP_BY_THREAD : SLEEP_BY_OUTSIDE;
	return r->values[1] == WAKING_BY_TIMER ? SLEEP_BY_TIMER
	       : r->values[1] == WAKING_BY_END ? SLEEP_OPEN
					       : SLEEP_BY_OUTSIDE;
}

/*
 * Returns the thread that blocked a sleeper, or SLEEP_NOBODY. Usually that is the thread that
 * released it. A sleeper whose timeout ended checks again and most often keeps waiting: for the
 * thread that last released this futex or, if there is none yet, for the first that will
 * (wait_reconsider: too_early). If the futex serves as a clock, no thread blocked the sleeper.
 */
static uint32_t releaser(const struct threads *th, const struct sleep *s, bool *too_early)
{
	uint32_t by;

	*too_early = false;
	if (s->end != SLEEP_BY_TIMER || s->word == SLEEP_NOBODY)
		return s->waker;
	if (futexes_keeps_time(&th->futexes, s->word))
		return SLEEP_NOBODY;
	by = futexes_releaser(&th->futexes, s->word);
	*too_early = by == SLEEP_NOBODY;
	return by;
}

/* Returns how long the sleep waited for the outside until time_ns, given which thread ended it. */
static struct outside outside_of(const struct threads *th, const struct sleep *s, uint32_t by,
				 uint64_t time_ns)
{
	uint64_t ns = time_ns - s->since_ns;

	if (by != SLEEP_NOBODY)
		return waited(th, th->all.data[by], s->since_ns, time_ns);
	if (s->end == SLEEP_BY_THREAD)
		return (struct outside){ 0 };
	/* Nothing shows what such a wait is for. Most often it is for another thread. */
	if (is_own_device(s) || (s->by_call && s->kind == WAIT_OTHER))
		return (struct outside){ 0 };
	/* The sleep never ended: the thread is parked, unless it waits for a lock or the kind of
	 * the wait is unknown. */
	if (s->end == SLEEP_OPEN)
		return (struct outside){ .work_ns = !s->kind || is_held(th, s) ? 0 : ns };
	if (s->end == SLEEP_BY_TIMER || s->kind == WAIT_SLEEP)
		return (struct outside){ .clock_ns = ns };
	return (struct outside){ .work_ns = ns };
}

/* Returns whether the sleep waits for the end of a thread or process. What those lose is reported
 * with them. */
static bool waits_for_an_end(const struct threads *th, const struct sleep *s)
{
	return s->kind == WAIT_CHILD || (s->by_call && s->standard == STANDARD_END) ||
	       (s->word != SLEEP_NOBODY && futex_is_end(&th->futexes.all.data[s->word]));
}

/* Returns whether a scheduler's thread has nothing to run. Who gives it something was not what held
 * it up: what it runs may be anybody's. */
static bool waits_for_something_to_run(const struct threads *th, const struct sleep *s)
{
	return s->standard == STANDARD_WORK ||
	       (s->word != SLEEP_NOBODY && futex_is_work(&th->futexes.all.data[s->word]));
}

static void judge(const struct threads *th, struct sleep *s, uint64_t time_ns)
{
	const uint64_t all_ns = time_ns - s->since_ns;
	uint32_t by = releaser(th, s, &s->too_early);

	s->outside = outside_of(th, s, by, time_ns);
	if (by != SLEEP_NOBODY && is_held(th, s))
		s->outside.clock_ns = 0;
	s->idle_ns = s->outside.work_ns + s->outside.clock_ns;
	s->pause_ns = 0;
	if (s->idle_ns > all_ns || waits_for_an_end(th, s) || waits_for_something_to_run(th, s))
		s->idle_ns = all_ns;
	else if (by != SLEEP_NOBODY)
		s->pause_ns = s->outside.clock_ns;
}

uint64_t sleep_idle_behind(const struct threads *th, uint32_t thread, uint32_t word,
			   uint64_t from_ns, uint64_t to_ns)
{
	struct outside o = waited(th, th->all.data[thread], from_ns, to_ns);
	uint64_t idle_ns = o.work_ns;

	if (futex_judge(&th->futexes.all.data[word]).class == FUTEX_CONDITION)
		idle_ns += o.clock_ns;
	return idle_ns < to_ns - from_ns ? idle_ns : to_ns - from_ns;
}

static void note_release(struct thread *waker, uint32_t word, uint64_t time_ns)
{
	waker->releases[waker->n_releases++ % RELEASES_KEPT] = (struct release){
		.word = word, .time_ns = time_ns, .off_ns = offcpu_ns(&waker->off)
	};
}

/* Returns whether the thread had run for some time before the release. In a thread that runs only
 * briefly, everything is near its end, which proves nothing. */
static bool ran_before(const struct thread *t, const struct release *r)
{
	return r->time_ns > t->born_ns + r->off_ns + LAST_ACT_NS;
}

void sleep_last_acts(const struct thread *t, uint64_t time_ns)
{
	for (unsigned i = 0; i < RELEASES_KEPT; i++) {
		const struct release *r = &t->releases[i];

		if (r->time_ns && ran_before(t, r) &&
		    time_ns - r->time_ns < offcpu_ns(&t->off) - r->off_ns + LAST_ACT_NS)
			futexes_last_act(&t->all->futexes, r->word);
	}
	for (unsigned i = 0; i < RELEASES_KEPT; i++) {
		const struct awoken *a = &t->awoken[i];

		if (a->tail && time_ns - a->since_ns < offcpu_ns(&t->off) - a->off_ns + LAST_ACT_NS)
			futexes_ended_after(&t->all->futexes, a->word, a->tail);
	}
}

static void note_awoken(struct thread *t)
{
	struct sleep *s = &t->sleep;

	s->tail = t->all->futexes.all.data[s->word].tail;
	t->awoken[t->n_awoken++ % RELEASES_KEPT] = (struct awoken){
		.word = s->word, .tail = s->tail, .since_ns = s->since_ns, .off_ns = s->off_ns
	};
}

/* Notes that the waker woke this sleeper because the waker's own timeout had ended. */
static void note_timed_act(struct thread *waker, const struct sleep *woken)
{
	struct futexes *futexes = &waker->all->futexes;
	struct sleep *own = &waker->sleep;

	if (own->end != SLEEP_BY_TIMER || own->word == SLEEP_NOBODY || own->acted ||
	    is_held(waker->all, woken) ||
	    (woken->word != SLEEP_NOBODY && futexes_twins(futexes, own->word, woken->word)))
		return;
	own->acted = true;
	futexes_timed_act(futexes, own->word);
}

uint32_t sleep_place(const struct thread *t)
{
	const struct meta *meta = t->all->meta;
	const struct sleep *s = &t->sleep;
	const struct meta_stack *stack;
	const struct meta_frame *known;
	uint32_t place;

	if (s->kind != WAIT_SLEEP || s->end != SLEEP_BY_TIMER || !s->stack ||
	    s->standard == STANDARD_WORK)
		return 0;
	place = tries_place_of(&t->all->tries, s->stack);
	if (place != MAP_NONE)
		return place;
	stack = &meta->stacks.data[s->stack - 1];
	known = standard_tries_in(meta, stack);
	return tries_new_stack(&t->all->tries, s->stack,
			       known ? known : standard_own_function(meta, stack), known);
}

static void note_nap(struct thread *t)
{
	const struct sleep *s = &t->sleep;

	if (s->end == SLEEP_BY_THREAD && !is_held(t->all, s))
		t->naps.served++;
	if (s->kind != WAIT_SLEEP || s->end != SLEEP_BY_TIMER)
		return;
	t->naps.n++;
	if (s->woken_ns > t->all->start_ns) /* of a part of the recording */
		t->naps.ns += s->woken_ns -
			      (s->since_ns > t->all->start_ns ? s->since_ns : t->all->start_ns);
}

uint64_t sleep_naps_ns(const struct thread *t)
{
	return t->naps.served >= t->naps.n ? t->naps.ns : 0;
}

/* Threads that are summed up when they have ended give their numbers to others. */
static void note_timed(const struct thread *t)
{
	const struct sleep *s = &t->sleep;

	if (!t->all->sums_up)
		tries_add(&t->all->tries, &(struct tries_sleep){ .from_ns = s->since_ns,
								 .to_ns = s->woken_ns,
								 .ready_ns = t->off.preempted_ns,
								 .thread = t->index,
								 .place = sleep_place(t) });
}

void sleep_wake(struct thread *t, struct thread *waker, bool inside, const struct record *r)
{
	struct sleep *s = &t->sleep;

	if (s->woken_ns || r->time_ns <= s->since_ns)
		return;
	s->woken_ns = r->time_ns;
	s->end = end_of(r, inside);
	if (s->end == SLEEP_BY_THREAD && waker) {
		s->waker = waker->index;
		if (waker->n_open)
			s->waker_function = waker->open[waker->n_open - 1].id;
	}
	if (s->waker != SLEEP_NOBODY)
		note_timed_act(waker, s);
	if (s->word != SLEEP_NOBODY && s->end == SLEEP_BY_TIMER)
		futexes_timeout(&t->all->futexes, s->word);
	if (s->word != SLEEP_NOBODY)
		futexes_wake(&t->all->futexes, s->word, s->waker, r->time_ns);
	if (s->word != SLEEP_NOBODY && s->waker != SLEEP_NOBODY) {
		note_release(waker, s->word, r->time_ns);
		futexes_released_by(&t->all->futexes, s->word, standard_release_in(waker));
		note_awoken(t);
		note_behind(t, waker);
		tries_freed(&t->all->tries, s->waker, t->index, s->since_ns);
	}
	judge(t->all, s, r->time_ns);
	if (!waits_for_something_to_run(t->all, s))
		handouts_add(&t->all->handouts, t);
	note_timed(t);
	note_nap(t);
}

bool sleep_woken_by(const struct thread *t, const struct thread *waker, uint64_t time_ns)
{
	return t->sleep.woken_ns == time_ns && t->sleep.waker == waker->index;
}

uint64_t sleep_idle_ns(const struct thread *t, uint64_t from_ns, uint64_t to_ns)
{
	struct sleep s = t->sleep;
	uint64_t end = s.woken_ns ? s.woken_ns : to_ns;

	if (!s.woken_ns)
		judge(t->all, &s, to_ns);
	if (from_ns < s.since_ns)
		from_ns = s.since_ns;
	if (to_ns <= from_ns || end <= s.since_ns)
		return 0;
	return (uint64_t)((double)s.idle_ns * (double)(to_ns - from_ns) /
			  (double)(end - s.since_ns));
}

void sleep_settle(struct thread *t, uint64_t time_ns)
{
	struct sleep *s = &t->sleep;
	struct history *h = &t->history;
	struct outside sum = { 0 };

	s->ended_ns = time_ns;
	if (!s->woken_ns && time_ns > s->since_ns)
		judge(t->all, s, time_ns);
	if (!s->outside.work_ns && !s->outside.clock_ns)
		return;
	if (h->n)
		sum = vec_last(h)->sum;
	add_step(h, s->since_ns, &sum);
	sum.work_ns += s->outside.work_ns;
	sum.clock_ns += s->outside.clock_ns;
	add_step(h, s->woken_ns ? s->woken_ns : time_ns, &sum);
}
