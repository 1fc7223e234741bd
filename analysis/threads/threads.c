/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "analysis/threads/setclock.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/threads.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

static int latest_first(const void *a, const void *b)
{
	uint64_t x = (*(const struct meta_thread *const *)a)->seen_ns;
	uint64_t y = (*(const struct meta_thread *const *)b)->seen_ns;

	return (x < y) - (x > y);
}

static void set_comm(struct thread *t, const char *s, size_t n)
{
	if (n >= sizeof(t->comm))
		n = sizeof(t->comm) - 1;
	memcpy(t->comm, s, n);
	t->comm[n] = '\0';
}

static struct thread *new_place(struct threads *th)
{
	struct thread *t = arena_alloc(&th->arena, sizeof(*t));

	t->index = (uint32_t)th->all.n;
	t->watch_ns = arena_alloc(&th->arena, (th->n_sets + 1) * sizeof(*t->watch_ns));
	*vec_add(&th->all) = t;
	return t;
}

static struct thread *vacant_place(struct threads *th)
{
	struct thread *t = th->vacant.data[--th->vacant.n];

	t->vacant = t->dead = false;
	return t;
}

static struct thread *thread_new(struct threads *th, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	struct thread *t = th->vacant.n ? vacant_place(th) : new_place(th);

	t->tid = tid;
	t->tgid = tgid;
	t->first_ns = t->born_ns = t->since_ns = time_ns;
	t->all = th;
	t->parent = SLEEP_NOBODY;
	sleep_unknown(t, time_ns);
	for (uint32_t set = 0; set < th->n_sets; set++)
		t->watch_ns[set] = setclock_read(th, set, tgid, time_ns);
	th->n_alive++;
	map_put(&th->by_tid, tid, t->index);
	map_put(&th->processes, tgid, 1);
	return t;
}

struct thread *threads_latest(const struct threads *th, uint32_t tid)
{
	uint32_t i = map_get(&th->by_tid, tid);

	return i == MAP_NONE ? NULL : th->all.data[i];
}

struct thread *threads_alive(const struct threads *th, uint32_t tid)
{
	struct thread *t = threads_latest(th, tid);

	return t && !t->dead ? t : NULL;
}

struct thread *threads_find(struct threads *th, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	struct thread *t = threads_latest(th, tid);

	if (!t || t->dead)
		t = thread_new(th, tid, tgid, time_ns);
	return t;
}

/* Adds threads that the recorder found in /proc, once the records have reached that time. */
static void meet_known(struct threads *th, uint64_t time_ns)
{
	while (th->known.n && (*vec_last(&th->known))->seen_ns <= time_ns) {
		const struct meta_thread *m = *vec_last(&th->known);
		struct thread *t = threads_latest(th, m->tid);
		uint64_t born = m->seen_ns > th->start_ns ? m->seen_ns : th->start_ns;

		th->known.n--;
		if (!t)
			t = thread_new(th, m->tid, m->tgid, born);
		if (!t->comm[0] && m->comm)
			set_comm(t, m->comm, strlen(m->comm));
	}
}

void threads_init(struct threads *th, const struct meta *meta, uint64_t start_ns)
{
	*th = (struct threads){ .meta = meta,
				.start_ns = start_ns,
				.no_cpu = UINT32_MAX,
				.oversubscription.cpus = meta->session.cpus };
	(void)vec_add(&th->slots);
	setclocks_init(th);
	vec_for_each (&meta->threads, const struct meta_thread, m)
		*vec_add(&th->known) = m;
	vec_sort(&th->known, latest_first);
	vec_for_each (&meta->processes, const struct meta_process, p)
		if (p->kernel)
			takers_is_kernel(&th->takers, p->pid);
	meet_known(th, start_ns);
}

