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

/*
 * Returns the CPU time of the target: that of living processes by the kernel's clock, and that of
 * ended ones as timed at their switches. In this order, a process that ends meanwhile is missing
 * once, and not counted twice.
 */
uint64_t session_target_cpu_ns(struct session *s)
{
	struct wire_totals ended;
	struct pids pids = { 0 };
	uint64_t sum;

	bpfprog_totals(s->programs, &ended);
	/* without what ended in the calibration */
	sum = ended.ended_ns - s->totals_at_start.ended_ns;
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

/*
 * Notes how many CPUs the program may use. The latest count is used, because programs bind
 * themselves after their start; in a window of --solo, where only one CPU is left, the highest
 * count is used.
 */
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
