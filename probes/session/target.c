/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"

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

int session_open_on_process(struct session *s, struct probeset *set, pid_t pid, struct err *err)
{
	int ret = 0;

	if (!set->attached)
		ret = probeset_open(set, s->r.programs, s->waiter ? s->waiter : pid, err);
	if (!ret)
		ret = probeset_open_session(set, s->r.programs, pid, err);
	if (ret)
		return ret;
	if (session_inherits(s)) {
		session_follow_carried(s);
		ret = follow_threads(set, pid, err);
	}
	return ret ? ret : session_hold(s, set, pid, err);
}

void session_retire_set(struct session *s, struct probeset *set)
{
	uint64_t begin_ns = clock_now_ns();

	probeset_quiet(set);
	s->retired.since_ns = clock_now_ns();
	log_detail("set %u is off the target after %.1f ms", set->id,
		   (s->retired.since_ns - begin_ns) / 1e6);
	*vec_add(&s->retired.sets) = *set;
	*set = (struct probeset){ .id = set->id };
}

void session_close_retired(struct session *s, uint64_t now)
{
	struct probeset *oldest = s->retired.sets.data;

	if (!s->retired.sets.n)
		return;
	if (s->retired.closing) {
		if (!probeset_is_closed(oldest))
			return;
		probeset_release(oldest);
		memmove(oldest, oldest + 1, --s->retired.sets.n * sizeof(*oldest));
		s->retired.closing = false;
	} else if (s->retired.sets.n > RETIRED_MOST ||
		   (s->hybrid.state != HYBRID_COUNTING && now - s->retired.since_ns >= CALM_NS)) {
		probeset_close_beside(oldest);
		s->retired.closing = true;
	}
}

void session_retire_calibration(struct session *s)
{
	if (s->r.is_hybrid && s->r.sets.calibrated)
		session_retire_set(s, &s->r.sets.data[0]);
}

void session_close_sets_beside(struct session *s)
{
	vec_for_each (&s->r.sets, struct probeset, set)
		probeset_close_beside(set);
	vec_for_each (&s->retired.sets, struct probeset, set)
		probeset_close_beside(set);
}

void session_close_sets(struct session *s)
{
	session_close_sets_beside(s);
	bpfprog_detach_scheduler(s->r.programs);
	vec_for_each (&s->r.sets, struct probeset, set)
		probeset_release(set);
	vec_for_each (&s->retired.sets, struct probeset, set)
		probeset_release(set);
	vec_release(&s->retired.sets);
}

int session_open_on_targets(struct session *s, struct probeset *set, struct err *err)
{
	struct pids pids = { 0 };
	int ret = 0;

	bpfprog_targets(s->r.programs, &pids);
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

/* Bytes for each CPU; read at each turn of the loop. */
#define MAPPINGS_BYTES (256u << 10)

int session_watch_mappings(struct session *s, struct err *err)
{
	const struct perf_event_attr mappings = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TIME,
	};

	return rings_open(&s->r.mappings, &s->r.cpus, MAPPINGS_BYTES, &mappings, err);
}

void session_unwatch_mappings(struct session *s)
{
	drain_mappings(&s->r.drain, &s->r.mappings);
	rings_release(&s->r.mappings);
}

void session_report_mappings(struct session *s)
{
	char mappings[TEXT_NUMBER], words[320];

	if (!s->r.drain.mappings_lost)
		return;
	snprintf(words, sizeof(words),
		 "the kernel dropped %s of new mappings, of all processes: libraries that a "
		 "program loaded late may be untraced, and their functions without names",
		 text_counted(mappings, s->r.drain.mappings_lost, "event"));
	session_write_notice(&s->r, "lost-mappings", words);
}