void threads_release(struct threads *th)
{
	vec_for_each (&th->all, struct thread *, t) {
		free((*t)->open);
		vec_release(&(*t)->history);
	}
	futexes_release(&th->futexes);
	takers_release(&th->takers);
	handouts_release(&th->handouts);
	behind_release(&th->behind);
	tries_release(&th->tries);
	free(th->set_of);
	vec_release(&th->outs);
	vec_release(&th->all);
	vec_release(&th->slots);
	vec_release(&th->pauses);
	vec_release(&th->clocks);
	vec_release(&th->known);
	vec_release(&th->ended);
	vec_release(&th->vacant);
	map_release(&th->by_tid);
	map_release(&th->standard_stacks);
	map_release(&th->set_index);
	map_release(&th->clock_of);
	map_release(&th->processes);
	arena_release(&th->arena);
	*th = (struct threads){ 0 };
}

/* Returns the time lost to oversubscription. It is limited to the time off the CPU, because the
 * clock may have been read late. */
static uint64_t oversubscribed_ns(struct thread *t, uint64_t most_ns, uint64_t time_ns)
{
	uint64_t ns = (uint64_t)oversubscription_take_ns(&t->all->oversubscription,
							 &t->oversubscription, time_ns);

	return ns < most_ns ? ns : most_ns;
}

/* Returns whether a thread of the program ended the sleep, or will: a sleeper whose timeout at a
 * futex ended checks the futex again. */
static bool is_by_thread(const struct sleep *s)
{
	return s->end == SLEEP_BY_THREAD || (s->end == SLEEP_BY_TIMER && s->word != SLEEP_NOBODY);
}

static void settle_sleep(struct thread *t, uint64_t time_ns)
{
	const struct sleep *s = &t->sleep;
	/* An idle CPU that is slow to wake up also lengthens the wait, but then no other thread had
	 * that CPU. */
	bool ready = s->woken_ns && s->woken_ns < time_ns && !t->found_idle;
	uint64_t woken = ready ? s->woken_ns : time_ns, idle;

	if (woken < t->since_ns)
		woken = t->since_ns;
	idle = t->all->have_waking || s->by_call ? sleep_idle_ns(t, t->since_ns, woken) : 0;
	t->off.idle_ns += idle;
	t->off.blocked_ns += woken - t->since_ns - idle;
	if (is_by_thread(s))
		t->held_ns += woken - t->since_ns - idle;
	t->off.preempted_ns += time_ns - woken;
	t->off.woken_ns += time_ns - woken;
	t->ready_ns += time_ns - woken;
	t->off.oversubscribed_ns += oversubscribed_ns(t, time_ns - woken, time_ns);
}

void thread_settle(struct thread *t, uint64_t time_ns)
{
	/* The thread's first record decides what an unknown state was, or the end of the recording
	 * if there is none. */
	if (time_ns <= t->since_ns || t->state == THREAD_UNKNOWN || t->all->unwatched.now)
		return;
	t->off_changes += t->state != THREAD_RUNNING;
	if (t->state == THREAD_PREEMPTED) {
		t->off.preempted_ns += time_ns - t->since_ns;
		t->ready_ns += time_ns - t->since_ns;
		t->off.yielded_ns += t->yielded ? time_ns - t->since_ns : 0;
		t->off.recorder_ns += t->recorder_took ? time_ns - t->since_ns : 0;
		t->off.oversubscribed_ns += oversubscribed_ns(t, time_ns - t->since_ns, time_ns);
	} else if (t->state == THREAD_SLEEPING || t->state == THREAD_BLOCKED) {
		settle_sleep(t, time_ns);
	}
	t->since_ns = time_ns;
}

void thread_runs(struct thread *t, uint64_t time_ns)
{
	thread_settle(t, time_ns);
	t->state = THREAD_RUNNING;
	oversubscription_move(&t->all->oversubscription, &t->oversubscription,
			      OVERSUBSCRIPTION_RUNNING, time_ns);
}

static void taken_by(void *self, uint64_t who, uint64_t ns)
{
	struct threads *th = self;
	uint32_t pid = who > SWITCH_AFTER_IDLE ? (uint32_t)(who - SWITCH_AFTER_IDLE) : 0;

	if (who == SWITCH_AFTER_UNKNOWN)
		takers_add(&th->takers, TAKER_UNKNOWN, 0, ns);
	else if (who == SWITCH_AFTER_IDLE)
		takers_add(&th->takers, TAKER_IDLE, 0, ns);
	else if (map_get(&th->processes, pid) != MAP_NONE)
		takers_add(&th->takers, TAKER_PROGRAM, 0, ns);
	else if (pid == th->meta->session.recorder_pid)
		takers_add(&th->takers, TAKER_RECORDER, pid, ns);
	else
		takers_add(&th->takers, TAKER_OTHER, pid, ns);
}

