/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/after.h"

#include <math.h>

#include "base/err.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/costs.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"

#define STRETCH_NS	 15000000ull
#define MEMORY_EVERY_NS	 200000000ull
#define MEMORY_PROCESSES 16 /* most processes that are looked at, because they are often alike */

/*
 * Notes the memory of the largest process: the traced processes are mostly alike, or one of them
 * does the work.
 */
static void note_memory(struct after *a, const struct recording *r, uint64_t now)
{
	struct pids pids = { 0 };
	double most = 0;

	if (a->memory_ns && now - a->memory_ns < MEMORY_EVERY_NS)
		return;
	a->memory_ns = now;
	bpfprog_targets(r->programs, &pids);
	for (size_t i = 0; i < pids.n && i < MEMORY_PROCESSES; i++)
		most = fmax(most, (double)target_memory_bytes(pids.data[i]));
	vec_release(&pids);
	if (most > 0) /* otherwise they have ended, and the last value stays */
		a->memory_bytes = most;
}

double after_expect_ns(const struct after *a, double work_ns, double calls)
{
	return calls > 0 ? calls * costs_aftermath_ns(a->costs, work_ns / calls, a->memory_bytes)
			 : 0;
}

/*
 * Returns the number of calls so far and their cost, including an estimate of the calls that
 * sampling skipped.
 */
static double calls_so_far(const struct after *a, const struct recording *r, double *cost_ns)
{
	double period = r->options->period ? r->options->period : 1;

	*cost_ns = 0;
	for (size_t i = 0; i < r->drain.n_functions && i < r->plan.n; i++)
		*cost_ns += period * (double)r->drain.calls_of[i] *
			    costs_call_ns(a->costs, r->plan.data[i]);
	return period * (double)r->drain.entries;
}

void after_note(struct after *a, const struct recording *r, uint64_t now, bool at_end)
{
	double cost_ns, calls, used_ns, work_ns;
	uint64_t cpu_ns;

	if (!at_end && now - a->look_ns < STRETCH_NS)
		return;
	note_memory(a, r, now);
	calls = calls_so_far(a, r, &cost_ns);
	cpu_ns = cputime_recorded_ns(a->cputime, r);
	used_ns = cpu_ns > a->cpu_ns ? (double)(cpu_ns - a->cpu_ns) : 0;
	work_ns = fmax(used_ns - (cost_ns - a->calls_ns), used_ns / 10);
	a->cost_ns += after_expect_ns(a, work_ns, calls - a->calls);
	a->calls = calls;
	a->calls_ns = cost_ns;
	a->cpu_ns = cpu_ns;
	a->look_ns = now;
}

double after_sum_ns(const struct after *a)
{
	return a->cost_ns;
}
