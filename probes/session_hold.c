/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
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

int session_hold(struct session *s, struct probeset *set, pid_t pid, struct err *err)
{
	if (!session_events_are_swapped(s))
		return 0;
	map_put(&s->held, pid, 1);
	return probeset_hold(set, pid, err);
}

static int hold_in_sets(struct session *s, pid_t pid, struct err *err)
{
	int ret = 0;

	if (++s->n_holds % HELD_MAX == 0)
		vec_for_each (&s->sets, struct probeset, set)
			probeset_let_go(set);
	for (size_t k = 0; k < s->sets.n && !ret; k++)
		if (s->sets.data[k].attached)
			ret = session_hold(s, &s->sets.data[k], pid, err);
	return ret == -ESRCH ? 0 : ret;
}

int session_hold_new(struct session *s, struct err *err)
{
	struct drain *d = &s->drain;
	bool hold = session_events_are_swapped(s) && !s->burst.off;
	int ret = 0;

	for (size_t i = 0; i < d->n_forks && hold && !ret; i++) {
		s->n_twins += map_get(&s->held, d->forks[i].parent) == MAP_NONE;
		ret = hold_in_sets(s, d->forks[i].child, err);
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
