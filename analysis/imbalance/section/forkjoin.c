/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/section/forkjoin.h"

#include <stdlib.h>

#include "analysis/calls/calls.h"
#include "analysis/group/callsite.h"
#include "analysis/imbalance/imbalance.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "base/hash.h"
#include "trace/record.h"

#define BETWEEN_NS 1000000 /* longest time between two joins that do not sleep */
/* A maker takes part in the work of its threads if its own work, divided by the mean thread's, is
 * between these. */
#define MAKER_LEAST 0.25
#define MAKER_MOST  4

struct forkjoin_thread {
	uint32_t maker; /* index of the thread that created it; MAP_NONE: not seen */
	uint32_t of;	/* number of its brood among its maker's */
	uint64_t word;	/* as in struct forkjoin_part */
	struct offcpu maker_off;
	uint32_t stack; /* stack of its last sleep; 0: not known */
	bool met, awaited;
	uint32_t awaited_at; /* site of the wait for it */
	/* As a maker of threads: */
	uint32_t brood; /* number of the current brood */
	uint32_t alive, n_awaited;
	uint32_t joins;	   /* open calls of functions that join */
	bool open;	   /* the last of these calls was still open when the recording or its
			    * probes ended */
	bool mixed;	   /* a thread of the brood met others */
	uint32_t site;	   /* where the brood was joined */
	uint64_t until_ns; /* latest time of a wait for an end; 0: none */
	/* When the brood's last thread was created (0: not seen), and when the maker began to wait
	 * for one (0: never), with the maker's time off the CPU at these times. */
	uint64_t made_ns, arrived_ns;
	struct offcpu made_off, arrived_off;
	struct {
		VEC(struct forkjoin_part)
	} ended; /* in the order of their ends */
};

void forkjoin_release(struct forkjoin *f)
{
	vec_for_each (&f->all, struct forkjoin_thread, t)
		vec_release(&t->ended);
	vec_release(&f->all);
}

static struct forkjoin_thread *state_of(struct forkjoin *f, uint32_t index)
{
	while (f->all.n <= index)
		*vec_add(&f->all) = (struct forkjoin_thread){ .maker = MAP_NONE,
							      .awaited_at = MAP_NONE,
							      .site = MAP_NONE };
	return &f->all.data[index];
}

/* Returns the maker of a thread whose brood is still open, or NULL. */
static struct forkjoin_thread *maker_of(struct forkjoin *f, const struct forkjoin_thread *child)
{
	struct forkjoin_thread *maker =
		child->maker == MAP_NONE ? NULL : &f->all.data[child->maker];

	return maker && maker->brood == child->of ? maker : NULL;
}

static int by_birth(const void *a, const void *b)
{
	const struct forkjoin_part *x = a, *y = b;

	if (x->born_ns == y->born_ns)
		return (x->number > y->number) - (x->number < y->number);
	return x->born_ns < y->born_ns ? -1 : 1;
}

/* Notes that the maker begins to wait for an end. Its work since it created the last thread is its
 * own share. */
static void arrive(struct forkjoin_thread *maker, const struct thread *t, uint64_t time_ns)
{
	if (maker->arrived_ns || !maker->made_ns)
		return;
	maker->arrived_ns = time_ns;
	maker->arrived_off = t->off;
}

static uint64_t running_ns(uint64_t from, uint64_t to, const struct offcpu *off)
{
	return to > from ? offcpu_running_ns(to - from, off) : 0;
}

/* Whether the maker has a share of the work. In recursive programs, it keeps a share for itself
 * before it waits. A maker with much more or much less work does something else. */
static bool takes_part(const struct forkjoin_thread *maker, size_t n)
{
	struct offcpu off = offcpu_between(&maker->made_off, &maker->arrived_off);
	double mean = 0, own;

	if (!maker->arrived_ns)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct forkjoin_part *p = &maker->ended.data[i];

		mean += (double)running_ns(p->born_ns, p->end_ns, &p->off) / (double)n;
	}
	own = (double)running_ns(maker->made_ns, maker->arrived_ns, &off);
	return own >= MAKER_LEAST * mean && own <= MAKER_MOST * mean;
}