static uint64_t who_was_before(const struct record *r)
{
	return r->n_values ? r->values[0] : SWITCH_AFTER_UNKNOWN;
}

/* Returns who runs next. The kernel preempts no thread to leave the CPU idle, so in that case the
 * next one is unknown. */
static uint64_t who_comes_next(const struct record *r)
{
	if (!r->values[1])
		return r->values[0] == SWITCH_PREEMPTED ? SWITCH_AFTER_UNKNOWN : SWITCH_AFTER_IDLE;
	return r->values[2] ? SWITCH_AFTER_IDLE + r->values[2] : SWITCH_AFTER_UNKNOWN;
}

/* Follows who runs on the CPU, even for threads that have ended: their last switch comes after
 * their end. */
static void follow_cpu(struct threads *th, const struct record *r)
{
	uint64_t of_it = SWITCH_AFTER_IDLE + r->tgid;
	bool gets_it = r->kind == REC_SWITCH_IN;

	takers_switch(&th->takers, r->cpu, r->time_ns, gets_it ? who_was_before(r) : of_it,
		      gets_it ? of_it : who_comes_next(r));
}

static void name_takers(struct threads *th, struct thread *t, const struct record *r)
{
	if (t->ready_ns)
		takers_share(&th->takers, r->cpu, r->time_ns - t->ready_ns, who_was_before(r),
			     taken_by, th);
	t->ready_ns = 0;
}

/* Handles a switch to the thread. If it is the thread's first record, the thread was off the CPU
 * until now, most likely asleep. */
static void switch_in(struct thread *t, const struct record *r)
{
	const uint64_t time_ns = r->time_ns;

	t->found_idle = who_was_before(r) == SWITCH_AFTER_IDLE;
	if (t->state == THREAD_UNKNOWN)
		t->state = THREAD_BLOCKED;
	if (thread_sleeps(t))
		sleep_settle(t, time_ns);
	thread_runs(t, time_ns);
	name_takers(t->all, t, r);
	t->found_idle = false;
}

static void switch_out(const struct threads *th, struct thread *t, const struct record *r)
{
	static const enum thread_state states[] = {
		[SWITCH_PREEMPTED] = THREAD_PREEMPTED, [SWITCH_SLEEPING] = THREAD_SLEEPING,
		[SWITCH_BLOCKED] = THREAD_BLOCKED,     [SWITCH_OTHER] = THREAD_BLOCKED,
		[SWITCH_YIELDED] = THREAD_PREEMPTED,
	};

	thread_runs(t, r->time_ns);
	t->state = r->values[0] <= SWITCH_YIELDED ? states[r->values[0]] : THREAD_BLOCKED;
	t->yielded = r->values[0] == SWITCH_YIELDED;
	if (thread_sleeps(t)) {
		sleep_begin(t, r);
		if (!th->have_wait)
			sleep_describe_by_call(t);
		t->off.sleeps++;
		t->off_changes++;
	}
	oversubscription_move(&t->all->oversubscription, &t->oversubscription,
			      thread_sleeps(t) ? OVERSUBSCRIPTION_AWAY : OVERSUBSCRIPTION_WAITING,
			      r->time_ns);
	t->recorder_took = r->values[2] && r->values[2] == th->meta->session.recorder_pid;
}

static void waking(struct threads *th, const struct record *r)
{
	struct thread *woken = threads_latest(th, (uint32_t)r->values[0]);
	struct thread *waker = r->tid ? threads_latest(th, r->tid) : NULL;
	bool inside =
		r->tid && ((waker && !waker->dead) || map_get(&th->processes, r->tgid) != MAP_NONE);

	th->have_waking = true;
	if (!woken || woken->dead || (!thread_sleeps(woken) && woken->state != THREAD_UNKNOWN))
		return;
	sleep_wake(woken, waker && !waker->dead ? waker : NULL, inside, r);
	if (waker && sleep_woken_by(woken, waker, r->time_ns)) {
		waker->off.wakes++;
		waker->off_changes++;
	}
	oversubscription_move(&th->oversubscription, &woken->oversubscription,
			      OVERSUBSCRIPTION_WAITING, r->time_ns);
}

