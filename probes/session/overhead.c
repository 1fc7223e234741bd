/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/overhead.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/after.h"
#include "probes/recording/costs.h"
#include "probes/recording/cputime.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/recording/solo.h"
#include "probes/session/beside.h"
#include "probes/session/budget.h"
#include "probes/session/engine.h"
#include "probes/session/follow.h"

#define WARN_AFTER_NS	  1000000000ull
#define WARN_EVERY_NS	  5000000000ull
#define WARN_TOLERANCE	  1.2	      /* the estimate is no more precise */
#define COST_LEAST	  0.01	      /* of a CPU: a smaller cost is not reported */
#define SHORT_NS	  10e9	      /* in shorter runs, functions may be chosen to the end */
#define CPU_TIME_LEAST_NS 10000000ull /* below it, the kernel's own figure is too coarse */

struct trapped {
	const struct costs *costs;
	const struct plan *plan;
	uint64_t calls;
	double cost_ns;
};

static void add_trapped(void *ctx, uint32_t tid, uint32_t id, const struct wire_sampling *row)
{
	struct trapped *all = ctx;

	(void)tid;
	if (id >= all->plan->n)
		return;
	all->calls += row->calls;
	all->cost_ns += (double)row->calls * costs_call_ns(all->costs, all->plan->data[id]);
}

double session_dropped_cost_ns(double read_cost_ns, uint64_t read, uint64_t dropped)
{
	double each_ns = read ? read_cost_ns / (double)read : COSTLIEST_CALL_NS / 2.0;

	return (double)dropped * each_ns;
}

/* Returns how many records of entries and exits the kernel made, or dropped, that were not read. */
static uint64_t unread_records(const struct recording *r)
{
	uint64_t made = recording_totals(r).calls - r->totals_at_start.calls;

	return made > r->drain.calls ? made - r->drain.calls : 0;
}

/*
 * Returns the calls that trapped. Calls that sampling leaves out write no records, but trap, and
 * the kernel counts them. So do calls whose records were dropped.
 */
static struct trapped trapped_calls(const struct overhead *o, const struct recording *r)
{
	struct trapped all = { .costs = o->costs, .plan = &r->plan };

	if (r->options->period > 1) {
		bpfprog_sampled(r->programs, add_trapped, &all);
		return all;
	}
	for (uint32_t id = 0; id < r->drain.n_functions && id < r->plan.n; id++)
		all.cost_ns +=
			(double)r->drain.calls_of[id] * costs_call_ns(o->costs, r->plan.data[id]);
	all.cost_ns += session_dropped_cost_ns(all.cost_ns, r->drain.calls, unread_records(r));
	all.calls = r->drain.entries;
	return all;
}

uint64_t session_trapped_calls(const struct overhead *o, const struct recording *r)
{
	return trapped_calls(o, r).calls;
}

static uint64_t beside_cost_ns(const struct overhead *o, const struct recording *r)
{
	struct session_beside_sums sums;

	session_beside_sums(o->beside, r, &sums);
	return sums.cost_ns;
}

uint64_t session_probes_cost_ns(const struct overhead *o, const struct recording *r)
{
	return (uint64_t)(trapped_calls(o, r).cost_ns + after_sum_ns(o->after) +
			  session_counting_cost_ns(o->budget)) +
	       beside_cost_ns(o, r) + solo_windows_cost_ns(o->solo) +
	       session_scheduling_cost_ns(o->follow, r) + costs_sampling_ns(o->costs, r);
}

static const char *scheduling_advice(const struct overhead *o, const struct recording *r)
{
	const struct wire_totals now = recording_totals(r);

	if (session_births_cost_ns(o->follow, r, &now) >
	    (double)session_scheduling_cost_ns(o->follow, r) / 2)
		return "give --no-inherit if child processes do not matter: the program starts "
		       "and ends very many threads, and their records are most of the cost";
	return session_is_carried(o->follow)
		       ? "give --no-inherit if child processes do not matter: the program has "
			 "very many context switches, and their records are most of the cost"
		       : "allow more with --overhead: the program has very many context "
			 "switches, and their records are most of the cost";
}

/* The costs of the target and its probes in a stretch of time. */
struct stretch {
	double cpu_ns, cost_ns, span_ns;
};

/* Returns the whole budget that the user set. */
static double whole_budget(const struct recording *r)
{
	return r->options->overhead + r->options->overhead_beside;
}

/* Returns whether the cost exceeds the budget in a stretch that is long enough to judge. */
static bool is_over_budget(const struct recording *r, const struct stretch *x)
{
	double own_ns = fmax(x->cpu_ns - x->cost_ns, META_BUSY_LEAST * x->span_ns);
	double share = meta_overhead(own_ns + x->cost_ns, x->cost_ns);

	if (x->cpu_ns < CPU_TIME_LEAST_NS || x->cost_ns < COST_LEAST * x->span_ns)
		return false;
	return share > WARN_TOLERANCE * whole_budget(r);
}

