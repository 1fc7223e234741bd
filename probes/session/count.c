/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts how often candidates are called, before any is traced: for 100 ms, each has a probe that
 * only counts. Counting is not free: a function that is called ten million times a second stops the
 * program. So the counts are checked every few milliseconds, and when counting has used its share
 * of the budget, all probes are removed at once. The program's own progress in that time is then
 * small and poorly known. So the cost of the functions that caused this is rough, and the others
 * are counted again without them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/select/blocking.h"
#include "probes/session/internal.h"
#include "symbol/dso/dso.h"

#define COUNTING_NS	  100000000ull
#define SCOUT_COUNTING_NS 30000000ull
#define SHARE_OF_BUDGET	  0.5 /* of the budget, for counting */
#define ALLOWED_LEAST_NS  2000000.0
#define TRIES_MAX	  5
#define DISTORTING_SHARE  0.2 /* of the CPU time: if counting took more, the rates are distorted */
#define ROOM_TO_CHOOSE	  0.8 /* of the budget, because a brief count may be too low */

static bool is_armed(const struct planned *p)
{
	return p->asked && p->possible && !p->counted;
}

/* Begins to count. Inserting probes takes a while, so some of them have counted before. */
static void count_from_now(struct session *s)
{
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++)
		s->r.plan.data[i]->count_before = bpfprog_count(s->r.programs, i);
	s->hybrid.count_cpu_ns = session_target_cpu_ns(&s->r);
	s->hybrid.state_since_ns = clock_now_ns();
}

static int arm(struct session *s, struct err *err)
{
	struct probeset *set = &s->hybrid.counting;
	int ret;

	probeset_init(set, s->r.dynevents, s->r.sets.n);
	bpfprog_count_from(s->r.programs, s->hybrid.first_candidate);
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++)
		if (is_armed(s->r.plan.data[i]))
			probeset_add_count(set, s->r.plan.data[i],
					   session_path(&s->r.objects, s->r.plan.data[i]->what.dso),
					   i);
	ret = probeset_create(set, session_point_refused, s, err);
	if (!ret)
		ret = session_open_on_targets(&s->attach, &s->r, set, err);
	count_from_now(s);
	return ret;
}

int session_count_begin(struct session *s, struct err *err)
{
	s->hybrid.tries = 0;
	return arm(s, err);
}

/* Returns how much counting may have cost since the recording began, given the CPU time that the
 * target has used. */
static double allowed_ns(const struct session *s, uint64_t cpu_ns)
{
	double used = session_since_begin_ns(&s->cputime, cpu_ns);
	double room = SHARE_OF_BUDGET * s->r.options->overhead * used - s->hybrid.counting_cost_ns -
		      (double)session_sampling_cost_ns(&s->costs, &s->r);

	if (s->r.options->scout) /* the results of this run are not reported */
		return INFINITY;
	return room > ALLOWED_LEAST_NS ? room : ALLOWED_LEAST_NS;
}

static double count_cost_ns(const struct session *s, size_t i)
{
	return bpfprog_count(s->r.programs, i) *
	       session_count_cost_ns(&s->costs, s->r.plan.data[i]);
}

static double counted_cost_ns(const struct session *s, size_t *n)
{
	double cost = 0;

	*n = 0;
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++)
		if (is_armed(s->r.plan.data[i])) {
			cost += count_cost_ns(s, i);
			++*n;
		}
	return cost;
}

/* Returns the cost of counting within the CPU time used. */
static double counting_cost_ns(const struct session *s, double cost_ns, double used_ns)
{
	double calls = 0;

	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++)
		if (is_armed(s->r.plan.data[i]))
			calls += (double)bpfprog_count(s->r.programs, i);
	return cost_ns + COST_OF_COUNTING * session_after_ns(&s->after,
							     fmax(used_ns - cost_ns, used_ns / 10),
							     calls);
}

/* Computes the rates of calls in the time that was the program's own. */
static void price(struct session *s, uint64_t elapsed_ns, uint64_t used_ns, double cost_ns)
{
	double work_ns = used_ns > cost_ns * 10 / 9 ? used_ns - cost_ns : used_ns / 10.0;
	double own_share = used_ns ? work_ns / used_ns : 1;

	if (work_ns < META_BUSY_LEAST * elapsed_ns)
		work_ns = META_BUSY_LEAST * elapsed_ns;
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];
		uint64_t count;

		if (!is_armed(p))
			continue;
		count = bpfprog_count(s->r.programs, i) - p->count_before;
		p->calls_per_s = count * 1e9 / (elapsed_ns * own_share);
		p->cost_share = work_ns > 0 ? (count * session_call_cost_ns(&s->costs, p) +
					       session_after_ns(&s->after, work_ns, count)) /
						      work_ns
					    : 0;
	}
}