static void add_gap(struct threads *th, struct thread *t, uint64_t from_ns, uint64_t to_ns)
{
	struct thread_gap *gap = t->gaps;

	if (gap && gap->to_ns == from_ns) {
		gap->to_ns = to_ns;
		return;
	}
	gap = arena_alloc(&th->arena, sizeof(*gap));
	*gap = (struct thread_gap){ t->gaps, from_ns, to_ns };
	t->gaps = gap;
}

void thread_not_observed(struct threads *th, struct thread *t, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < t->born_ns)
		from_ns = t->born_ns;
	if (from_ns < t->lost_until_ns)
		from_ns = t->lost_until_ns;
	if (to_ns <= from_ns)
		return;
	t->lost_until_ns = to_ns;
	t->lost_ns += to_ns - from_ns;
	add_gap(th, t, from_ns, to_ns);
	for (uint32_t set = 0; set < th->n_sets; set++)
		t->watch_ns[set] += setclock_overlap(th, set, t->tgid, from_ns, to_ns);
}

void thread_unseen(struct thread *t, uint64_t since_ns)
{
	if (t->unseen_ns)
		return;
	if (t->state == THREAD_UNKNOWN && t->all->have_switch)
		t->state = THREAD_BLOCKED; /* a running thread would have records */
	thread_settle(t, since_ns);
	t->state = THREAD_UNKNOWN;
	oversubscription_move(&t->all->oversubscription, &t->oversubscription,
			      OVERSUBSCRIPTION_AWAY, since_ns);
	t->unseen_ns = since_ns ? since_ns : 1;
}

void thread_seen(struct threads *th, struct thread *t, uint64_t time_ns)
{
	if (!t->unseen_ns)
		return;
	thread_not_observed(th, t, t->unseen_ns, time_ns);
	t->unseen_ns = 0;
	if (t->since_ns < time_ns)
		t->since_ns = time_ns;
	sleep_unknown(t, time_ns);
}

static void end_thread(struct threads *th, struct thread *t, uint64_t time_ns)
{
	if (t->dead)
		return;
	thread_seen(th, t, time_ns);
	if (t->state == THREAD_UNKNOWN && th->have_switch)
		t->state = THREAD_BLOCKED;
	thread_settle(t, time_ns);
	if (thread_sleeps(t))
		sleep_settle(t, time_ns);
	t->dead = true;
	oversubscription_move(&th->oversubscription, &t->oversubscription, OVERSUBSCRIPTION_AWAY,
			      time_ns);
	th->n_alive--;
	t->end_ns = time_ns > t->born_ns ? time_ns : t->born_ns;
	for (uint32_t set = 0; set < th->n_sets; set++) {
		uint64_t clock = setclock_read(th, set, t->tgid, t->end_ns);

		t->watch_ns[set] = clock > t->watch_ns[set] ? clock - t->watch_ns[set] : 0;
	}
	if (th->sums_up)
		*vec_add(&th->ended) = t;
}

struct thread *threads_rest(struct threads *th)
{
	if (th->rest)
		return th->rest;
	th->rest = new_place(th);
	th->rest->all = th;
	th->rest->parent = SLEEP_NOBODY;
	th->rest->dead = true;
	set_comm(th->rest, "(ended)", strlen("(ended)"));
	return th->rest;
}

static void forked(struct threads *th, const struct thread *parent, const struct record *r)
{
	uint32_t tid = (uint32_t)r->values[0];
	struct thread *child = threads_latest(th, tid);

	if (child && !child->dead && child->born_ns >= r->time_ns)
		return; /* the child's own records came first */
	if (child)
		end_thread(th, child, r->time_ns);
	child = thread_new(th, tid, (uint32_t)r->values[1], r->time_ns);
	memcpy(child->comm, parent->comm, sizeof(child->comm));
	child->parent = parent->index;
	child->cpu = r->cpu;
}

