/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --burst ON/PERIOD: the probes are in place for ON of each PERIOD. In between they are removed
 * from the target, not only disabled: a disabled perf event leaves its breakpoint, and a BPF
 * program runs whether its event is enabled or not. A carrier is what puts breakpoints into an
 * address space (design fact 3), so closing the carriers takes the breakpoints out. The event with
 * the program stays open on the waiter. Programs are muted first and unmuted last, so that an edge
 * is at the same moment in all processes.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"

void session_burst_begin(struct session *s)
{
	s->burst.since_ns = clock_now_ns();
	s->burst.until_ns = s->burst.since_ns + s->r.options->burst_on_ns;
}

/*
 * Returns the length of the next pause. It varies between half and one and a half of the requested
 * length, which it has on average, so that a program with a period of its own does not meet each
 * burst in the same place.
 */
static uint64_t time_off_ns(struct session *s)
{
	uint64_t off = s->r.options->burst_period_ns - s->r.options->burst_on_ns;

	s->burst.random =
		(s->burst.random ^ s->r.start_ns) * 6364136223846793005u + 1442695040888963407u;
	return off / 2 + (s->burst.random >> 33) % (off + 1);
}

static void turn_off(struct session *s)
{
	uint64_t now;

	bpfprog_mute(s->r.programs, true);
	now = clock_now_ns();
	/* records from before the edge come before it in the file */
	drain_run(&s->r.drain, &s->r.rings, &s->r.mappings);
	vec_for_each (&s->r.sets, struct probeset, set) {
		session_write_set_at(&s->r, set, false, now);
		probeset_quiet(set);
	}
	s->r.is_between_bursts = true;
	s->burst.on_ns += now - s->burst.since_ns;
	s->burst.until_ns = clock_now_ns() + time_off_ns(s);
}

static int turn_on(struct session *s, struct err *err)
{
	int ret = 0;

	vec_for_each (&s->r.sets, struct probeset, set)
		if (!ret)
			ret = session_open_on_targets(s, set, err);
	drain_run(&s->r.drain, &s->r.rings, &s->r.mappings);
	s->r.is_between_bursts = false;
	s->burst.n++;
	vec_for_each (&s->r.sets, struct probeset, set)
		session_write_set(&s->r, set, true);
	bpfprog_mute(s->r.programs, false);
	session_burst_begin(s);
	return ret;
}

int session_burst_step(struct session *s, struct err *err)
{
	if (!s->r.options->burst_on_ns || !s->r.begun || clock_now_ns() < s->burst.until_ns)
		return 0;
	if (s->r.is_between_bursts)
		return turn_on(s, err);
	turn_off(s);
	return 0;
}

int session_burst_timeout_ms(const struct session *s, int timeout_ms)
{
	uint64_t now = clock_now_ns();
	uint64_t left_ms = s->burst.until_ns > now ? (s->burst.until_ns - now) / 1000000 + 1 : 0;

	if (!s->r.options->burst_on_ns || !s->r.begun || left_ms > (uint64_t)timeout_ms)
		return timeout_ms;
	return (int)left_ms;
}

void session_burst_stop(struct session *s)
{
	char words[192], on[TEXT_NUMBER], all[TEXT_NUMBER], bursts[TEXT_COUNTED];
	uint64_t now = clock_now_ns();

	if (!s->r.options->burst_on_ns)
		return;
	if (!s->r.is_between_bursts && s->r.begun)
		s->burst.on_ns += now - s->burst.since_ns;
	bpfprog_mute(s->r.programs, false);
	snprintf(
		words, sizeof(words),
		"in the whole recording the probes were in for %s of %s, in %s: calls are of that time, and so are "
		"the scores",
		text_time(on, s->burst.on_ns), text_time(all, now - s->r.start_ns),
		text_counted(bursts, s->burst.n + 1, "burst"));
	session_note(&s->r, "burst", words);
}
