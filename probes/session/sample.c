/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/sample.h"

#include <math.h>

#include "base/log.h"
#include "probes/cost/samplecost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/costs.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"

void session_sample_rate(struct recording *r, uint32_t hertz)
{
	r->drain.sample_ns = 1000000000ull / hertz;
}

double session_sampling_share(const struct costs *costs)
{
	return isnan(costs_sample_ns(costs)) ? 0 : costs_sample_ns(costs) * SAMPLE_HERTZ / 1e9;
}

/* Opens the sampler. A failure is not an error, because a recording works without samples. */
void session_sample_open(struct sampling *sm, const struct recording *r)
{
	struct err err = { 0 };

	if (r->is_hybrid)
		return;
	if (sampler_open(&sm->sampler, r->programs, &r->cpus, SAMPLE_HERTZ, 0, &err)) {
		log_detail("no samples: %s", err.text);
		sampler_release(&sm->sampler);
	}
}

/*
 * Starts to keep samples only now, because the process of the calibration is not part of the
 * program.
 */
void session_sample_start(struct recording *r)
{
	if (!r->is_hybrid)
		session_sample_rate(r, SAMPLE_HERTZ);
	if (!r->options->scout)
		bpfprog_keep_samples(r->programs, true);
}

struct sampled {
	struct sampling *sampling;
	struct recording *r;
};

static int sample_child(void *ctx, pid_t child)
{
	struct sampled *x = ctx;
	struct recording *r = x->r;

	if (bpfprog_add_target(r->programs, child, 0))
		return -1;
	bpfprog_sample(r->programs, r->is_hybrid);
	bpfprog_keep_samples(r->programs, true);
	bpfprog_record(r->programs, true);
	return sampler_set_rate(&x->sampling->sampler, SAMPLECOST_HERTZ);
}

void session_calibrate_samples(struct sampling *sm, struct recording *r)
{
	struct sampled sampled = { sm, r };

	if (r->options->scout || !sm->sampler.rings.n)
		return;
	if (!costs_calibrates(sm->costs))
		return;
	costs_set_sample(sm->costs, samplecost_measure(&r->rings, sample_child, &sampled));
	bpfprog_record(r->programs, false);
	bpfprog_keep_samples(r->programs, false);
	bpfprog_sample(r->programs, false);
	sampler_forget(&sm->sampler);
	log_detail("a sample takes %.0f ns", costs_sample_ns(sm->costs));
}

void session_sample_release(struct sampling *sm)
{
	sampler_release(&sm->sampler);
}

bool session_takes_samples(const struct sampling *sm)
{
	return sm->sampler.rings.n > 0;
}

int session_sample_open_at(struct sampling *sm, const struct recording *r, uint32_t hertz,
			   uint32_t copy_bytes, struct err *err)
{
	return sampler_open(&sm->sampler, r->programs, &r->cpus, hertz, copy_bytes, err);
}

void session_sample_set_rate(struct sampling *sm, uint32_t hertz)
{
	sampler_set_rate(&sm->sampler, hertz);
}

void session_sample_restore(struct sampling *sm, const struct recording *r)
{
	if (r->is_hybrid || r->options->scout || !session_takes_samples(sm))
		return;
	session_sample_set_rate(sm, SAMPLE_HERTZ);
	log_detail("the first samples come %u times a second", SAMPLE_HERTZ);
}

void session_sample_read(struct sampling *sm, void (*visit)(void *ctx, const struct sample *sample),
			 void *ctx)
{
	sampler_read(&sm->sampler, visit, ctx);
}

uint64_t session_samples_lost(struct sampling *sm)
{
	return sampler_lost(&sm->sampler);
}
