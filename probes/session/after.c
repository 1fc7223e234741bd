/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What traced calls cost beyond empty ones (aftermath.h) in the course of a recording. It is
 * measured for each stretch of time, because it depends on how often calls come.
 */
#include <math.h>

#include "base/err.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"

#define STRETCH_NS	 15000000ull
#define MEMORY_EVERY_NS	 200000000ull
#define MEMORY_PROCESSES 16 /* most processes that are looked at, because they are often alike */

void session_calibrate_after(struct session *s)
{
	const struct aftermath *a = &s->after.measured;
	struct err err = { 0 };

	if (!s->r.sets.calibrated || !s->r.sets.n || s->r.options->scout)
		return;
	if (aftermath_measure(&s->r.sets.data[0], s->r.programs, &s->r.rings, &s->after.measured,
			      &err)) {
		log_detail("what calls cost beyond empty ones is not known: %s", err.text);
		return;
	}
	for (int k = 0; k < AFTERMATH_MEMORIES; k++)
		for (int i = 0; i < AFTERMATH_POINTS; i++)
			log_detail("a traced call costs %.0f ns more where the program works for "
				   "%.0f ns in %s memory from one to the next",
				   a->at[k][i].after_ns, a->at[k][i].work_ns,
				   k == AFTERMATH_MUCH ? "much" : "little");
}

/*
 * Notes the memory of the largest process: the traced processes are mostly alike, or one of them
 * does the work.
 */
static void note_memory(struct session *s, uint64_t now)
{
	struct pids pids = { 0 };
	double most = 0;

	if (s->after.memory_ns && now - s->after.memory_ns < MEMORY_EVERY_NS)
		return;
	s->after.memory_ns = now;
	bpfprog_targets(s->r.programs, &pids);
	for (size_t i = 0; i < pids.n && i < MEMORY_PROCESSES; i++)
		most = fmax(most, (double)target_memory_bytes(pids.data[i]));
	vec_release(&pids);
	if (most > 0) /* otherwise they have ended, and the last value stays */
		s->after.memory_bytes = most;
}

double session_after_ns(const struct session *s, double work_ns, double calls)
{
	return calls > 0 ? calls * aftermath_ns(&s->after.measured, work_ns / calls,
						s->after.memory_bytes)
			 : 0;
}

/*
 * Returns the number of calls so far and their cost, including an estimate of the calls that
 * sampling skipped.
 */
static double calls_so_far(const struct session *s, double *cost_ns)
{
	double period = s->r.options->period ? s->r.options->period : 1;

	*cost_ns = 0;
	for (size_t i = 0; i < s->r.drain.n_functions && i < s->r.plan.n; i++)
		*cost_ns += period * (double)s->r.drain.calls_of[i] *
			    session_call_cost_ns(s, s->r.plan.data[i]);
	return period * (double)s->r.drain.entries;
}

void session_note_after(struct session *s, uint64_t now, bool at_end)
{
	struct after *a = &s->after;
	double cost_ns, calls, used_ns, work_ns;
	uint64_t cpu_ns;

	if (!at_end && now - a->look_ns < STRETCH_NS)
		return;
	note_memory(s, now);
	calls = calls_so_far(s, &cost_ns);
	cpu_ns = session_recorded_cpu_ns(&s->cputime, &s->r);
	used_ns = cpu_ns > a->cpu_ns ? (double)(cpu_ns - a->cpu_ns) : 0;
	work_ns = fmax(used_ns - (cost_ns - a->calls_ns), used_ns / 10);
	a->cost_ns += session_after_ns(s, work_ns, calls - a->calls);
	a->calls = calls;
	a->calls_ns = cost_ns;
	a->cpu_ns = cpu_ns;
	a->look_ns = now;
}
