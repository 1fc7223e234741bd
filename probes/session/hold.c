/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Held processes: those with events that are not inherited, one for each dynamic event on each of
 * two threads. All processes are held if children are not followed by inheritance (follow.c), and
 * on some kernels also if they are.
 *
 * Before 6.13 the kernel may swap the inherited events of two processes when it switches from one
 * to the other, if both come from the same fork or one from the other. When one of the two ends, it
 * then takes away the breakpoints of the other, because its events have the wrong process as
 * target. Later kernels do not swap events that are read in samples (dynevent_session.c).
 *
 * An event that is not inherited stays with its process, and the kernel never swaps the events of a
 * process that has one. So each process of the target gets one for each dynamic event, its
 * descendants as soon as ispot hears of them. Until then, only the events of processes that a new
 * process has itself forked can be swapped.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/version.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/session/internal.h"

#define HELD_MAX 1024 /* after this many the descriptors of ended processes are closed */

bool session_events_are_swapped(const struct session *s)
{
	return s->r.options->inherit && s->r.kernel_version < KERNEL_VERSION(6, 13, 0);
}

static bool holds(const struct session *s)
{
	return session_events_are_swapped(s) || !session_inherits(s);
}

static struct holding *holding_of(struct session *s, pid_t pid)
{
	uint32_t i = map_get(&s->holds.held, pid);

	if (i == MAP_NONE) {
		i = s->holds.all.n;
		*vec_add(&s->holds.all) = (struct holding){ 0 };
		map_put(&s->holds.held, pid, i);
	}
	return &s->holds.all.data[i];
}

static bool holds_by(const struct holding *h, pid_t tid)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->tids[i] == tid)
			return true;
	return false;
}

static void add_thread(struct session *s, struct holding *h, pid_t tid)
{
	if (h->n == TARGET_QUIET || holds_by(h, tid))
		return;
	h->tids[h->n++] = tid;
	map_put(&s->holds.watched, tid, 1);
	s->r.drain.watched = &s->holds.watched;
}

/* Forgets ended threads, also those of another process that had the number before. */
static void forget_ended(struct holding *h, pid_t pid, pid_t ended)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < h->n; i++)
		if (h->tids[i] != ended && !syscall(SYS_tgkill, pid, h->tids[i], 0))
			h->tids[kept++] = h->tids[i];
	h->n = kept;
}

/*
 * Chooses threads that switch seldom, because a thread with an event pays at each switch. Two are
 * chosen, because one may end.
 */
static void choose_threads(struct session *s, struct holding *h, pid_t pid)
{
	pid_t quiet[TARGET_QUIET];
	uint32_t n = session_inherits(s) ? 0 : target_quiet_threads(pid, quiet);

	for (uint32_t i = 0; i < n; i++)
		add_thread(s, h, quiet[i]);
	if (!h->n)
		add_thread(s, h, pid);
}

static int hold_from(struct holding *h, uint32_t first, struct probeset *set, struct err *err)
{
	int ret = -ESRCH;

	for (uint32_t i = first; i < h->n && (!ret || ret == -ESRCH); i++) {
		int one = probeset_hold(set, h->tids[i], err);

		ret = !ret && one == -ESRCH ? 0 : one;
	}
	return ret;
}

/* Holds the process by any thread that is alive. */
static int hold_by_another(struct session *s, struct holding *h, struct probeset *set, pid_t pid,
			   struct err *err)
{
	struct pids tids = { 0 };
	int ret = -ESRCH;

	if (!target_threads(pid, &tids))
		vec_for_each (&tids, pid_t, tid) {
			if (ret != -ESRCH || holds_by(h, *tid))
				continue;
			ret = probeset_hold(set, *tid, err);
			if (!ret)
				add_thread(s, h, *tid);
		}
	vec_release(&tids);
	return ret;
}

int session_hold(struct session *s, struct probeset *set, pid_t pid, struct err *err)
{
	struct holding *h;
	int ret;

	if (!holds(s))
		return 0;
	h = holding_of(s, pid);
	forget_ended(h, pid, 0);
	if (!h->n) /* otherwise the threads that hold it in the other sets are used */
		choose_threads(s, h, pid);
	ret = hold_from(h, 0, set, err);
	return ret == -ESRCH ? hold_by_another(s, h, set, pid, err) : ret;
}

static int hold_in_sets(struct session *s, pid_t pid, struct err *err)
{
	int ret = 0;

	/* forgets the previous process of that number, or the program before the exec */
	holding_of(s, pid)->n = 0;
	if (++s->holds.n % HELD_MAX == 0)
		vec_for_each (&s->r.sets, struct probeset, set)
			probeset_let_go(set);
	for (size_t k = 0; k < s->r.sets.n && !ret; k++)
		if (s->r.sets.data[k].attached && session_is_on_targets(&s->r, k))
			ret = session_hold(s, &s->r.sets.data[k], pid, err);
	return ret == -ESRCH ? 0 : ret;
}

/* Replaces a thread that held the process and has ended. */
static int hold_again(struct session *s, pid_t pid, pid_t ended, struct err *err)
{
	struct holding *h = holding_of(s, pid);
	uint32_t first;
	int ret = 0;

	forget_ended(h, pid, ended);
	first = h->n;
	choose_threads(s, h, pid);
	for (size_t k = 0; k < s->r.sets.n && !ret && first < h->n; k++) {
		struct probeset *set = &s->r.sets.data[k];

		if (!set->attached || !session_is_on_targets(&s->r, k))
			continue;
		ret = hold_from(h, first, set, err);
		if (ret == -ESRCH)
			ret = first ? 0 : hold_by_another(s, h, set, pid, err);
	}
	return ret == -ESRCH ? 0 : ret;
}

int session_hold_new(struct session *s, struct err *err)
{
	struct drain *d = &s->r.drain;
	bool hold = holds(s) && !s->r.is_between_bursts;
	int ret = 0;

	session_follow_forks(s);
	for (size_t i = 0; i < d->n_forks && hold && !ret; i++) {
		s->holds.n_twins += session_events_are_swapped(s) && session_inherits(s) &&
				    map_get(&s->holds.held, d->forks[i].parent) == MAP_NONE;
		ret = hold_in_sets(s, d->forks[i].child, err);
		session_follow_fork(s, d->forks[i].time_ns);
	}
	for (size_t i = 0; i < d->n_execs && hold && !ret; i++)
		ret = hold_in_sets(s, d->execs[i], err);
	for (size_t i = 0; i < d->n_bereft && hold && !ret; i++)
		ret = hold_again(s, d->bereft[i].pid, d->bereft[i].tid, err);
	d->n_execs = d->n_bereft = 0;
	return ret;
}

void session_hold_end(struct session *s)
{
	char text[256];

	if (!s->holds.n_twins)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " processes were forked by processes just born; before Linux 6.13 the "
		 "kernel may drop the probes of such relatives: calls of theirs can be missing",
		 s->holds.n_twins);
	session_write_notice(&s->r, "twins", text);
}
