/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the overhead budget while functions are traced. A program that changes may call a function
 * far more often than when its calls were counted. What ispot costs beyond the budget, including
 * samples and the counting of calls, adds up to a debt. When the debt has grown by more than a
 * moment's budget, all probes are removed at once, and the functions that fit are traced again,
 * with room to pay back the debt.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "probes/session/internal.h"

#define LOOK_NS	    15000000ull
#define DEBT_MAX_NS 10000000.0 /* time of the target; a larger debt is noticed too late */
/* of the budget so far; turns become longer, so that there are few of them */
#define DEBT_IN_TURNS 0.2
/* time of the target: unused budget of more time than this is not kept */
#define CREDIT_MAX_NS 100000000.0
#define ROOM_AGAIN    0.8 /* of the budget */
#define REPAID_IN_NS  2e9 /* time of the target in which a debt is paid back */
/* time of the target in which past costs lose a factor of e in weight */
#define SPENT_OVER_NS 100000000.0

/* Adds what calls cost beyond empty ones, the same for each call. */
static double add_after(struct session *s, double work_ns, double calls)
{
	double after_ns = session_after_ns(&s->after, work_ns, calls);

	for (size_t i = 0; i < s->r.drain.n_functions && calls > 0; i++)
		if (planned_is_traced(s->r.plan.data[i]))
			s->r.plan.data[i]->cost_ns +=
				after_ns * (s->r.plan.data[i]->calls_per_s / calls);
	return after_ns;
}

/*
 * Returns what the calls since the last look have cost, in ns, and sets each function's own cost.
 */
static double cost_since(struct session *s, double elapsed_ns, double used_ns)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < s->r.drain.n_functions; i++) {
		struct planned *p = s->r.plan.data[i];
		uint64_t calls = s->r.drain.calls_of[i] - p->calls_before;

		p->calls_before = s->r.drain.calls_of[i];
		if (!planned_is_traced(p))
			continue;
		p->calls_per_s = calls;
		p->cost_ns = calls * session_call_cost_ns(&s->costs, p);
		sum += p->cost_ns;
		all += calls;
	}
	sum += add_after(s, fmax(used_ns - sum, used_ns / 10), all);
	for (size_t i = 0; i < s->r.drain.n_functions; i++)
		if (planned_is_traced(s->r.plan.data[i]))
			s->r.plan.data[i]->calls_per_s *= 1e9 / elapsed_ns;
	return sum;
}

static int remove_dearest(struct session *s, double work_ns, double used_ns, double room,
			  struct err *err)
{
	struct planned **all = xcalloc(s->r.drain.n_functions + 1, sizeof(struct planned *));
	bool *touched = xcalloc(s->r.sets.n, sizeof(*touched));
	uint64_t now;
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < s->r.drain.n_functions; i++) {
		struct planned *p = s->r.plan.data[i];

		if (!planned_is_traced(p))
			continue;
		p->cost_share = p->cost_lately;
		/* the rate that the function would have without overhead */
		p->calls_per_s *= used_ns / work_ns;
		all[n++] = p;
	}
	s->hybrid.spent =
		session_choose(all, n, session_contends(s), room, session_over_budget_traced);
	s->hybrid.spent -= session_drop_releases(s, all, n, session_over_budget_traced);
	session_remember_costs(all, n);
	for (size_t i = 0; i < n; i++)
		if (!all[i]->possible)
			touched[all[i]->set] = true;
	session_quiet_sets(s, touched);
	/*
	 * read only now, because removing probes takes the kernel time, in which calls still came
	 */
	now = clock_now_ns();
	for (size_t i = 0; i < n; i++)
		if (!all[i]->possible) {
			all[i]->out_ns = now;
			session_describe_left_out(s, all[i], now);
		}
	ret = session_rebuild_sets(s, touched, err);
	free(touched);
	free(all);
	return ret;
}

bool session_keeps_budget(const struct session *s)
{
	return (s->r.is_hybrid || s->r.options->keep_budget) && !s->r.options->scout;
}

