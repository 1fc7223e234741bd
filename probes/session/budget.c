/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/budget.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "probes/recording/after.h"
#include "probes/recording/costs.h"
#include "probes/recording/cputime.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/choose.h"
#include "probes/session/follow.h"
#include "probes/session/sample.h"
#include "probes/session/set.h"

#define LOOK_NS	    15000000ull
#define DEBT_MAX_NS 10000000.0 /* time of the target; a larger debt is noticed too late */
#define DEBT_MIN_NS 2000000.0  /* tolerated however short the recording: a few calls are no rate */
/* of the budget so far; turns become longer, so that there are few of them */
#define DEBT_IN_TURNS 0.2
/* time of the target: unused budget of more time than this is not kept */
#define CREDIT_MAX_NS  100000000.0
#define ROOM_TO_CHOOSE 0.8 /* of the budget, because a brief count may be too low */
#define ROOM_AGAIN     0.8 /* of the budget */
#define REPAID_IN_NS   2e9 /* time of the target in which a debt is paid back */
#define JUST_REFUSED   4.0 /* times its cost: so it is not counted again at once */
#define COSTLIEST      2.0 /* the program's time twice: counting never costs more */
#define FADES	       2.0 /* the factor by which a cost fades with each window */
/* time of the target in which past costs lose a factor of e in weight */
#define SPENT_OVER_NS 100000000.0

static struct function_cost *cost_of(struct budget *b, size_t function)
{
	while (b->functions.n <= function)
		vec_add(&b->functions);
	return &b->functions.data[function];
}

void session_remember_cost(struct budget *b, size_t function, double share)
{
	cost_of(b, function)->faded = fmin(JUST_REFUSED * share, COSTLIEST);
}

void session_forget_costs(struct budget *b)
{
	vec_for_each (&b->functions, struct function_cost, f)
		f->faded = 0;
}

double session_fade_cost(struct budget *b, size_t function)
{
	return cost_of(b, function)->faded /= FADES;
}

/* Adds what calls cost beyond empty ones, the same for each call. */
static double add_after(struct budget *b, struct recording *r, double work_ns, double calls)
{
	double after_ns = after_expect_ns(b->after, work_ns, calls);

	for (size_t i = 0; i < r->drain.n_functions && calls > 0; i++)
		if (planned_is_traced(r->plan.data[i]))
			cost_of(b, i)->cost_ns += after_ns * (r->plan.data[i]->calls_per_s / calls);
	return after_ns;
}

/*
 * Returns what the calls since the last look have cost, in ns, and sets each function's own cost.
 */
static double cost_since(struct budget *b, struct recording *r, double elapsed_ns, double used_ns)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < r->drain.n_functions; i++) {
		struct planned *p = r->plan.data[i];
		struct function_cost *cost = cost_of(b, i);
		uint64_t calls = r->drain.calls_of[i] - cost->calls_before;

		cost->calls_before = r->drain.calls_of[i];
		if (!planned_is_traced(p))
			continue;
		p->calls_per_s = calls;
		cost->cost_ns = calls * costs_call_ns(b->costs, p);
		sum += cost->cost_ns;
		all += calls;
	}
	sum += add_after(b, r, fmax(used_ns - sum, used_ns / 10), all);
	for (size_t i = 0; i < r->drain.n_functions; i++)
		if (planned_is_traced(r->plan.data[i]))
			r->plan.data[i]->calls_per_s *= 1e9 / elapsed_ns;
	return sum;
}

static int remove_costliest(struct budget *b, struct recording *r, double work_ns, double used_ns,
			    double room, struct err *err)
{
	struct planned **all = xcalloc(r->drain.n_functions + 1, sizeof(struct planned *));
	bool *touched = xcalloc(r->sets.n, sizeof(*touched));
	uint64_t now;
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < r->drain.n_functions; i++) {
		struct planned *p = r->plan.data[i];

		if (!planned_is_traced(p))
			continue;
		p->cost_share = cost_of(b, i)->lately;
		/* the rate that the function would have without overhead */
		p->calls_per_s *= used_ns / work_ns;
		session_remember_cost(b, i, p->cost_share);
		all[n++] = p;
	}
	b->spent = session_choose(&r->plan, all, n, session_contends(r), room,
				  session_over_budget_traced);
	b->spent -= session_drop_releases(r, all, n, session_over_budget_traced);
	for (size_t i = 0; i < n; i++)
		if (!all[i]->possible)
			touched[all[i]->set] = true;
	session_quiet_sets(r, touched);
	/*
	 * read only now, because removing probes takes the kernel time, in which calls still came
	 */
	now = clock_now_ns();
	for (size_t i = 0; i < n; i++)
		if (!all[i]->possible) {
			all[i]->out_ns = now;
			session_describe_left_out(r, all[i], now);
		}
	ret = session_rebuild_sets(b->attach, r, touched, err);
	free(touched);
	free(all);
	return ret;
}

void session_budget_begin(struct budget *b, const struct recording *r)
{
	b->look_ns = r->open_ns;
}

void session_budget_release(struct budget *b)
{
	vec_release(&b->functions);
}

void session_add_counting_cost(struct budget *b, double ns)
{
	b->counting_cost_ns += ns;
}

double session_counting_cost_ns(const struct budget *b)
{
	return b->counting_cost_ns;
}

