/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/unwatched.h"

#include "analysis/threads/setclock.h"
#include "analysis/threads/threads.h"
#include "trace/record.h"

/* Leaves the thread in the state in which it is until the stretch ends. */
static void leave(struct threads *th, struct thread *t, uint64_t time_ns)
{
	if (t->unseen_ns) {
		thread_not_observed(th, t, t->unseen_ns, time_ns);
		t->unseen_ns = 0;
	} else {
		if (t->state == THREAD_UNKNOWN && th->have_switch)
			t->state = THREAD_BLOCKED; /* a running thread would have records */
		thread_settle(t, time_ns);
	}
	t->doubtful = thread_sleeps(t) && !t->sleep.woken_ns;
	if (!t->doubtful)
		t->state = THREAD_UNKNOWN;
	oversubscription_move(&th->oversubscription, &t->oversubscription, OVERSUBSCRIPTION_AWAY,
			      time_ns);
}

void unwatched_begin(struct threads *th, uint64_t time_ns)
{
	struct unwatched *u = &th->unwatched;

	if (u->now)
		return;
	if (!u->of_set)
		u->of_set = arena_alloc(&th->arena, (th->n_sets + 1) * sizeof(*u->of_set));
	vec_for_each (&th->all, struct thread *, t)
		if (!(*t)->dead)
			leave(th, *t, time_ns);
	takers_forget(&th->takers);
	futexes_forget_present(&th->futexes);
	u->now = true;
	u->since_ns = time_ns;
}

void unwatched_end(struct threads *th, uint64_t time_ns, uint64_t switches)
{
	struct unwatched *u = &th->unwatched;

	if (!u->now)
		return;
	u->now = false;
	u->until_ns = time_ns;
	u->n++;
	u->ns += time_ns - u->since_ns;
	u->switches += switches;
	for (uint32_t set = 0; set < th->n_sets; set++)
		u->of_set[set] += setclock_overlap(th, set, 0, u->since_ns, time_ns);
	vec_for_each (&th->all, struct thread *, it) {
		struct thread *t = *it;

		if (t->dead)
			continue;
		thread_not_observed(th, t, u->since_ns, time_ns);
		if (t->since_ns < time_ns)
			t->since_ns = time_ns;
		if (!t->doubtful)
			sleep_unknown(t, time_ns);
	}
}

void unwatched_restart(struct threads *th, uint64_t time_ns)
{
	struct unwatched *u = &th->unwatched;

	if (u->since_ns < time_ns)
		u->since_ns = time_ns;
	u->n = u->ns = u->switches = 0;
	for (uint32_t set = 0; u->of_set && set < th->n_sets; set++)
		u->of_set[set] = 0;
}

bool unwatched_keeps(const struct record *r)
{
	switch (r->kind) {
	case REC_FORK:
	case REC_TASK_EXIT:
	case REC_COMM:
	case REC_EXEC:
	case REC_LOST:
	case REC_SET_ON:
	case REC_SET_OFF:
	case REC_CALL_COUNT:
	case REC_BRIEF:
	case REC_SWITCHES_OFF:
	case REC_SWITCHES_ON:
		return true;
	default:
		return false;
	}
}

/* Returns the kernel's count in the record, or 0 if it has none. */
static uint64_t count_of(const struct record *r)
{
	const unsigned at = r->kind == REC_SWITCH_OUT ? 3 : r->kind == REC_WAKING ? 2 : 1;
	const bool has =
		r->kind == REC_SWITCH_OUT || r->kind == REC_SWITCH_IN || r->kind == REC_WAKING;

	return has && r->n_values > at ? r->values[at] : 0;
}

/* Returns whether the first record of t after a stretch shows that t was off the CPU until then. */
static bool shows_off(const struct record *r)
{
	return r->kind == REC_WAKING || r->kind == REC_SWITCH_IN;
}

static void resolve(struct threads *th, struct thread *t, const struct record *r)
{
	const bool same = t->switches && count_of(r) == t->switches;

	if (t->doubtful && shows_off(r) && same) {
		t->doubtful = false;
		return;
	}
	unwatched_runs(t);
	if (!shows_off(r)) {
		/* it ran all the time, as its switch-in would have a record */
		if (t->since_ns < r->time_ns)
			t->since_ns = r->time_ns;
		t->state = THREAD_RUNNING;
	} else if (r->kind == REC_SWITCH_IN && th->have_waking && !t->sleep.woken_ns) {
		t->state = THREAD_PREEMPTED; /* a sleeper would have been woken first */
	} else {
		t->state = THREAD_UNKNOWN;
	}
}

/* The thread ends in a stretch. */
static void end_in_stretch(struct threads *th, struct thread *t, uint64_t time_ns)
{
	thread_not_observed(th, t, th->unwatched.since_ns, time_ns);
	if (t->since_ns < time_ns)
		t->since_ns = time_ns;
	t->doubtful = false;
	t->state = THREAD_RUNNING;
}

/* Returns the thread of which r tells where it was until now, or NULL. */
static struct thread *told_of(const struct threads *th, const struct record *r)
{
	switch (r->kind) {
	case REC_WAKING:
		return threads_alive(th, (uint32_t)r->values[0]);
	case REC_SWITCH_OUT:
	case REC_SWITCH_IN:
	case REC_SAMPLE:
	case REC_FORK:
	case REC_EXEC:
	case REC_TASK_EXIT:
		return threads_alive(th, r->tid);
	default:
		return NULL;
	}
}

void unwatched_meet(struct threads *th, const struct record *r)
{
	struct thread *t;

	if (th->unwatched.now) {
		/* a thread that has the number of a new one has ended */
		t = r->kind == REC_TASK_EXIT ? threads_alive(th, r->tid)
		    : r->kind == REC_FORK    ? threads_alive(th, (uint32_t)r->values[0])
					     : NULL;
		if (t)
			end_in_stretch(th, t, r->time_ns);
		return;
	}
	t = th->unwatched.until_ns || r->n_values > 3 ? told_of(th, r) : NULL;
	if (!t)
		return;
	if (t->doubtful || (t->state == THREAD_UNKNOWN && t->born_ns < th->unwatched.until_ns))
		resolve(th, t, r);
	if (r->kind == REC_SWITCH_OUT)
		t->switches = count_of(r);
}

void unwatched_runs(struct thread *t)
{
	if (t->doubtful)
		sleep_unknown(t, t->since_ns);
	t->doubtful = false;
}
