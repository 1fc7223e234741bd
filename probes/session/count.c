/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/count.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/after.h"
#include "probes/recording/costs.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/attach.h"
#include "probes/session/beside.h"
#include "probes/session/budget.h"
#include "probes/session/choose.h"
#include "probes/session/set.h"

#define COUNTING_NS	  100000000ull
#define SCOUT_COUNTING_NS 30000000ull
#define SHARE_OF_BUDGET	  0.5 /* of the budget, for counting */
#define ALLOWED_LEAST_NS  2000000.0
#define TRIES_MAX	  5
#define DISTORTING_SHARE  0.2 /* of the CPU time: if counting took more, the rates are distorted */

static struct counted_function *counted(struct count *c, size_t function)
{
	while (c->functions.n <= function)
		vec_add(&c->functions);
	return &c->functions.data[function];
}

void session_count_ask(struct count *c, size_t function)
{
	*counted(c, function) = (struct counted_function){ .asked = true };
}

static bool is_asked(const struct count *c, size_t function)
{
	return function < c->functions.n && c->functions.data[function].asked;
}

static bool is_armed(const struct count *c, const struct recording *r, size_t function)
{
	return is_asked(c, function) && r->plan.data[function]->possible &&
	       !c->functions.data[function].is_known;
}

/* Begins to count. Inserting probes takes a while, so some of them have counted before. */
static void count_from_now(struct count *c, struct recording *r)
{
	for (size_t i = c->first; i < r->plan.n; i++)
		counted(c, i)->before = bpfprog_count(r->programs, i);
	c->cpu_ns = cputime_target_ns(r);
	c->since_ns = clock_now_ns();
}

static int arm(struct count *c, struct recording *r, struct err *err)
{
	struct probeset *set = &c->set;
	int ret;

	probeset_init(set, r->dynevents, r->sets.n);
	bpfprog_count_from(r->programs, c->first);
	for (size_t i = c->first; i < r->plan.n; i++)
		if (is_armed(c, r, i))
			probeset_add_count(set, r->plan.data[i],
					   objects_path(&r->objects, r->plan.data[i]->what.dso), i);
	ret = probeset_create(set, session_point_refused, r, err);
	if (!ret)
		ret = session_open_on_targets(c->attach, r, set, err);
	count_from_now(c, r);
	return ret;
}

int session_count_begin(struct count *c, struct recording *r, size_t first, struct err *err)
{
	c->first = first;
	c->tries = 0;
	return arm(c, r, err);
}

/* Returns how much counting may have cost since the recording began, given the CPU time that the
 * target has used. */
static double allowed_ns(const struct count *c, const struct recording *r, uint64_t cpu_ns)
{
	double used = cputime_since_begin_ns(c->cputime, cpu_ns);
	double room = SHARE_OF_BUDGET * recording_budget(r) * used -
		      session_counting_cost_ns(c->budget) - (double)costs_sampling_ns(c->costs, r);

	if (r->options->scout) /* the results of this run are not reported */
		return INFINITY;
	return room > ALLOWED_LEAST_NS ? room : ALLOWED_LEAST_NS;
}

static double count_cost_ns(const struct count *c, const struct recording *r, size_t i)
{
	return bpfprog_count(r->programs, i) * costs_count_ns(c->costs, r->plan.data[i]);
}

static double counted_cost_ns(const struct count *c, const struct recording *r, size_t *n)
{
	double cost = 0;

	*n = 0;
	for (size_t i = c->first; i < r->plan.n; i++)
		if (is_armed(c, r, i)) {
			cost += count_cost_ns(c, r, i);
			++*n;
		}
	return cost;
}

/* Returns the cost of counting within the CPU time used. */
static double counting_cost_ns(const struct count *c, const struct recording *r, double cost_ns,
			       double used_ns)
{
	double calls = 0;

	for (size_t i = c->first; i < r->plan.n; i++)
		if (is_armed(c, r, i))
			calls += (double)bpfprog_count(r->programs, i);
	return cost_ns + COST_OF_COUNTING * after_expect_ns(c->after,
							    fmax(used_ns - cost_ns, used_ns / 10),
							    calls);
}

/* Computes the rates of calls in the time that was the program's own. */
static void price(struct count *c, struct recording *r, uint64_t elapsed_ns, uint64_t used_ns,
		  double cost_ns)
{
	double work_ns = used_ns > cost_ns * 10 / 9 ? used_ns - cost_ns : used_ns / 10.0;
	double own_share = used_ns ? work_ns / used_ns : 1;

	if (work_ns < META_BUSY_LEAST * elapsed_ns)
		work_ns = META_BUSY_LEAST * elapsed_ns;
	for (size_t i = c->first; i < r->plan.n; i++) {
		struct planned *p = r->plan.data[i];
		uint64_t count;

		if (!is_armed(c, r, i))
			continue;
		count = bpfprog_count(r->programs, i) - c->functions.data[i].before;
		p->calls_per_s = count * 1e9 / (elapsed_ns * own_share);
		p->cost_share = work_ns > 0 ? (count * costs_call_ns(c->costs, p) +
					       after_expect_ns(c->after, work_ns, count)) /
						      work_ns
					    : 0;
	}
}

