/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overhead budget while functions are traced. A program that changes may call a function far
 * more often than when its calls were counted. What tracing costs beyond the budget adds up to a
 * debt; when that is more than a moment's, all probes come out at once and those functions that
 * fit go in again.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "probes/session_private.h"

#define LOOK_NS	      15000000ull
#define DEBT_MAX_NS   10000000.0  /* the target's time that one notices too late */
#define CREDIT_MAX_NS 100000000.0 /* of the target's time, that was cheaper than allowed */
#define ROOM_AGAIN    0.8	  /* of the budget */

/* Calls since the last look, in ns of what they cost; with cpu_ns also each function's share. */
static double cost_since(struct session *s, double elapsed_ns)
{
	double sum = 0;

	for (size_t i = 0; i < s->drain.n_functions; i++) {
		struct planned *p = s->plan.data[i];
		uint64_t calls = s->drain.calls_of[i] - p->calls_before;

		p->calls_before = s->drain.calls_of[i];
		if (!p->possible)
			continue;
		p->calls_per_s = calls * 1e9 / elapsed_ns;
		p->cost_ns = calls * session_call_cost_ns(s, p);
		sum += p->cost_ns;
	}
	return sum;
}

static int take_out(struct session *s, uint64_t now, double work_ns, double used_ns, double room,
		    struct err *err)
{
	size_t n = s->drain.n_functions;
	struct planned **all = xcalloc(n + 1, sizeof(struct planned *));
	bool *touched = xcalloc(s->sets.n, sizeof(bool));
	int ret = 0;

	for (size_t i = 0; i < n; i++) {
		all[i] = s->plan.data[i];
		all[i]->cost_share = all[i]->possible ? all[i]->cost_ns / work_ns : 0;
		all[i]->was_possible = all[i]->possible;
		/* as if nothing slowed them */
		all[i]->calls_per_s *= used_ns / work_ns;
	}
	s->hybrid.spent = session_choose(all, n, session_contends(s), room,
					 "over the overhead budget once traced");
	for (size_t i = 0; i < n; i++)
		if (all[i]->was_possible && !all[i]->possible) {
			touched[all[i]->set] = true;
			session_describe_left_out(s, all[i], now);
		}
	for (size_t k = 0; k < s->sets.n; k++)
		if (touched[k])
			probeset_quiet(&s->sets.data[k]);
	for (size_t k = 0; k < s->sets.n && !ret; k++)
		if (touched[k])
			ret = session_rebuild_set(s, k, err);
	free(touched);
	free(all);
	return ret;
}

bool session_keeps_budget(const struct session *s)
{
	return (s->is_hybrid || s->options.keep_budget) && !s->options.scout;
}

int session_brake(struct session *s, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.brake_since_ns, cpu_ns;
	uint64_t scheduling_ns;
	double cost_ns, used_ns, work_ns, budget = s->options.overhead, scheduling;

	if (!session_keeps_budget(s) || elapsed_ns < LOOK_NS || !s->drain.n_functions)
		return 0;
	cost_ns = cost_since(s, elapsed_ns);
	scheduling_ns = session_scheduling_cost_ns(s) - s->hybrid.brake_scheduling_ns;
	s->hybrid.brake_scheduling_ns += scheduling_ns;
	cpu_ns = session_target_cpu_ns(s);
	used_ns = cpu_ns > s->hybrid.brake_cpu_ns ? cpu_ns - s->hybrid.brake_cpu_ns : 0;
	if (used_ns < BUDGET_LEAST_CPU * elapsed_ns)
		used_ns = BUDGET_LEAST_CPU * elapsed_ns;
	work_ns = used_ns - cost_ns - scheduling_ns;
	if (work_ns < used_ns / 10)
		work_ns = used_ns / 10;
	s->hybrid.brake_since_ns = now;
	s->hybrid.brake_cpu_ns = cpu_ns;
	/* Taking functions out does not make switches cheaper: half of the budget stays theirs. */
	scheduling = scheduling_ns / work_ns < SCHEDULING_MOST * budget ? scheduling_ns / work_ns
									: SCHEDULING_MOST * budget;
	budget -= scheduling;
	s->hybrid.debt_ns += cost_ns - budget * work_ns;
	if (s->hybrid.debt_ns < -budget * CREDIT_MAX_NS)
		s->hybrid.debt_ns = -budget * CREDIT_MAX_NS;
	if (s->hybrid.debt_ns < DEBT_MAX_NS)
		return 0;
	s->hybrid.debt_ns = 0;
	return take_out(s, now, work_ns, used_ns, ROOM_AGAIN * budget, err);
}