/* Returns the thread of the record, or NULL. Switches and samples after a thread's end belong to
 * the kernel. */
static struct thread *subject(struct threads *th, const struct record *r)
{
	struct thread *t;

	switch (r->kind) {
	case REC_SWITCH_OUT:
	case REC_SWITCH_IN:
	case REC_BLOCK_STACK:
	case REC_WAIT:
	case REC_SAMPLE:
		t = threads_latest(th, r->tid);
		if (t && t->dead)
			return NULL;
		break;
	case REC_TASK_EXIT:
		t = threads_latest(th, r->tid);
		return t && !t->dead ? t : NULL;
	case REC_CALL_COUNT:
	case REC_BRIEF: /* written at the end; older files also have those of ended threads */
		t = threads_latest(th, r->tid);
		if (t)
			return t;
		break;
	case REC_FORK:
	case REC_COMM:
	case REC_EXEC:
	case REC_STACK:
	case REC_EXIT_STACK:
	case REC_ARGS:
	case REC_COUNTERS:
	case REC_INNER:
	case REC_INSIDE:
	case REC_CONTENDED:
	case REC_HELD:
		break;
	default:
		return NULL;
	}
	t = threads_find(th, r->tid, r->tgid, r->time_ns);
	if (r->kind == REC_COMM)
		return t; /* another thread may have named it */
	if (r->cpu != th->no_cpu)
		t->cpu = r->cpu;
	/* The records that belong to a switch prove no more than the switch itself. */
	if (r->kind != REC_BLOCK_STACK && r->kind != REC_WAIT)
		thread_seen(th, t, r->time_ns);
	return t;
}

/* Whether functions of the set are timed in process; its records are in a stream of their own. */
static bool is_timed_in_process(const struct meta *meta, uint64_t set)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->in_process && f->set == set)
			return true;
	return false;
}

struct thread *threads_record(struct threads *th, const struct record *r)
{
	struct thread *t;

	if (th->known.n)
		meet_known(th, r->time_ns);
	t = subject(th, r);
	switch (r->kind) {
	case REC_SWITCH_OUT:
		th->have_switch = true;
		follow_cpu(th, r);
		if (t)
			switch_out(th, t, r);
		break;
	case REC_SWITCH_IN:
		th->have_switch = true;
		follow_cpu(th, r);
		if (t)
			switch_in(t, r);
		break;
	case REC_FORK:
		forked(th, t, r);
		break;
	case REC_TASK_EXIT:
		if (t) {
			thread_settle(t, r->time_ns);
			sleep_last_acts(t, r->time_ns);
			end_thread(th, t, r->time_ns);
		}
		break;
	case REC_COMM:
		set_comm(t, r->bytes ? r->bytes : "", r->n_bytes);
		break;
	case REC_WAKING:
		waking(th, r);
		break;
	case REC_WAIT:
		th->have_wait = true;
		if (t && thread_sleeps(t))
			sleep_describe(t, r);
		break;
	case REC_BLOCK_STACK:
		if (t && thread_sleeps(t))
			standard_see_stack(t, r->values[0]);
		break;
	case REC_SET_ON:
		if (is_timed_in_process(th->meta, r->values[0]))
			th->no_cpu = r->cpu;
		/* fall through */
	case REC_SET_OFF:
		setclock_switch(th, (uint32_t)r->values[0], (uint32_t)r->values[1],
				r->kind == REC_SET_ON, r->time_ns);
		break;
	default:
		break;
	}
	return t;
}

void threads_restart(struct threads *th, uint64_t time_ns)
{
	th->start_ns = time_ns;
	setclocks_restart(th, time_ns);
	handouts_restart(&th->handouts, time_ns);
	vec_for_each (&th->all, struct thread *, it) {
		struct thread *t = *it;

		thread_settle(t, time_ns);
		t->off = t->covered_off = t->off_at_call = (struct offcpu){ 0 };
		t->off_changes++;
		t->held_ns = t->lost_ns = t->covered_ns = 0;
		t->gaps = NULL;
		if (t->born_ns < time_ns)
			t->born_ns = time_ns;
		t->naps.ns = 0;
		if (t->unseen_ns && t->unseen_ns < time_ns)
			t->unseen_ns = time_ns;
		if (t->end_ns < t->born_ns)
			t->end_ns = t->born_ns;
		for (uint32_t set = 0; set < th->n_sets; set++)
			t->watch_ns[set] = t->dead ? 0 : setclock_read(th, set, t->tgid, time_ns);
	}
}