/* Sets the cost of the functions that cost more than the average of n. Returns how many have no
 * cost yet. */
static size_t set_costly_aside(struct count *c, struct recording *r, double cost_ns, size_t n)
{
	size_t left = 0;

	for (size_t i = c->first; i < r->plan.n; i++) {
		struct counted_function *f = counted(c, i);

		if (!is_armed(c, r, i))
			continue;
		f->is_known = count_cost_ns(c, r, i) * n >= cost_ns;
		left += !f->is_known;
	}
	return left;
}

static void log_choice(const struct planned *p)
{
	if (p->possible)
		log_detail("choice: %s takes %.1f%%", p->what.function->symbol,
			   100 * p->cost_share);
	else
		log_detail("choice: %s cannot be traced: %s", p->what.function->symbol, p->reason);
}

/* Chooses the functions to trace. A scout chooses only after it has seen everything. */
static void decide(struct count *c, struct recording *r)
{
	struct planned **all = xcalloc(r->plan.n + 1, sizeof(struct planned *));
	size_t n = 0;

	for (size_t i = c->first; i < r->plan.n; i++)
		if (is_asked(c, i))
			all[n++] = r->plan.data[i];
	if (!r->options->scout) {
		double room = session_choice_room(c->budget, r);

		log_detail("choice: %.1f%% of the time may be spent, %.1f%% is, %.1f%% of it is "
			   "kept for a debt of %.1f ms",
			   100 * room, 100 * session_share_spent(c->budget),
			   100 * session_repayment(c->budget, r, room),
			   session_debt_ns(c->budget) / 1e6);
		for (size_t i = 0; i < n; i++)
			log_choice(all[i]);
		session_spend(c->budget,
			      session_choose(&r->plan, all, n, session_contends(r),
					     fmax(room - session_share_spent(c->budget), 0),
					     session_over_budget));
		n = session_beside_offer_costly(c->beside, r, c->first, all, n);
		session_spend(c->budget, session_give_turns(all, n));
		session_spend(c->budget, -session_drop_releases(r, all, n, session_over_budget));
	}
	for (size_t i = c->first; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (is_asked(c, i) && !p->is_beside && !r->options->scout)
			session_remember_cost(c->budget, i, p->cost_share);
		counted(c, i)->asked = false;
	}
	free(all);
}

static uint64_t used_since_armed_ns(const struct count *c, uint64_t cpu_ns)
{
	return cpu_ns > c->cpu_ns ? cpu_ns - c->cpu_ns : 0;
}

void session_count_stop(struct count *c, const struct recording *r)
{
	uint64_t used_ns = used_since_armed_ns(c, cputime_target_ns(r));
	size_t n;
	double cost_ns = counted_cost_ns(c, r, &n);

	session_add_counting_cost(c->budget, counting_cost_ns(c, r, cost_ns, (double)used_ns));
}

int session_count_look(struct count *c, struct recording *r, uint64_t now, bool *counted,
		       struct err *err)
{
	uint64_t elapsed_ns = now - c->since_ns, cpu_ns = cputime_target_ns(r);
	bool over = elapsed_ns >= (r->options->scout ? SCOUT_COUNTING_NS : COUNTING_NS), distorted;
	size_t n;
	double cost_ns = counted_cost_ns(c, r, &n);
	uint64_t used_ns;

	*counted = false;
	if (!over && cost_ns <= allowed_ns(c, r, cpu_ns))
		return 0;
	session_retire_set(c->attach, &c->set);
	/* The kernel may take a while, and calls were counted meanwhile. */
	cost_ns = counted_cost_ns(c, r, &n);
	elapsed_ns = clock_now_ns() - c->since_ns;
	cpu_ns = cputime_target_ns(r);
	used_ns = used_since_armed_ns(c, cpu_ns);
	session_add_counting_cost(c->budget, counting_cost_ns(c, r, cost_ns, (double)used_ns));
	price(c, r, elapsed_ns, used_ns, cost_ns);
	distorted = cost_ns > DISTORTING_SHARE * used_ns;
	if ((!over || distorted) && ++c->tries < TRIES_MAX && set_costly_aside(c, r, cost_ns, n))
		return arm(c, r, err);
	decide(c, r);
	*counted = true;
	return 0;
}

void session_count_release(struct count *c)
{
	probeset_release(&c->set);
	vec_release(&c->functions);
}
