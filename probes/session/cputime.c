/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU time that the target has used. */
#include <math.h>
#include <time.h>

#include "probes/kernel/bpfprog.h"
#include "probes/process/usable.h"
#include "probes/session/internal.h"

void session_note_cpu(struct session *s)
{
	struct pids pids = { 0 };

	bpfprog_targets(s->programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		bpfprog_set_ran(s->programs, *pid, target_cpu_ns(*pid));
	vec_release(&pids);
}

/* The kernel's clock of each process that lives; those that have ended were timed at the switches.
 * In this order, who ends meanwhile is missing this once, and not there twice. */
uint64_t session_target_cpu_ns(struct session *s)
{
	struct wire_totals ended;
	struct pids pids = { 0 };
	uint64_t sum;

	bpfprog_totals(s->programs, &ended);
	sum = ended.ended_ns - s->totals_at_start.ended_ns; /* the calibration's */
	bpfprog_targets(s->programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		sum += target_cpu_ns(*pid);
	vec_release(&pids);
	return sum;
}

void session_note_stop(struct session *s)
{
	s->cputime.all_at_stop = cpus_time();
	s->cputime.at_stop_ns =
		s->launch.ended && !s->options.n_pids ? s->launch.cpu_ns : session_target_cpu_ns(s);
}

uint64_t session_recorded_cpu_ns(struct session *s)
{
	uint64_t now_ns = s->stopped ? s->cputime.at_stop_ns : session_target_cpu_ns(s);

	return now_ns > s->cputime.at_begin_ns ? now_ns - s->cputime.at_begin_ns : 0;
}

/* The latest counts, as programs bind themselves when they have begun; but in a window of --solo
 * there is one CPU, so that then it is the most that was seen. */
void session_note_usable(struct session *s)
{
	struct pids pids = { 0 };
	double now;

	bpfprog_targets(s->programs, &pids);
	now = usable_cpus(pids.data, pids.n);
	vec_release(&pids);
	if (isnan(now) || (s->options.solo && s->cputime.usable_cpus > now))
		return;
	s->cputime.usable_cpus = now;
}
