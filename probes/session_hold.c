/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that are held: by events that are not inherited, one per dynamic event on the first
 * thread (or another, when that has ended). All are where children are not followed by inheritance
 * (session_follow.c), and on some kernels also where they are.
 *
 * Before 6.13 the kernel takes the inherited events of two processes for each other's twins when it
 * switches from one to the other and they come from the same fork or one from the other; it swaps
 * them. The end of one then takes the other's breakpoints away (its events' target is the wrong
 * process). Later kernels leave events alone that are read in samples (dynevent_session.c).
 *
 * An event that is not inherited stays with its process, and a process that has one bears no twins.
 * So each one of the target gets one per dynamic event, the descendants as soon as they are heard
 * of. Until then only what a process just born has forked itself can be swapped.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/version.h>
#include <stdio.h>

#include "base/err.h"
#include "probes/session_private.h"

#define HELD_MAX 1024 /* then the descriptors of those that ended are closed */

bool session_events_are_swapped(const struct session *s)
{
	return s->options.inherit && s->kernel_version < KERNEL_VERSION(6, 13, 0);
}

static bool holds(const struct session *s)
{
	return session_events_are_swapped(s) || !session_inherits(s);
}

/* Any thread's will do, as long as it lives. */
static int hold_by_another(struct probeset *set, pid_t pid, struct err *err)
{
	struct pids tids = { 0 };
	int ret = -ESRCH;

	if (!target_threads(pid, &tids))
		vec_for_each (&tids, pid_t, tid)
			if (*tid != pid && ret == -ESRCH)
				ret = probeset_hold(set, *tid, err);
	vec_release(&tids);
	return ret;
}

int session_hold(struct session *s, struct probeset *set, pid_t pid, struct err *err)
{
	int ret;

	if (!holds(s))
		return 0;
	map_put(&s->held, pid, 1);
	ret = probeset_hold(set, pid, err);
	return ret == -ESRCH ? hold_by_another(set, pid, err) : ret;
}

static int hold_in_sets(struct session *s, pid_t pid, struct err *err)
{
	int ret = 0;

	if (++s->n_holds % HELD_MAX == 0)
		vec_for_each (&s->sets, struct probeset, set)
			probeset_let_go(set);
	for (size_t k = 0; k < s->sets.n && !ret; k++)
		if (s->sets.data[k].attached && session_is_on_targets(s, k))
			ret = session_hold(s, &s->sets.data[k], pid, err);
	return ret == -ESRCH ? 0 : ret;
}

int session_hold_new(struct session *s, struct err *err)
{
	struct drain *d = &s->drain;
	bool hold = holds(s) && !s->burst.off;
	int ret = 0;

	session_follow_forks(s);
	for (size_t i = 0; i < d->n_forks && hold && !ret; i++) {
		s->n_twins += session_events_are_swapped(s) && session_inherits(s) &&
			      map_get(&s->held, d->forks[i].parent) == MAP_NONE;
		ret = hold_in_sets(s, d->forks[i].child, err);
		session_follow_fork(s, d->forks[i].time_ns);
	}
	for (size_t i = 0; i < d->n_execs && hold && !ret; i++)
		ret = hold_in_sets(s, d->execs[i], err);
	d->n_execs = 0;
	return ret;
}

void session_hold_end(struct session *s)
{
	char text[256];

	if (!s->n_twins)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " processes were forked by processes just born; before Linux 6.13 the "
		 "kernel may drop the probes of such relatives: calls of theirs can be missing",
		 s->n_twins);
	session_write_notice(s, "twins", text);
}
