/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/attach.h"

#include <linux/version.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/process/child.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/follow.h"
#include "probes/session/hold.h"

#define CALM_NS	     500000000ull /* time since the last set was removed */
#define RETIRED_MOST 16		  /* from this number on, one is closed at any time */

/* Puts a carrier on every thread, until no new thread is found. Children of threads with a carrier
 * inherit it. */
static int follow_threads(struct probeset *set, pid_t pid, struct err *err)
{
	struct pids tids = { 0 };
	struct map done = { 0 };
	bool found_new = true;
	int ret = 0;

	while (found_new && !ret) {
		found_new = false;
		if (target_threads(pid, &tids))
			break;
		vec_for_each (&tids, pid_t, tid) {
			if (map_get(&done, *tid) != MAP_NONE)
				continue;
			map_put(&done, *tid, 0);
			found_new = true;
			ret = probeset_follow(set, *tid, true, err);
			if (ret == -ESRCH)
				ret = 0;
			if (ret)
				break;
		}
	}
	map_release(&done);
	vec_release(&tids);
	return ret;
}

int session_open_on_process(struct attach *a, struct recording *r, struct probeset *set, pid_t pid,
			    struct err *err)
{
	int ret = 0;

	if (!set->attached)
		ret = probeset_open(set, r->programs, a->waiter ? a->waiter : pid, err);
	if (!ret)
		ret = probeset_open_session(set, r->programs, pid, err);
	if (ret)
		return ret;
	if (session_inherits(a->follow, r)) {
		session_follow_carried(a->follow, r);
		ret = follow_threads(set, pid, err);
	}
	return ret ? ret : session_hold(a->holds, r, set, pid, err);
}

void session_retire_set(struct attach *a, struct probeset *set)
{
	uint64_t begin_ns = clock_now_ns();

	probeset_quiet(set);
	a->since_ns = clock_now_ns();
	log_detail("set %u is off the target after %.1f ms", set->id,
		   (a->since_ns - begin_ns) / 1e6);
	*vec_add(&a->retired) = *set;
	*set = (struct probeset){ .id = set->id };
}

/*
 * Whether the kernel may wait long before it closes an event: from 6.13 on it does while a thread
 * is inside of a call with a return probe, and meets return probes again and again, less than 0.1 s
 * apart, whosever they are. Opening events waits, too, then.
 */
static bool closing_may_wait(const struct recording *r)
{
	if (r->kernel_version < KERNEL_VERSION(6, 13, 0))
		return false;
	vec_for_each (&r->plan, struct planned *const, p)
		if (planned_is_traced(*p) && (*p)->exit.mech == EXIT_RETURN)
			return true;
	return false;
}

void session_close_retired(struct attach *a, const struct recording *r, uint64_t now, bool counting)
{
	struct probeset *oldest = a->retired.data;

	if (!a->retired.n)
		return;
	if (a->closing) {
		if (!probeset_is_closed(oldest))
			return;
		probeset_release(oldest);
		memmove(oldest, oldest + 1, --a->retired.n * sizeof(*oldest));
		a->closing = false;
	} else if (a->retired.n > RETIRED_MOST ||
		   (!counting && now - a->since_ns >= CALM_NS && !closing_may_wait(r))) {
		probeset_close_beside(oldest);
		a->closing = true;
	}
}

void session_retire_calibration(struct attach *a, struct recording *r)
{
	if (r->is_hybrid && r->sets.calibrated)
		session_retire_set(a, &r->sets.data[0]);
}

/* All probes leave the processes before the first event is closed (closing_may_wait()). */
void session_close_sets_beside(struct attach *a, struct recording *r)
{
	vec_for_each (&r->sets, struct probeset, set)
		probeset_quiet(set);
	vec_for_each (&a->retired, struct probeset, set)
		probeset_quiet(set);
	vec_for_each (&r->sets, struct probeset, set)
		probeset_close_beside(set);
	vec_for_each (&a->retired, struct probeset, set)
		probeset_close_beside(set);
}

void session_close_sets(struct attach *a, struct recording *r)
{
	session_close_sets_beside(a, r);
	bpfprog_detach_scheduler(r->programs);
	vec_for_each (&r->sets, struct probeset, set)
		probeset_release(set);
	vec_for_each (&a->retired, struct probeset, set)
		probeset_release(set);
	vec_release(&a->retired);
}

int session_open_on_targets(struct attach *a, struct recording *r, struct probeset *set,
			    struct err *err)
{
	struct pids pids = { 0 };
	int ret = 0;

	bpfprog_targets(r->programs, &pids);
	vec_for_each (&pids, pid_t, pid) {
		ret = session_open_on_process(a, r, set, *pid, err);
		if (ret == -ESRCH)
			ret = 0;
		if (ret)
			break;
	}
	vec_release(&pids);
	return ret;
}

void session_attach_init(struct attach *a)
{
	a->waiter = waiter_start();
}

void session_attach_release(struct attach *a)
{
	waiter_end(a->waiter);
}
