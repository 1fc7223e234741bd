/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "probes/bpfprog.h"
#include "probes/session_private.h"

#define HELD_MAX 1024 /* their descriptors stay open until the end */

/* A carrier on every thread there is, until a look finds no new one: those born of threads that
 * have one inherit it. */
static int follow_threads(struct session *s, struct probeset *set, pid_t pid, struct err *err)
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
			ret = probeset_follow(set, *tid, s->options.inherit, err);
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

/* Without children to follow, a process needs a single carrier. */
int session_open_on_process(struct session *s, struct probeset *set, pid_t pid, struct err *err)
{
	int ret = 0;

	if (!set->attached)
		ret = probeset_open(set, s->programs, s->waiter ? s->waiter : pid, err);
	if (ret)
		return ret;
	return s->options.inherit ? follow_threads(s, set, pid, err)
				  : probeset_follow(set, pid, false, err);
}

/* Off the targets now; an event with a program then takes the kernel 0.1 s to close. */
void session_retire_set(struct session *s, struct probeset *set)
{
	uint64_t begin_ns = clock_now_ns();

	probeset_quiet(set);
	log_detail("set %u is off the target after %.1f ms", set->id,
		   (clock_now_ns() - begin_ns) / 1e6);
	probeset_close_beside(set);
	*vec_add(&s->retired) = *set;
	*set = (struct probeset){ .id = set->id };
}

/* All of them at the same time. */
void session_close_sets(struct session *s)
{
	vec_for_each (&s->sets, struct probeset, set)
		probeset_close_beside(set);
	vec_for_each (&s->sets, struct probeset, set)
		probeset_release(set);
	vec_for_each (&s->retired, struct probeset, set)
		probeset_release(set);
	vec_release(&s->retired);
}

int session_open_on_targets(struct session *s, struct probeset *set, struct err *err)
{
	struct pids pids = { 0 };
	int ret = 0;

	bpfprog_targets(s->programs, &pids);
	vec_for_each (&pids, pid_t, pid) {
		ret = session_open_on_process(s, set, *pid, err);
		if (ret == -ESRCH)
			ret = 0;
		if (ret)
			break;
	}
	vec_release(&pids);
	return ret;
}

/*
 * A program that a process of the target started has inherited its carriers. When the scheduler
 * takes two threads with inherited events for each other's twins it swaps their events, and the end
 * of one then takes the other's breakpoints away. Carriers of its own are not swapped away.
 */
int session_hold_started(struct session *s, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->drain.n_execs && s->options.inherit && !s->burst.off; i++) {
		pid_t pid = s->drain.execs[i];

		if (pid == s->launch.pid || s->n_held >= HELD_MAX)
			continue;
		s->n_held++;
		for (size_t k = 0; k < s->sets.n && !ret; k++)
			if (s->sets.data[k].attached)
				ret = session_open_on_process(s, &s->sets.data[k], pid, err);
		if (ret == -ESRCH)
			ret = 0;
	}
	s->drain.n_execs = 0;
	return ret;
}

/* Per CPU; read at each turn of the loop. */
#define MAPPINGS_BYTES (256u << 10)

static int open_mapping_event(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark = MAPPINGS_BYTES / 2,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int session_watch_mappings(struct session *s, struct err *err)
{
	return rings_open(&s->mappings, &s->cpus, MAPPINGS_BYTES, open_mapping_event, err);
}

void session_unwatch_mappings(struct session *s)
{
	rings_release(&s->mappings);
}