/* Now that it is known where work is handed out: which waits for locks are waits for it, too. */
static void judge_behind(struct threads *th)
{
	size_t n = th->futexes.all.n;
	struct behind_word *words = xcalloc(n + 1, sizeof(*words));

	for (uint32_t i = 0; i < n; i++) {
		const struct futex *f = &th->futexes.all.data[i];

		words[i] = (struct behind_word){
			.is_lock = futex_judge(f).class == FUTEX_LOCK,
			.is_work = handouts_is_given(th, i),
			.twin = futexes_first_twin(&th->futexes, i),
		};
	}
	behind_judge(&th->behind, words, n);
	for (uint32_t i = 0; i < n; i++)
		th->futexes.all.data[i].behind_work = words[i].part;
	free(words);
}

void threads_end(struct threads *th, uint64_t time_ns)
{
	meet_known(th, time_ns);
	vec_for_each (&th->all, struct thread *, t)
		end_thread(th, *t, time_ns);
	handouts_judge(th);
	judge_behind(th);
	tries_judge(&th->tries);
}

uint32_t threads_slot_slow(struct threads *th, struct thread *t, uint32_t id)
{
	size_t pages = th->meta->functions.n / THREAD_SLOTS + 1;
	uint32_t **page;

	if (!t->slots)
		t->slots = arena_alloc(&th->arena, pages * sizeof(*t->slots));
	page = &t->slots[id / THREAD_SLOTS];
	if (!*page)
		*page = arena_alloc(&th->arena, THREAD_SLOTS * sizeof(**page));
	(*page)[id % THREAD_SLOTS] = (uint32_t)th->slots.n;
	*vec_add(&th->slots) = (struct slot){ .thread = t->index, .id = id };
	return (*page)[id % THREAD_SLOTS];
}

uint64_t thread_observed_ns(const struct threads *th, const struct thread *t, uint32_t id)
{
	uint64_t on_ns = t->watch_ns[th->set_of[id]];
	uint64_t out_ns = th->outs.n ? setclocks_out_ns(th, id, t->tgid, t->born_ns, t->end_ns) : 0;

	/* time that a loss already removed is not subtracted twice */
	for (const struct thread_gap *g = out_ns ? t->gaps : NULL; g; g = g->before)
		out_ns -= setclocks_out_ns(th, id, t->tgid, g->from_ns, g->to_ns);
	return on_ns > out_ns ? on_ns - out_ns : 0;
}

uint64_t thread_watched_ns(const struct threads *th, const struct thread *t)
{
	uint64_t alive = t->end_ns - t->born_ns;
	uint64_t most = 0;

	if (!th->n_sets)
		return alive > t->lost_ns ? alive - t->lost_ns : 0;
	for (uint32_t set = 0; set < th->n_sets; set++)
		if (t->watch_ns[set] > most)
			most = t->watch_ns[set];
	return most;
}

/*
 * Returns a thread's watched time without off_ns of its life. It assumes that off_ns has the same
 * share of the watched time as of the life.
 */
static uint64_t watched_without(const struct threads *th, const struct thread *t, uint64_t off_ns)
{
	uint64_t alive = t->end_ns - t->born_ns;

	alive = alive > t->lost_ns ? alive - t->lost_ns : 0;
	if (off_ns >= alive)
		return 0;
	return (uint64_t)((double)thread_watched_ns(th, t) * (double)(alive - off_ns) /
			  (double)alive);
}

uint64_t thread_free_ns(const struct threads *th, const struct thread *t)
{
	return watched_without(th, t, t->held_ns);
}

uint64_t thread_asked_ns(const struct threads *th, const struct thread *t)
{
	return watched_without(th, t, t->off.blocked_ns + t->off.idle_ns);
}
