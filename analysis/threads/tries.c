/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/tries.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/meta/meta.h"

/* Sleeps of a thread follow each other if so little of their time lies between. */
#define AGAIN_PART    4
#define AGAIN_LEAST   4	 /* fewer sleeps in a row are not called repeated */
#define MEET_SLEEPS   6	 /* expected common sleep, in mean sleeps; less may be chance */
#define MEET_RARELY   8	 /* they meet for at most 1 / MEET_RARELY of the expected time */
#define TOGETHER_MOST 3	 /* all are seen for at least 1 / TOGETHER_MOST of the time that any is */
#define FREED_LOOK    64 /* latest sleeps of a place, among which a thread's own is looked for */
#define CROWDED_PART  4	 /* when they do not sleep, 1 / CROWDED_PART is waiting for a CPU */

static uint32_t place_of_function(struct tries *x, const struct meta_frame *f)
{
	uint64_t hash = hash_u64(hash_bytes(f->object, strlen(f->object))) ^
			(*f->symbol ? hash_bytes(f->symbol, strlen(f->symbol)) : f->offset);
	uint32_t place = map_get(&x->places_by, hash);

	if (place != MAP_NONE)
		return place;
	place = (uint32_t)x->places.n + 1;
	map_put(&x->places_by, hash, place);
	*vec_add(&x->places) = (struct tries_place){ .function = f->symbol };
	return place;
}

uint32_t tries_place_of(const struct tries *x, uint64_t stack)
{
	return map_get(&x->place_of, stack);
}

uint32_t tries_new_stack(struct tries *x, uint64_t stack, const struct meta_frame *function,
			 bool known)
{
	uint32_t place = function ? place_of_function(x, function) : 0;

	if (place && known)
		x->places.data[place - 1].known = true;
	map_put(&x->place_of, stack, place);
	return place;
}

/* Whoever sleeps alone waits for no other, so that its sleeps matter only beside another's. */
static bool make_room(struct tries *x, struct tries_place *p)
{
	if (!p->several && p->sleeps.n >= TRIES_ALONE_MAX) {
		x->sleeps -= p->sleeps.n;
		p->sleeps.n = 0;
	}
	return x->sleeps < TRIES_SLEEPS_MAX && p->sleeps.n < TRIES_PLACE_MAX;
}

void tries_add(struct tries *x, const struct tries_sleep *sleep)
{
	struct tries_place *p = sleep->place ? &x->places.data[sleep->place - 1] : NULL;

	if (!p)
		return;
	if (!p->sleeps.n && !p->cut) {
		p->first_ns = sleep->from_ns;
		p->thread = sleep->thread;
	}
	p->several |= sleep->thread != p->thread;
	p->cut |= !make_room(x, p);
	if (p->cut)
		return;
	*vec_add(&p->sleeps) = *sleep;
	x->sleeps++;
	map_put(&x->latest_of, sleep->thread, sleep->place);
}

void tries_freed(struct tries *x, uint32_t thread, uint32_t other, uint64_t since_ns)
{
	uint32_t place = map_get(&x->latest_of, thread);
	struct tries_place *p = place == MAP_NONE ? NULL : &x->places.data[place - 1];

	/* few threads sleep there in turns, so that the latest sleep is among the last */
	for (size_t i = p ? p->sleeps.n : 0, n = 0; i-- > 0 && n < FREED_LOOK; n++) {
		struct tries_sleep *s = &p->sleeps.data[i];

		if (s->thread != thread)
			continue;
		if (since_ns < s->to_ns)
			s->freed = other + 1;
		return;
	}
}

/* ---- at the end ---- */