static void what_probes_did(const struct stretch *x, struct text *out)
{
	double share = meta_overhead(x->cpu_ns, x->cost_ns);
	bool most = share >= META_OVERHEAD_MOST;
	char number[TEXT_NUMBER];

	if (meta_hardly_runs(x->cpu_ns, x->cost_ns, x->span_ns))
		text_printf(out, "the probes took about %s",
			    text_of_cpu(number, x->cost_ns / x->span_ns));
	else
		text_printf(out, "the probes slowed the target by %s%s", most ? "" : "about ",
			    text_overhead(number, share, most));
}

static bool is_mostly_scheduling(const struct overhead *o, const struct recording *r)
{
	return (double)session_scheduling_cost_ns(o->follow, r) >
	       (double)session_probes_cost_ns(o, r) / 2;
}

static void add_advice(const struct overhead *o, const struct recording *r, const struct stretch *x,
		       struct text *out)
{
	text_add(out, "; ");
	if (is_mostly_scheduling(o, r))
		text_add(out, scheduling_advice(o, r));
	else if (r->is_hybrid && x->span_ns < SHORT_NS) /* the user has named no functions */
		text_add(out, "record for longer: the costliest functions are left out with time");
	else if (r->is_hybrid)
		text_add(out, "allow more with --overhead, or name the functions to trace with -F");
	else
		text_add(out, "trace fewer functions (-F), or one call in several (-c N)");
}

/*
 * Returns whether the recorder itself ends what exceeds the budget: it takes functions out that it
 * has chosen. Until then a user can do nothing about them.
 */
static bool will_be_less(const struct overhead *o, const struct recording *r)
{
	return r->is_hybrid && recording_budget(r) > 0 && !is_mostly_scheduling(o, r);
}

/*
 * Warns once, and early, so that the user can stop. The last line has the total: a second figure,
 * of the first seconds, would be confused with it.
 */
static void warn(struct overhead *o, const struct recording *r, const struct stretch *x,
		 bool at_end)
{
	const char *now = at_end ? "" : " at the moment", *past = at_end ? "ed" : "";
	double budget = 100 * whole_budget(r);
	struct text words = { 0 };

	if (o->warned)
		return;
	o->warned = true;
	if (meta_hardly_runs(x->cpu_ns, x->cost_ns, x->span_ns))
		text_printf(&words, "the probes %s more CPU time than the budget of %.3g%%%s",
			    at_end ? "took" : "take", budget, now);
	else
		text_printf(&words, "the probes slow%s the target by more than %.3g%%%s", past,
			    budget, now);
	add_advice(o, r, x, &words);
	log_notice("%s", words.s);
	text_release(&words);
}

/* Writes a notice into the file, which has the final figure. */
static void note_overhead(const struct overhead *o, struct recording *r, const struct stretch *x)
{
	struct session_beside_sums beside;
	struct text words = { 0 };

	session_beside_sums(o->beside, r, &beside);
	if (beside.lost_most)
		text_add(&words, "how much the target was slowed is n/a, as most calls that were "
				 "timed in process were dropped");
	else
		what_probes_did(x, &words);
	add_advice(o, r, x, &words);
	recording_note(r, "over-budget", words.s);
	text_release(&words);
}

static bool is_time_to_look(const struct overhead *o, const struct recording *r, uint64_t now_ns)
{
	if (!o->look_ns)
		return now_ns - r->start_ns >= WARN_AFTER_NS;
	return now_ns - o->look_ns >= WARN_EVERY_NS;
}

void session_warn_cost(struct overhead *o, struct recording *r, uint64_t now_ns, bool at_end)
{
	uint64_t cpu_ns, since_ns;
	struct stretch x;
	double cost_ns;

	if (!r->begun || (!at_end && !is_time_to_look(o, r, now_ns)))
		return;
	cpu_ns = cputime_recorded_ns(o->cputime, r);
	if (cpu_ns < o->cpu_ns)
		cpu_ns = o->cpu_ns; /* for ended processes, the last known time */
	cost_ns = (double)session_probes_cost_ns(o, r);
	since_ns = o->look_ns ? o->look_ns : r->start_ns;
	if (at_end)
		x = (struct stretch){ (double)cpu_ns, cost_ns, (double)(now_ns - r->start_ns) };
	else
		x = (struct stretch){ (double)(cpu_ns - o->cpu_ns), cost_ns - o->cost_ns,
				      (double)(now_ns - since_ns) };
	o->look_ns = now_ns;
	o->cpu_ns = cpu_ns;
	o->cost_ns = cost_ns;
	if (!is_over_budget(r, &x) || (!at_end && will_be_less(o, r)))
		return;
	warn(o, r, &x, at_end);
	if (at_end)
		note_overhead(o, r, &x);
}