/* Adds the maker's part, which begins when it created the first thread. */
static void add_maker(struct forkjoin *f, struct forkjoin_thread *maker)
{
	const struct thread *t = f->threads->all.data[maker - f->all.data];
	struct forkjoin_part first = maker->ended.data[0];

	*vec_add(&maker->ended) = (struct forkjoin_part){
		.number = SECTION_MAKER,
		.tid = t->tid,
		.born_ns = first.born_ns,
		.end_ns = maker->arrived_ns,
		.off = offcpu_between(&first.maker_off, &maker->arrived_off),
	};
}

/* Ends a brood. Each instance has new threads, which correspond to those of other instances by the
 * order of their creation. */
static void close_brood(struct forkjoin *f, struct forkjoin_thread *maker)
{
	size_t n = 0;

	while (maker->until_ns && n < maker->ended.n &&
	       maker->ended.data[n].end_ns <= maker->until_ns + BETWEEN_NS)
		n++;
	maker->ended.n = n;
	vec_sort(&maker->ended, by_birth);
	for (uint32_t i = 0; i < n; i++)
		maker->ended.data[i].number = i;
	if (n && takes_part(maker, n))
		add_maker(f, maker);
	if (n && !maker->mixed)
		f->joined(f->ctx, maker->ended.data, maker->ended.n, maker->site);
	maker->ended.n = 0;
	maker->alive = maker->n_awaited = 0;
	maker->mixed = maker->open = false;
	maker->until_ns = 0;
	maker->made_ns = maker->arrived_ns = 0;
	maker->site = MAP_NONE;
	maker->brood++;
}

static void wait_until(struct forkjoin_thread *maker, uint64_t time_ns)
{
	if (maker->until_ns < time_ns)
		maker->until_ns = time_ns;
}

/* Returns how many of the ended threads had this futex. */
static size_t count_former(const struct forkjoin_thread *maker, uint64_t word)
{
	size_t n = 0;

	vec_for_each (&maker->ended, const struct forkjoin_part, p)
		n += word && p->word == word;
	return n;
}

static void leave_out_former(struct forkjoin_thread *maker, uint64_t word)
{
	size_t n = 0;

	for (size_t i = 0; i < maker->ended.n; i++)
		if (maker->ended.data[i].word != word)
			maker->ended.data[n++] = maker->ended.data[i];
	maker->ended.n = n;
}

/*
 * Handles the creation of a thread with this futex. An ended thread that had the futex before was
 * waited for without a sleep, or is detached; if no thread of the brood is alive, the same holds
 * for the others. Without futexes, it is not known whether the ended threads will still be waited
 * for.
 */
static void make_room(struct forkjoin *f, struct forkjoin_thread *maker, uint64_t word)
{
	size_t former = count_former(maker, word);

	if (maker->until_ns || (!maker->alive && (!word || former)))
		close_brood(f, maker);
	else if (former)
		leave_out_former(maker, word);
}

static void on_birth(struct forkjoin *f, const struct thread *t, const struct record *r)
{
	const struct thread *child = threads_alive(f->threads, (uint32_t)r->values[0]);
	struct forkjoin_thread *maker, *made;

	if (!child || child->tgid != t->tgid)
		return;
	(void)state_of(f, child->index);
	maker = state_of(f, t->index);
	make_room(f, maker, r->values[2]);
	maker->alive++;
	maker->made_ns = r->time_ns;
	maker->made_off = t->off;
	maker->arrived_ns = 0;
	made = &f->all.data[child->index];
	made->maker = t->index;
	made->of = maker->brood;
	made->word = r->values[2];
	made->maker_off = t->off;
}

