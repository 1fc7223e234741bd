/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/govern.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/budget.h"
#include "probes/session/burst.h"
#include "probes/session/follow.h"
#include "probes/session/overhead.h"
#include "trace/meta/meta.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define ON_NS	    500000000ull /* if shorter, more waits would have begun before it */
#define FIRST_ON_NS 500000000ull /* short programs are recorded in full */
/* With -p, the default budget is so small that next to nothing would be recorded. */
#define ATTACHED_LEAST	0.1
#define OFF_LEAST_NS	50000000ull   /* a shorter pause gains less than its edges lose */
#define OFF_MOST_NS	1500000000ull /* on average: session_varied_ns() makes up to 2.25 s of it */
#define CREDIT_NS	100000000.0 /* time of the target; what it leaves unused before is not kept */
#define UNDER_WAY_NS	50000	    /* a program that has read the flag has ended by then */
#define EXPECTED_OF_OFF 0.3	    /* cost of a switch without a record, before it is measured */

double govern_allowed(double budget, double others)
{
	return budget - fmin(fmax(others, 0), (1 - SCHEDULING_MOST) * budget);
}

uint64_t govern_pause_ns(const struct govern_debt *d)
{
	double repaid = d->allowed * d->work_rate - d->off_rate, ns;

	if (d->debt_ns <= 0)
		return 0;
	ns = repaid > 0 ? d->debt_ns / repaid : (double)OFF_MOST_NS;
	if (ns < (double)OFF_LEAST_NS)
		return 0;
	return ns < (double)OFF_MOST_NS ? (uint64_t)ns : OFF_MOST_NS;
}

/* Returns the overhead that probes in the kernel may cause: their own limit, and what the calls
 * that are timed in process do not use of theirs. */
static double budget_of(const struct recording *r)
{
	const double budget = r->options->overhead + r->options->overhead_beside;

	return r->options->n_pids ? fmax(budget, ATTACHED_LEAST) : budget;
}

static struct govern_sums sums_now(const struct governor *g, const struct recording *r)
{
	const struct wire_totals now = recording_totals(r);

	return (struct govern_sums){
		.time_ns = clock_now_ns(),
		.cpu_ns = (double)cputime_target_ns(r),
		.all_ns = (double)session_probes_cost_ns(g->overhead, r),
		.switches_ns = (double)session_scheduling_cost_ns(g->follow, r) -
			       session_births_cost_ns(g->follow, r, &now),
	};
}

void govern_settle(struct governor *g, const struct govern_sums *now, double budget)
{
	const struct govern_sums *was = &g->at;
	const double span = (double)(now->time_ns - was->time_ns);
	const double cost = fmax(now->switches_ns - was->switches_ns, 0);
	const double all = fmax(now->all_ns - was->all_ns, 0);
	double work = fmax(now->cpu_ns - was->cpu_ns - all, META_BUSY_LEAST * span), allowed;

	if (span <= 0)
		return;
	allowed = govern_allowed(budget, (all - cost) / work);
	g->debt.debt_ns += cost - allowed * work;
	g->debt.debt_ns = fmax(g->debt.debt_ns, -allowed * CREDIT_NS);
	g->debt.allowed = allowed;
	g->debt.work_rate = work / span;
	if (g->off)
		g->off_of_on = fmin(1, cost / span / fmax(g->on_rate, 1e-9));
	else
		g->on_rate = cost / span;
	g->debt.off_rate = g->on_rate * g->off_of_on;
	if (g->off || g->debt.debt_ns > 0)
		log_detail(
			"context switches took %.1f%% of the program's own time %s records, and %.1f%% are "
			"allowed",
			100 * cost / work, g->off ? "without" : "with", 100 * allowed);
	g->at = *now;
}

static void write_edge(struct governor *g, struct recording *r, bool off, uint64_t time_ns)
{
	const struct wire_totals now = recording_totals(r), *from = &g->totals;
	uint64_t values[RECORD_VALUES_MIN] = { 0 };
	struct record edge = {
		.kind = off ? REC_SWITCHES_OFF : REC_SWITCHES_ON,
		.cpu = r->cpus.online[0],
		.time_ns = time_ns,
		.n_values = off ? 0 : 2,
		.values = values,
	};

	values[0] = now.unrecorded - from->unrecorded;
	values[1] = now.unrecorded_wakings - from->unrecorded_wakings;
	trace_writer_record(r->writer, &edge);
}

static void turn_off(struct governor *g, struct recording *r, uint64_t pause_ns)
{
	const uint64_t now = clock_now_ns();

	g->totals = recording_totals(r);
	bpfprog_leave_switches_out(r->programs, true);
	/* records from before the edge come before it in the file */
	drain_run(&r->drain, &r->rings, &r->mappings);
	write_edge(g, r, true, now);
	g->off = true;
	g->until_ns = clock_now_ns() + pause_ns;
}

static void turn_on(struct governor *g, struct recording *r)
{
	const struct timespec under_way = { 0, UNDER_WAY_NS };

	bpfprog_leave_switches_out(r->programs, false);
	nanosleep(&under_way, NULL);
	drain_run(&r->drain, &r->rings, &r->mappings);
	write_edge(g, r, false, clock_now_ns());
	g->off = false;
	g->until_ns = clock_now_ns() + ON_NS;
}

static bool governs(const struct recording *r)
{
	return session_keeps_budget(r) && !r->options->live && r->begun;
}

void session_govern_step(struct governor *g, struct recording *r)
{
	const uint64_t now = clock_now_ns();
	struct govern_sums sums;
	uint64_t pause_ns;

	if (!governs(r) || now < g->until_ns)
		return;
	if (!g->until_ns) {
		g->off_of_on = EXPECTED_OF_OFF;
		g->at = sums_now(g, r);
		g->until_ns = now + FIRST_ON_NS;
		return;
	}
	sums = sums_now(g, r);
	govern_settle(g, &sums, budget_of(r));
	if (g->off) {
		turn_on(g, r);
		return;
	}
	pause_ns = govern_pause_ns(&g->debt);
	g->until_ns = now + ON_NS;
	if (pause_ns && g->counts) {
		turn_off(g, r, session_varied_ns(&g->random, pause_ns));
	} else if (pause_ns) {
		/* what sleeps when the records stop must have said how often it had switched */
		bpfprog_count_switches(r->programs);
		g->counts = true;
		log_detail("context switches take more than the budget leaves: their records are "
			   "left out for a part of the time");
	}
}

int session_govern_timeout_ms(const struct governor *g, int timeout_ms)
{
	const uint64_t now = clock_now_ns(), until_ns = g->until_ns;
	const uint64_t left_ms = until_ns > now ? (until_ns - now) / 1000000 + 1 : 0;

	if (!until_ns || left_ms > (uint64_t)timeout_ms)
		return timeout_ms;
	return (int)left_ms;
}

void session_govern_stop(struct governor *g, struct recording *r)
{
	if (g->off)
		write_edge(g, r, false, clock_now_ns());
	g->off = false;
	bpfprog_leave_switches_out(r->programs, false); /* calibration comes next */
}