/* Returns what choosing functions has cost so far: samples of the target, and counting calls. */
static double choosing_cost_ns(const struct session *s)
{
	return (double)session_sampling_cost_ns(&s->costs, &s->r) + s->hybrid.counting_cost_ns;
}

/* What was spent since the last look, in ns of the target's CPU time. */
struct spent {
	double used, calls, choosing, scheduling;
	double work; /* the target's own work, without the rest */
};

static struct spent spent_since(struct session *s, uint64_t elapsed_ns)
{
	uint64_t cpu_ns = session_target_cpu_ns(&s->r),
		 scheduling_ns = session_scheduling_cost_ns(&s->follow, &s->r);
	double choosing_ns = choosing_cost_ns(s);
	struct hybrid *h = &s->hybrid;
	struct spent spent = {
		.used = cpu_ns > h->throttle_cpu_ns ? (double)(cpu_ns - h->throttle_cpu_ns) : 0,
		.choosing = choosing_ns - h->throttle_choosing_ns,
		.scheduling = (double)(scheduling_ns - h->throttle_scheduling_ns),
	};

	spent.used = fmax(spent.used, META_BUSY_LEAST * (double)elapsed_ns);
	spent.calls = cost_since(s, (double)elapsed_ns, spent.used);
	spent.work =
		fmax(spent.used - spent.calls - spent.choosing - spent.scheduling, spent.used / 10);
	h->throttle_cpu_ns = cpu_ns;
	h->throttle_choosing_ns = choosing_ns;
	h->throttle_scheduling_ns = scheduling_ns;
	return spent;
}

double session_repayment(const struct session *s, double room)
{
	/*
	 * the lock that threads wait for is what the user wants to find, so it comes before the
	 * debt
	 */
	if (session_contends(s))
		return 0;
	return fmin(fmax(s->hybrid.debt_ns, 0) / REPAID_IN_NS, room / 2);
}

double session_spent(double spent, double share_now, double elapsed_ns)
{
	return share_now + (spent - share_now) * exp(-elapsed_ns / SPENT_OVER_NS);
}

static double debt_allowed_ns(struct session *s, double budget)
{
	vec_for_each (&s->r.plan, struct planned *, p)
		if ((*p)->in_turns && planned_is_traced(*p))
			return fmax(DEBT_IN_TURNS * budget *
					    (double)session_recorded_cpu_ns(&s->cputime, &s->r),
				    DEBT_MAX_NS);
	return DEBT_MAX_NS;
}

int session_throttle(struct session *s, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.throttle_since_ns;
	double budget = s->r.options->overhead, room;
	struct hybrid *h = &s->hybrid;
	struct spent spent;

	if (!session_keeps_budget(s) || elapsed_ns < LOOK_NS)
		return 0;
	spent = spent_since(s, elapsed_ns);
	h->throttle_since_ns = now;
	h->spent = session_spent(h->spent, spent.calls / spent.work, (double)elapsed_ns);
	for (size_t i = 0; i < s->r.drain.n_functions; i++) {
		struct planned *p = s->r.plan.data[i];

		p->cost_lately = session_spent(p->cost_lately,
					       planned_is_traced(p) ? p->cost_ns / spent.work : 0,
					       (double)elapsed_ns);
	}
	/*
	 * Removing functions does not make switches cheaper, so they may use up to half of the
	 * budget.
	 */
	budget -= fmin(spent.scheduling / spent.work, SCHEDULING_MOST * budget);
	h->debt_ns += spent.calls + spent.choosing - budget * spent.work;
	h->debt_ns = fmax(h->debt_ns, -budget * CREDIT_MAX_NS);
	h->debt_met_ns = fmax(fmin(h->debt_met_ns, h->debt_ns), 0);
	if (h->debt_ns < h->debt_met_ns + debt_allowed_ns(s, budget) || !s->r.drain.n_functions)
		return 0;
	h->debt_met_ns = h->debt_ns;
	room = (session_contends(s) ? 1 : ROOM_AGAIN) * budget;
	return remove_dearest(s, spent.work, spent.used, room - session_repayment(s, room), err);
}