static void on_death(struct forkjoin *f, const struct thread *t)
{
	struct forkjoin_thread *child = state_of(f, t->index), *maker = maker_of(f, child);

	if (!maker)
		return;
	maker->alive--;
	maker->n_awaited -= child->awaited;
	maker->mixed |= child->met;
	*vec_add(&maker->ended) = (struct forkjoin_part){ .number = t->index,
							  .tid = t->tid,
							  .born_ns = t->born_ns,
							  .end_ns = t->end_ns,
							  .word = child->word,
							  .off = t->off,
							  .maker_off = child->maker_off };
	if (!maker->joins && !child->awaited)
		return;
	wait_until(maker, t->end_ns);
	if (!maker->joins && child->awaited_at != MAP_NONE)
		maker->site = child->awaited_at;
}

/* Handles a sleep of t, which may be a wait for the end of another thread. */
static void on_sleep(struct forkjoin *f, const struct thread *t)
{
	uint32_t stack = state_of(f, t->index)->stack;
	struct forkjoin_thread *child, *maker;
	const struct thread *other;

	if (t->sleep.for_end == SLEEP_NOBODY)
		return;
	child = state_of(f, t->sleep.for_end);
	maker = maker_of(f, child);
	if (!maker)
		return;
	if (child->maker == t->index)
		arrive(maker, t, t->sleep.since_ns);
	other = f->threads->all.data[t->sleep.for_end];
	if (stack)
		child->awaited_at = callsites_of_wait(f->sites, stack, parallel_role_joins);
	/* a library that joins for the program, as std::future does, is the caller of the join */
	if (maker->joins && child->awaited_at != MAP_NONE &&
	    callsites_in_library(f->sites, maker->site))
		maker->site = child->awaited_at;
	if (other->dead) {
		wait_until(maker, other->end_ns);
		return;
	}
	maker->n_awaited += !child->awaited;
	child->awaited = true;
}

/* Threads that ended before the maker was on a CPU again need no sleep of their own, so the wait
 * for ends is extended to that time. */
static void on_awake(struct forkjoin *f, const struct thread *t, uint64_t time_ns)
{
	struct forkjoin_thread *maker = state_of(f, t->index);

	if (t->sleep.ended_ns == time_ns && t->sleep.since_ns <= maker->until_ns)
		wait_until(maker, time_ns);
}

void forkjoin_record(struct forkjoin *f, const struct thread *t, const struct record *r)
{
	switch (r->kind) {
	case REC_FORK:
		on_birth(f, t, r);
		break;
	case REC_TASK_EXIT:
		on_death(f, t);
		break;
	case REC_SWITCH_OUT:
		state_of(f, t->index)->stack = 0;
		break;
	case REC_BLOCK_STACK:
		state_of(f, t->index)->stack = (uint32_t)r->values[0];
		on_sleep(f, t);
		break;
	case REC_WAIT:
		on_sleep(f, t);
		break;
	case REC_SWITCH_IN:
		on_awake(f, t, r->time_ns);
		break;
	default:
		break;
	}
}

/* Functions that join may call each other; the outermost one was called by the program. */
void forkjoin_enter(struct forkjoin *f, const struct thread *t, const struct call *c)
{
	struct forkjoin_thread *maker = state_of(f, t->index);

	if (maker->joins++)
		return;
	maker->open = false;
	maker->site = callsites_of(f->sites, c);
	arrive(maker, t, c->entry_ns);
	if (maker->ended.n) /* ended threads have waited for this join */
		wait_until(maker, c->entry_ns);
}

void forkjoin_leave(struct forkjoin *f, const struct thread *t, bool open)
{
	struct forkjoin_thread *maker = state_of(f, t->index);

	maker->joins -= maker->joins > 0;
	maker->open = open;
}

void forkjoin_met(struct forkjoin *f, const struct thread *t)
{
	state_of(f, t->index)->met = true;
}

void forkjoin_region(struct forkjoin *f, const struct thread *t)
{
	state_of(f, t->index)->mixed = true;
}

void forkjoin_end(struct forkjoin *f)
{
	vec_for_each (&f->all, struct forkjoin_thread, maker) {
		if (maker->alive && (maker->open || maker->n_awaited))
			maker->until_ns = 0;
		close_brood(f, maker);
	}
}