/* By thread and time. */
static int by_thread(const void *a, const void *b)
{
	const struct tries_sleep *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Whether the thread slept again at once: it did nothing else meanwhile. */
static bool is_again(const struct tries_sleep *a, const struct tries_sleep *b)
{
	return b->from_ns - a->to_ns < (a->to_ns - a->from_ns) / AGAIN_PART;
}

/* Returns how often threads slept again at once, or did something else, whichever is rarer. */
static uint64_t repeated(const struct tries_sleep *sleeps, size_t n)
{
	uint64_t again = 0, later = 0;

	for (size_t i = 1; i < n; i++) {
		const struct tries_sleep *a = &sleeps[i - 1], *b = &sleeps[i];

		if (a->thread != b->thread)
			continue;
		if (is_again(a, b))
			again++;
		else
			later++;
	}
	return again < later ? again : later;
}

/* A thread begins or ends to sleep. */
struct edge {
	uint64_t time_ns;
	int by;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->by - y->by;
}

/* How long threads slept at once. */
struct meeting {
	double all_ns, two_ns; /* all of them; at least two */
};

static struct meeting asleep_at_once(struct edge *edges, size_t n_edges, uint32_t threads)
{
	struct meeting m = { 0 };
	uint32_t asleep = 0;

	qsort(edges, n_edges, sizeof(*edges), by_time);
	for (size_t i = 0; i < n_edges; i++) {
		const double ns = i ? (double)(edges[i].time_ns - edges[i - 1].time_ns) : 0;

		if (asleep == threads)
			m.all_ns += ns;
		if (asleep > 1)
			m.two_ns += ns;
		asleep += (uint32_t)edges[i].by;
	}
	return m;
}

/* If threads slept independently of each other: the parts of the time in which all of them, none,
 * and exactly one would be asleep. */
struct expected {
	double all, none, one;
};

static void add_expected(struct expected *e, double part)
{
	e->all *= part;
	e->one = e->one * (1 - part) + e->none * part;
	e->none *= 1 - part;
}

/* The time in which all threads that sleep at a place at times are seen there. */
struct window {
	uint64_t from_ns, to_ns;    /* all are */
	uint64_t first_ns, last_ns; /* any is */
	uint32_t threads;
};

static struct window window_of(const struct tries_place *p)
{
	struct window w = { .to_ns = UINT64_MAX, .first_ns = p->first_ns };

	for (size_t i = 0; i < p->sleeps.n; i++) {
		const struct tries_sleep *s = &p->sleeps.data[i];
		bool first = !i || s->thread != s[-1].thread;
		bool last = i + 1 == p->sleeps.n || s->thread != s[1].thread;

		w.threads += first;
		if (first && s->from_ns > w.from_ns)
			w.from_ns = s->from_ns;
		if (last && s->to_ns < w.to_ns)
			w.to_ns = s->to_ns;
		if (s->to_ns > w.last_ns)
			w.last_ns = s->to_ns;
	}
	return w;
}

/* Returns the part of the sleep in the window; nothing of it may be there. */
static struct tries_sleep inside(const struct window *w, const struct tries_sleep *s)
{
	struct tries_sleep part = *s;

	if (part.from_ns < w->from_ns)
		part.from_ns = w->from_ns;
	if (part.to_ns > w->to_ns)
		part.to_ns = w->to_ns;
	if (part.to_ns < part.from_ns)
		part.to_ns = part.from_ns;
	return part;
}

/* Whether threads sleep at once for hardly any of the time that would be expected, which is long
 * enough to be sure. mean_ns: of a sleep */
static bool meet_rarely(double met_ns, double expected_ns, double mean_ns)
{
	return expected_ns >= MEET_SLEEPS * mean_ns && met_ns * MEET_RARELY <= expected_ns;
}

/*
 * Judges by how often the threads sleep at once. They wait for a lock if they are hardly ever all
 * asleep, though each is so for much of the time. If not even two of several are, each sleeps with
 * a lock that the others wait for in another way.
 */
static enum tries_verdict judge_meeting(const struct tries_place *p)
{
	const struct tries_sleep *sleeps = p->sleeps.data;
	size_t n = p->sleeps.n;
	struct window w = window_of(p);
	struct expected expected = { 1, 1, 0 };
	struct meeting met;
	struct edge *edges;
	double span, mean, own = 0, all = 0;

	if (w.threads < 2 || w.to_ns <= w.from_ns ||
	    (w.to_ns - w.from_ns) * TOGETHER_MOST < w.last_ns - w.first_ns)
		return TRIES_UNKNOWN;
	span = (double)(w.to_ns - w.from_ns);
	edges = xcalloc(2 * n, sizeof(*edges));
	for (size_t i = 0; i < n; i++) {
		const struct tries_sleep part = inside(&w, &sleeps[i]);

		own += (double)(part.to_ns - part.from_ns);
		all += (double)(sleeps[i].to_ns - sleeps[i].from_ns);
		edges[2 * i] = (struct edge){ .time_ns = part.from_ns, .by = 1 };
		edges[2 * i + 1] = (struct edge){ .time_ns = part.to_ns, .by = -1 };
		if (i + 1 < n && sleeps[i + 1].thread == sleeps[i].thread)
			continue;
		add_expected(&expected, own / span);
		own = 0;
	}
	mean = all / (double)n;
	met = asleep_at_once(edges, 2 * n, w.threads);
	free(edges);
	if (w.threads > 2 &&
	    meet_rarely(met.two_ns, span * (1 - expected.none - expected.one), mean))
		return TRIES_NO;
	return meet_rarely(met.all_ns, span * expected.all, mean) ? TRIES_LOCK : TRIES_UNKNOWN;
}

/*
 * Whether threads that do something else than sleep wait for a CPU for much of that time. Then one
 * of them may be awake all the time as there are too few CPUs, and not because of a lock.
 */
static bool crowded(const struct tries_sleep *sleeps, size_t n)
{
	uint64_t awake = 0, ready = 0;

	for (size_t i = 1; i < n; i++) {
		const struct tries_sleep *a = &sleeps[i - 1], *b = &sleeps[i];

		if (a->thread != b->thread || is_again(a, b))
			continue;
		awake += b->from_ns - a->to_ns;
		if (b->ready_ns > a->ready_ns)
			ready += b->ready_ns - a->ready_ns;
	}
	return ready > awake / CROWDED_PART;
}

static int thread_only(const void *a, const void *b)
{
	const struct tries_sleep *x = a, *y = b;

	return (x->thread > y->thread) - (x->thread < y->thread);
}

/*
 * Whether threads mostly sleep while others of them wait until they are done: each of those that
 * sleep has what the others wait for.
 */
static bool hold_meanwhile(const struct tries_sleep *sleeps, size_t n)
{
	size_t held = 0;

	for (size_t i = 0; i < n; i++) {
		const struct tries_sleep other = { .thread = sleeps[i].freed - 1 };

		held += sleeps[i].freed &&
			bsearch(&other, sleeps, n, sizeof(*sleeps), thread_only) != NULL;
	}
	return held > n / 2;
}

static enum tries_verdict judge(const struct tries_place *p)
{
	const struct tries_sleep *sleeps = p->sleeps.data;
	size_t n = p->sleeps.n;
	enum tries_verdict verdict;

	if (p->known)
		return TRIES_KNOWN;
	if (!p->several)
		return TRIES_NO;
	if (!n || repeated(sleeps, n) < AGAIN_LEAST)
		return p->cut ? TRIES_UNKNOWN : TRIES_NO;
	if (hold_meanwhile(sleeps, n))
		return TRIES_NO;
	verdict = judge_meeting(p);
	return verdict == TRIES_LOCK && crowded(sleeps, n) ? TRIES_UNKNOWN : verdict;
}

void tries_judge(struct tries *x)
{
	vec_for_each (&x->places, struct tries_place, p) {
		if (p->sleeps.n)
			vec_sort(&p->sleeps, by_thread);
		p->verdict = judge(p);
	}
}

enum tries_verdict tries_verdict_of(const struct tries *x, uint32_t place)
{
	return place && place <= x->places.n ? x->places.data[place - 1].verdict : TRIES_NO;
}

const char *tries_function(const struct tries *x, uint32_t place)
{
	return place && place <= x->places.n ? x->places.data[place - 1].function : "";
}

void tries_release(struct tries *x)
{
	vec_for_each (&x->places, struct tries_place, p)
		vec_release(&p->sleeps);
	vec_release(&x->places);
	map_release(&x->places_by);
	map_release(&x->place_of);
	map_release(&x->latest_of);
}
