/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of where the traced program is, at a low rate, in every recording. They show what differs
 * inside slow calls, and whether these spin. With -F this file takes them; without -F the hybrid
 * already has a sampler.
 */
#include <math.h>

#include "base/log.h"
#include "probes/cost/samplecost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"

void session_sample_rate(struct session *s, uint32_t hertz)
{
	s->r.drain.sample_ns = 1000000000ull / hertz;
}

double session_sampling_share(const struct session *s)
{
	return isnan(session_sample_cost_ns(&s->costs))
		       ? 0
		       : session_sample_cost_ns(&s->costs) * SAMPLE_HERTZ / 1e9;
}

/* Opens the sampler. A failure is not an error, because a recording works without samples. */
void session_sample_open(struct session *s)
{
	struct err err = { 0 };

	if (s->r.is_hybrid)
		return;
	if (sampler_open(&s->hybrid.sampler, s->r.programs, &s->r.cpus, SAMPLE_HERTZ, 0, &err)) {
		log_detail("no samples: %s", err.text);
		sampler_release(&s->hybrid.sampler);
	}
}

/*
 * Starts to keep samples only now, because the process of the calibration is not part of the
 * program.
 */
void session_sample_start(struct session *s)
{
	if (!s->r.is_hybrid)
		session_sample_rate(s, SAMPLE_HERTZ);
	if (!s->r.options->scout)
		bpfprog_keep_samples(s->r.programs, true);
}

static int sample_child(void *ctx, pid_t child)
{
	struct session *s = ctx;

	if (bpfprog_add_target(s->r.programs, child, 0))
		return -1;
	bpfprog_sample(s->r.programs, s->r.is_hybrid);
	bpfprog_keep_samples(s->r.programs, true);
	bpfprog_record(s->r.programs, true);
	return sampler_set_rate(&s->hybrid.sampler, SAMPLECOST_HERTZ);
}

void session_calibrate_samples(struct session *s)
{
	if (s->r.options->scout || !s->hybrid.sampler.rings.n)
		return;
	if (!session_calibrates(&s->costs))
		return;
	session_set_sample_cost(&s->costs, samplecost_measure(&s->r.rings, sample_child, s));
	bpfprog_record(s->r.programs, false);
	bpfprog_keep_samples(s->r.programs, false);
	bpfprog_sample(s->r.programs, false);
	sampler_forget(&s->hybrid.sampler);
	log_detail("a sample takes %.0f ns", session_sample_cost_ns(&s->costs));
}

void session_sample_release(struct session *s)
{
	if (!s->r.is_hybrid)
		sampler_release(&s->hybrid.sampler);
}