/* Sets the cost of the functions that cost more than the average of n. Returns how many have no
 * cost yet. */
static size_t set_dear_aside(struct session *s, double cost_ns, size_t n)
{
	size_t left = 0;

	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];

		if (!is_armed(p))
			continue;
		p->counted = count_cost_ns(s, i) * n >= cost_ns;
		left += !p->counted;
	}
	return left;
}

double session_choice_room(struct session *s)
{
	double cpu_ns = session_recorded_cpu_ns(&s->cputime, &s->r),
	       switches_ns = session_scheduling_cost_ns(&s->follow, &s->r);
	double work_ns = cpu_ns - s->hybrid.counting_cost_ns - switches_ns;
	double switches = switches_ns / fmax(work_ns, fmax(cpu_ns / 10, 1)), room;

	room = (session_contends(s) ? 1 : ROOM_TO_CHOOSE) *
	       (s->r.options->overhead - fmin(switches, SCHEDULING_MOST * s->r.options->overhead) -
		session_sampling_share(s));
	return room - session_repayment(s, room);
}

/* Chooses the functions to trace. A scout chooses only after it has seen everything. */
static void decide(struct session *s)
{
	struct planned **all = xcalloc(s->r.plan.n + 1, sizeof(struct planned *));
	size_t n = 0;

	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];

		if (!p->asked)
			continue;
		p->asked = false;
		all[n++] = p;
	}
	if (!s->r.options->scout) {
		double room = session_choice_room(s);

		log_detail("choice: %.1f%% of the time may be spent, %.1f%% is, %.1f%% of it is "
			   "kept for a debt of %.1f ms",
			   100 * room, 100 * s->hybrid.spent, 100 * session_repayment(s, room),
			   s->hybrid.debt_ns / 1e6);
		for (size_t i = 0; i < n; i++)
			log_detail("choice: %s takes %.1f%%", all[i]->what.function->symbol,
				   100 * all[i]->cost_share);
		s->hybrid.spent +=
			session_choose(all, n, session_contends(s), fmax(room - s->hybrid.spent, 0),
				       session_over_budget);
		n = session_beside_offer_dear(s, all, n);
		s->hybrid.spent += session_give_turns(all, n);
		s->hybrid.spent -= session_drop_releases(s, all, n, session_over_budget);
		session_remember_costs(all, n);
	}
	free(all);
}

static uint64_t used_since_armed_ns(const struct session *s, uint64_t cpu_ns)
{
	return cpu_ns > s->hybrid.count_cpu_ns ? cpu_ns - s->hybrid.count_cpu_ns : 0;
}

void session_count_stop(struct session *s)
{
	uint64_t used_ns = used_since_armed_ns(s, session_target_cpu_ns(&s->r));
	size_t n;
	double cost_ns = counted_cost_ns(s, &n);

	s->hybrid.counting_cost_ns += counting_cost_ns(s, cost_ns, (double)used_ns);
}

int session_count_look(struct session *s, uint64_t now, bool *counted, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.state_since_ns, cpu_ns = session_target_cpu_ns(&s->r);
	bool over = elapsed_ns >= (s->r.options->scout ? SCOUT_COUNTING_NS : COUNTING_NS),
	     distorted;
	size_t n;
	double cost_ns = counted_cost_ns(s, &n);
	uint64_t used_ns;

	*counted = false;
	if (!over && cost_ns <= allowed_ns(s, cpu_ns))
		return 0;
	session_retire_set(&s->attach, &s->hybrid.counting);
	/* The kernel may take a while, and calls were counted meanwhile. */
	cost_ns = counted_cost_ns(s, &n);
	elapsed_ns = clock_now_ns() - s->hybrid.state_since_ns;
	cpu_ns = session_target_cpu_ns(&s->r);
	used_ns = used_since_armed_ns(s, cpu_ns);
	s->hybrid.counting_cost_ns += counting_cost_ns(s, cost_ns, (double)used_ns);
	price(s, elapsed_ns, used_ns, cost_ns);
	distorted = cost_ns > DISTORTING_SHARE * used_ns;
	if ((!over || distorted) && ++s->hybrid.tries < TRIES_MAX && set_dear_aside(s, cost_ns, n))
		return arm(s, err);
	decide(s);
	*counted = true;
	return 0;
}
