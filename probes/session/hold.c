/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/hold.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/version.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/follow.h"

#define HELD_MAX 1024 /* after this many the descriptors of ended processes are closed */

bool session_events_are_swapped(const struct recording *r)
{
	return r->options->inherit && r->kernel_version < KERNEL_VERSION(6, 13, 0);
}

static bool holds_processes(const struct holds *holds, const struct recording *r)
{
	return session_events_are_swapped(r) || !session_inherits(holds->follow, r);
}

static struct holding *holding_of(struct holds *holds, pid_t pid)
{
	uint32_t i = map_get(&holds->held, pid);

	if (i == MAP_NONE) {
		i = holds->all.n;
		*vec_add(&holds->all) = (struct holding){ 0 };
		map_put(&holds->held, pid, i);
	}
	return &holds->all.data[i];
}

static bool holds_by(const struct holding *h, pid_t tid)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->tids[i] == tid)
			return true;
	return false;
}

static void add_thread(struct holds *holds, struct recording *r, struct holding *h, pid_t tid)
{
	if (h->n == TARGET_QUIET || holds_by(h, tid))
		return;
	h->tids[h->n++] = tid;
	map_put(&holds->watched, tid, 1);
	r->drain.watched = &holds->watched;
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
static void choose_threads(struct holds *holds, struct recording *r, struct holding *h, pid_t pid)
{
	pid_t quiet[TARGET_QUIET];
	uint32_t n = session_inherits(holds->follow, r) ? 0 : target_quiet_threads(pid, quiet);

	for (uint32_t i = 0; i < n; i++)
		add_thread(holds, r, h, quiet[i]);
	if (!h->n)
		add_thread(holds, r, h, pid);
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
static int hold_by_another(struct holds *holds, struct recording *r, struct holding *h,
			   struct probeset *set, pid_t pid, struct err *err)
{
	struct pids tids = { 0 };
	int ret = -ESRCH;

	if (!target_threads(pid, &tids))
		vec_for_each (&tids, pid_t, tid) {
			if (ret != -ESRCH || holds_by(h, *tid))
				continue;
			ret = probeset_hold(set, *tid, err);
			if (!ret)
				add_thread(holds, r, h, *tid);
		}
	vec_release(&tids);
	return ret;
}

int session_hold(struct holds *holds, struct recording *r, struct probeset *set, pid_t pid,
		 struct err *err)
{
	struct holding *h;
	int ret;

	if (!holds_processes(holds, r))
		return 0;
	h = holding_of(holds, pid);
	forget_ended(h, pid, 0);
	if (!h->n) /* otherwise the threads that hold it in the other sets are used */
		choose_threads(holds, r, h, pid);
	ret = hold_from(h, 0, set, err);
	return ret == -ESRCH ? hold_by_another(holds, r, h, set, pid, err) : ret;
}

static int hold_in_sets(struct holds *holds, struct recording *r, pid_t pid, struct err *err)
{
	int ret = 0;

	/* forgets the previous process of that number, or the program before the exec */
	holding_of(holds, pid)->n = 0;
	if (++holds->n % HELD_MAX == 0)
		vec_for_each (&r->sets, struct probeset, set)
			probeset_unhold_ended(set);
	for (size_t k = 0; k < r->sets.n && !ret; k++)
		if (r->sets.data[k].attached && recording_is_on_targets(r, k))
			ret = session_hold(holds, r, &r->sets.data[k], pid, err);
	return ret == -ESRCH ? 0 : ret;
}

/* Replaces a thread that held the process and has ended. */
static int hold_again(struct holds *holds, struct recording *r, pid_t pid, pid_t ended,
		      struct err *err)
{
	struct holding *h = holding_of(holds, pid);
	uint32_t first;
	int ret = 0;

	forget_ended(h, pid, ended);
	first = h->n;
	choose_threads(holds, r, h, pid);
	for (size_t k = 0; k < r->sets.n && !ret && first < h->n; k++) {
		struct probeset *set = &r->sets.data[k];

		if (!set->attached || !recording_is_on_targets(r, k))
			continue;
		ret = hold_from(h, first, set, err);
		if (ret == -ESRCH)
			ret = first ? 0 : hold_by_another(holds, r, h, set, pid, err);
	}
	return ret == -ESRCH ? 0 : ret;
}

int session_hold_new(struct holds *holds, struct recording *r, struct err *err)
{
	struct drain *d = &r->drain;
	bool hold = holds_processes(holds, r) && !r->is_between_bursts;
	int ret = 0;

	session_follow_forks(holds->follow, r);
	for (size_t i = 0; i < d->n_forks && hold && !ret; i++) {
		holds->n_twins += session_events_are_swapped(r) &&
				  session_inherits(holds->follow, r) &&
				  map_get(&holds->held, d->forks[i].parent) == MAP_NONE;
		ret = hold_in_sets(holds, r, d->forks[i].child, err);
		session_follow_fork(holds->follow, d->forks[i].time_ns);
	}
	for (size_t i = 0; i < d->n_execs && hold && !ret; i++)
		ret = hold_in_sets(holds, r, d->execs[i], err);
	for (size_t i = 0; i < d->n_bereft && hold && !ret; i++)
		ret = hold_again(holds, r, d->bereft[i].pid, d->bereft[i].tid, err);
	d->n_execs = d->n_bereft = 0;
	return ret;
}

void session_hold_end(const struct holds *holds, struct recording *r)
{
	char text[256];

	if (!holds->n_twins)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " processes were forked by processes just born: before Linux 6.13 the "
		 "kernel may drop the probes of such relatives, so calls of theirs can be missing",
		 holds->n_twins);
	recording_write_notice(r, "twins", text);
}

void session_holds_release(struct holds *holds)
{
	map_release(&holds->held);
	vec_release(&holds->all);
	map_release(&holds->watched);
}
