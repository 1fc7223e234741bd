/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/cputime.h"

#include <math.h>
#include <time.h>

#include "probes/kernel/bpfprog.h"
#include "probes/process/usable.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"

static void note_cpu(const struct recording *r)
{
	struct pids pids = { 0 };

	bpfprog_targets(r->programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		bpfprog_set_ran(r->programs, *pid, target_cpu_ns(*pid));
	vec_release(&pids);
}

/*
 * Returns the CPU time of the target: that of living processes by the kernel's clock, and that of
 * ended ones as timed at their switches. In this order, a process that ends meanwhile is missing
 * once, and not counted twice.
 */
uint64_t cputime_target_ns(const struct recording *r)
{
	struct wire_totals ended;
	struct pids pids = { 0 };
	uint64_t sum;

	bpfprog_totals(r->programs, &ended);
	/* without what ended in the calibration */
	sum = ended.ended_ns - r->totals_at_start.ended_ns;
	bpfprog_targets(r->programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		sum += target_cpu_ns(*pid);
	vec_release(&pids);
	return sum;
}

void cputime_begin(struct cputime *c, const struct recording *r)
{
	note_cpu(r);
	c->at_begin_ns = cputime_target_ns(r);
	c->all_at_begin = cpus_time();
	c->usable_cpus = NAN;
}

void cputime_note_stop(struct cputime *c, const struct recording *r)
{
	c->all_at_stop = cpus_time();
	c->at_stop_ns =
		r->launch.ended && !r->options->n_pids ? r->launch.cpu_ns : cputime_target_ns(r);
}

uint64_t cputime_begin_ns(const struct cputime *c)
{
	return c->at_begin_ns;
}

uint64_t cputime_since_begin_ns(const struct cputime *c, uint64_t cpu_ns)
{
	return cpu_ns > c->at_begin_ns ? cpu_ns - c->at_begin_ns : 0;
}

uint64_t cputime_recorded_ns(const struct cputime *c, const struct recording *r)
{
	return cputime_since_begin_ns(c, r->stopped ? c->at_stop_ns : cputime_target_ns(r));
}

/*
 * Notes how many CPUs the program may use. The latest count is used, because programs bind
 * themselves after their start; in a window of --solo, where only one CPU is left, the highest
 * count is used.
 */
void cputime_note_usable(struct cputime *c, const struct recording *r)
{
	struct pids pids = { 0 };
	double now;

	bpfprog_targets(r->programs, &pids);
	now = usable_cpus(pids.data, pids.n);
	vec_release(&pids);
	if (isnan(now) || (r->options->solo && c->usable_cpus > now))
		return;
	c->usable_cpus = now;
}

bool cputime_usable_is_known(const struct cputime *c)
{
	return !isnan(c->usable_cpus);
}

double cputime_usable_cpus(const struct cputime *c)
{
	return c->usable_cpus;
}

static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

bool cputime_all_cpus_ns(const struct cputime *c, uint64_t *busy_ns, uint64_t *steal_ns)
{
	if (!c->all_at_begin.busy_ns || !c->all_at_stop.busy_ns)
		return false;
	*busy_ns = between(c->all_at_begin.busy_ns, c->all_at_stop.busy_ns);
	*steal_ns = between(c->all_at_begin.steal_ns, c->all_at_stop.steal_ns);
	return true;
}