void session_spend(struct budget *b, double share)
{
	b->spent += share;
}

double session_share_spent(const struct budget *b)
{
	return b->spent;
}

double session_debt_ns(const struct budget *b)
{
	return b->debt_ns;
}

bool session_keeps_budget(const struct recording *r)
{
	return (r->is_hybrid || r->options->keep_budget) && !r->options->scout;
}

/* Returns what choosing functions has cost so far: samples of the target, and counting calls. */
static double choosing_cost_ns(const struct budget *b, const struct recording *r)
{
	return (double)costs_sampling_ns(b->costs, r) + b->counting_cost_ns;
}

/* CPU time since the last look, in ns: all of the target's, and the parts of it that traced calls,
 * choosing functions and recording context switches took. */
struct spent {
	double used, calls, choosing, scheduling;
	double work; /* used, without those three */
};

static struct spent spent_since(struct budget *b, struct recording *r, uint64_t elapsed_ns)
{
	uint64_t cpu_ns = cputime_target_ns(r),
		 scheduling_ns = session_scheduling_cost_ns(b->follow, r);
	double choosing_ns = choosing_cost_ns(b, r);
	struct spent spent = {
		.used = cpu_ns > b->cpu_ns ? (double)(cpu_ns - b->cpu_ns) : 0,
		.choosing = choosing_ns - b->choosing_ns,
		.scheduling = (double)(scheduling_ns - b->scheduling_ns),
	};

	spent.used = fmax(spent.used, META_BUSY_LEAST * (double)elapsed_ns);
	spent.calls = cost_since(b, r, (double)elapsed_ns, spent.used);
	spent.work =
		fmax(spent.used - spent.calls - spent.choosing - spent.scheduling, spent.used / 10);
	b->cpu_ns = cpu_ns;
	b->choosing_ns = choosing_ns;
	b->scheduling_ns = scheduling_ns;
	return spent;
}

double session_repayment(const struct budget *b, const struct recording *r, double room)
{
	/*
	 * the lock that threads wait for is what the user wants to find, so it comes before the
	 * debt
	 */
	if (session_contends(r))
		return 0;
	return fmin(fmax(b->debt_ns, 0) / REPAID_IN_NS, room / 2);
}

/* Returns what is left of the budget beside context switches. Removing functions does not make
 * switches cheaper, so they may use up to half of it. */
static double beside_switches(double budget, double switches)
{
	return budget - fmin(switches, SCHEDULING_MOST * budget);
}

double session_choice_room(const struct budget *b, const struct recording *r)
{
	double cpu_ns = cputime_recorded_ns(b->cputime, r),
	       switches_ns = session_scheduling_cost_ns(b->follow, r);
	double work_ns = cpu_ns - b->counting_cost_ns - switches_ns;
	double switches = switches_ns / fmax(work_ns, fmax(cpu_ns / 10, 1)), room;

	room = (session_contends(r) ? 1 : ROOM_TO_CHOOSE) *
	       (beside_switches(recording_budget(r), switches) - session_sampling_share(b->costs));
	return room - session_repayment(b, r, room);
}

double session_spent(double spent, double share_now, double elapsed_ns)
{
	return share_now + (spent - share_now) * exp(-elapsed_ns / SPENT_OVER_NS);
}

static double debt_allowed_ns(struct budget *b, struct recording *r, double budget)
{
	const double budget_ns = budget * (double)cputime_recorded_ns(b->cputime, r);

	vec_for_each (&r->plan, struct planned *, p)
		if ((*p)->in_turns && planned_is_traced(*p))
			return fmax(DEBT_IN_TURNS * budget_ns, DEBT_MAX_NS);
	return fmin(DEBT_MAX_NS, fmax(DEBT_MIN_NS, budget_ns));
}

int session_throttle(struct budget *b, struct recording *r, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - b->look_ns;
	double budget = recording_budget(r), room;
	struct spent spent;

	if (!session_keeps_budget(r) || elapsed_ns < LOOK_NS)
		return 0;
	spent = spent_since(b, r, elapsed_ns);
	b->look_ns = now;
	b->spent = session_spent(b->spent, spent.calls / spent.work, (double)elapsed_ns);
	for (size_t i = 0; i < r->drain.n_functions; i++) {
		struct function_cost *cost = cost_of(b, i);
		bool traced = planned_is_traced(r->plan.data[i]);

		cost->lately = session_spent(cost->lately, traced ? cost->cost_ns / spent.work : 0,
					     (double)elapsed_ns);
	}
	budget = beside_switches(budget, spent.scheduling / spent.work);
	b->debt_ns += spent.calls + spent.choosing - budget * spent.work;
	b->debt_ns = fmax(b->debt_ns, -budget * CREDIT_MAX_NS);
	b->debt_met_ns = fmax(fmin(b->debt_met_ns, b->debt_ns), 0);
	if (b->debt_ns < b->debt_met_ns + debt_allowed_ns(b, r, budget) || !r->drain.n_functions)
		return 0;
	b->debt_met_ns = b->debt_ns;
	room = (session_contends(r) ? 1 : ROOM_AGAIN) * budget;
	return remove_costliest(b, r, spent.work, spent.used, room - session_repayment(b, r, room),
				err);
}
