/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of where the traced program is, at a low rate, in every recording: what differs inside
 * slow calls, and whether they spin. With -F here; without, the hybrid has a sampler already.
 */
#include "base/log.h"
#include "probes/bpfprog.h"
#include "probes/session_private.h"

void session_sample_rate(struct session *s, uint32_t hertz)
{
	s->drain.sample_ns = 1000000000ull / hertz;
}

/* A recording without samples is still one. */
void session_sample_open(struct session *s)
{
	struct err err = { 0 };

	if (s->is_hybrid)
		return;
	if (sampler_open(&s->hybrid.sampler, s->programs, &s->cpus, SAMPLE_HERTZ, 0, &err)) {
		log_detail("no samples: %s", err.text);
		sampler_release(&s->hybrid.sampler);
	}
}

/* The calibration's process is none of the program: only now. */
void session_sample_start(struct session *s)
{
	if (!s->is_hybrid)
		session_sample_rate(s, SAMPLE_HERTZ);
	if (!s->options.scout)
		bpfprog_keep_samples(s->programs, true);
}

void session_sample_release(struct session *s)
{
	if (!s->is_hybrid)
		sampler_release(&s->hybrid.sampler);
}
