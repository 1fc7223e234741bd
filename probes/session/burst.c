/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/burst.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/attach.h"

void session_burst_begin(struct burst *b, const struct recording *r)
{
	b->since_ns = clock_now_ns();
	b->until_ns = b->since_ns + r->options->burst_on_ns;
	b->random = r->start_ns;
}

uint64_t session_varied_ns(uint64_t *random, uint64_t ns)
{
	*random = (*random ^ ns) * 6364136223846793005u + 1442695040888963407u;
	return ns / 2 + (*random >> 33) % (ns + 1);
}

static void turn_off(struct burst *b, struct recording *r)
{
	uint64_t now;

	bpfprog_mute(r->programs, true);
	now = clock_now_ns();
	/* records from before the edge come before it in the file */
	drain_run(&r->drain, &r->rings, &r->mappings);
	vec_for_each (&r->sets, struct probeset, set) {
		recording_write_set_at(r, set, false, now);
		probeset_quiet(set);
	}
	r->is_between_bursts = true;
	b->on_ns += now - b->since_ns;
	b->until_ns = clock_now_ns() +
		      session_varied_ns(&b->random,
					r->options->burst_period_ns - r->options->burst_on_ns);
}

static int turn_on(struct burst *b, struct recording *r, struct err *err)
{
	int ret = 0;

	vec_for_each (&r->sets, struct probeset, set)
		if (!ret)
			ret = session_open_on_targets(b->attach, r, set, err);
	drain_run(&r->drain, &r->rings, &r->mappings);
	r->is_between_bursts = false;
	b->n++;
	vec_for_each (&r->sets, struct probeset, set)
		recording_write_set(r, set, true);
	bpfprog_mute(r->programs, false);
	session_burst_begin(b, r);
	return ret;
}

int session_burst_step(struct burst *b, struct recording *r, struct err *err)
{
	if (!r->options->burst_on_ns || !r->begun || clock_now_ns() < b->until_ns)
		return 0;
	if (r->is_between_bursts)
		return turn_on(b, r, err);
	turn_off(b, r);
	return 0;
}

int session_burst_timeout_ms(const struct burst *b, const struct recording *r, int timeout_ms)
{
	uint64_t now = clock_now_ns();
	uint64_t left_ms = b->until_ns > now ? (b->until_ns - now) / 1000000 + 1 : 0;

	if (!r->options->burst_on_ns || !r->begun || left_ms > (uint64_t)timeout_ms)
		return timeout_ms;
	return (int)left_ms;
}

void session_burst_stop(struct burst *b, struct recording *r)
{
	char words[192], on[TEXT_NUMBER], all[TEXT_NUMBER], bursts[TEXT_COUNTED];
	uint64_t now = clock_now_ns();

	if (!r->options->burst_on_ns)
		return;
	if (!r->is_between_bursts && r->begun)
		b->on_ns += now - b->since_ns;
	bpfprog_mute(r->programs, false);
	snprintf(
		words, sizeof(words),
		"in the whole recording the probes were in for %s of %s, in %s: calls are of that time, and so are "
		"the scores",
		text_time(on, b->on_ns), text_time(all, now - r->start_ns),
		text_counted(bursts, b->n + 1, "burst"));
	recording_note(r, "burst", words);
}
