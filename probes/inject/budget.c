/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inject/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probes/inject/patched.h"
#include "probes/inject/stubcost.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/stamped.h"
#include "probes/process/target.h"
#include "probes/select/blocking.h"
#include "symbol/dso/dso.h"

#define CHECK_NS      10000000ull
#define DEBT_MAX_NS   10000000.0  /* debt that is tolerated, in time of the program */
#define CREDIT_MAX_NS 100000000.0 /* program time whose unspent budget may be saved up */
/* The first record in each page of a ring costs more than others. A few threads' rings cost so much
 * together, once, and no function is given up for it; a program that begins threads all the time
 * needs new rings all the time, and what their pages cost beyond this counts as its calls' cost. */
#define PAGES_FREE_NS 100000000.0
/* A thread begins with what it may record in this time. */
#define THREAD_FIRST_NS	 10000000.0
#define THREAD_GAP_NS	 10000000.0 /* a time slice: a thread may also compute for so long */
#define RECORD_COST_MOST 1e12	    /* cycles: a few minutes */
#define SETTLE_NS	 100000000ull
#define ROOM		 0.7	    /* part of the budget for the rest, so that debt is rare */
#define LATELY_NS	 50000000.0 /* time constant of the smoothed shares */
#define PROCESSES	 256	    /* processes whose time is read, at most */
#define BUSY_LEAST	 0.05	    /* of one CPU, which the program is assumed to use at least */

void budget_init(struct budget *b, double share, double pair_ns, size_t n_functions)
{
	*b = (struct budget){ .share = share, .pair_ns = pair_ns, .n = n_functions };
	b->functions = xcalloc(n_functions + 1, sizeof(*b->functions));
}

struct blob_budget budget_of_thread(double share, const struct stubcost *cost)
{
	const double rate = cost->cycles_per_ns, record_ns = cost->call.full_p50_ns / 2,
		     used_ns = record_ns / (ROOM * share);

	if (!(share > 0) || !(used_ns * rate > 0))
		return (struct blob_budget){ 0 };
	return (struct blob_budget){
		.record_cost = (uint64_t)(fmin(used_ns * rate, RECORD_COST_MOST) *
					  (1 << BLOB_COST_SHIFT)) +
			       1,
		.credit_first = (uint64_t)(THREAD_FIRST_NS * rate),
		.credit_most = (uint64_t)(CREDIT_MAX_NS * rate),
		.gap_most = (uint64_t)(THREAD_GAP_NS * rate),
	};
}

void budget_release(struct budget *b)
{
	free(b->functions);
	b->functions = NULL;
	vec_release(&b->processes);
}

/* ---- the program's time ---- */

static struct budget_process *process_of(struct budget *b, pid_t pid)
{
	vec_for_each (&b->processes, struct budget_process, p)
		if (p->pid == pid)
			return p;
	if (b->processes.n == PROCESSES)
		return NULL;
	*vec_add(&b->processes) = (struct budget_process){ pid, 0 };
	return vec_last(&b->processes);
}

/* Returns the CPU time since the last check. That is all of a new process's time, and 0 for a
 * process that has ended. */
static uint64_t used_by(struct budget *b, pid_t pid)
{
	struct budget_process *p = process_of(b, pid);
	uint64_t now = p ? target_cpu_ns(pid) : 0, before;

	if (!p)
		return 0;
	before = p->cpu_ns;
	p->cpu_ns = now;
	return now > before ? now - before : 0;
}

static double used_ns(struct budget *b, const struct inproc_drain *d)
{
	uint64_t sum = 0;

	vec_for_each (&d->regions, const struct inproc_region, g) {
		uint32_t last = 0;

		sum += used_by(b, g->pid);
		for (uint32_t i = 0; g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++) {
			uint32_t pid = g->slots[i].pid;

			if (g->slots[i].state == INPROC_LIVE && pid && pid != last)
				sum += used_by(b, (pid_t)pid);
			last = pid;
		}
	}
	return (double)sum;
}

/* ---- what to give up ---- */

struct ranked {
	size_t i;
	bool waits;
	double share;
};

/* Blocking functions come first, as they show locks, then the cheapest ones, so that most fit. */
static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->waits != y->waits)
		return x->waits ? -1 : 1;
	if (x->share != y->share)
		return x->share < y->share ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void budget_choose(struct budget *b, const struct patched_functions *functions, double room,
		   bool *out)
{
	struct ranked *all = xcalloc(b->n + 1, sizeof(*all));
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (!b->functions[i].is_out && b->functions[i].share > 0)
			all[n++] = (struct ranked){
				i, blocking_waits_or_unlocks(functions->data[i].function->symbol),
				b->functions[i].share
			};
	qsort(all, n, sizeof(*all), by_rank);
	for (size_t k = 0; k < n; k++) {
		out[all[k].i] = sum + all[k].share > room;
		if (!out[all[k].i])
			sum += all[k].share;
	}
	free(all);
}

/* ---- checks ---- */

/* Assumes that lost records are spread over the functions like those that were read, unless
 * functions were taken out just now: then they are mostly of these. A call has two records. */
static double lost_factor(struct budget *b, const struct inproc_drain *d, uint64_t calls)
{
	/* with a region that its program has cut, what its threads had counted is not known */
	uint64_t known = inproc_drain_lost(d), lost = known > b->lost ? known - b->lost : 0;

	b->lost = known;
	return calls && b->checked_ns >= b->settled_ns ? 1 + (double)lost / 2 / (double)calls : 1;
}

/* Returns what pages have cost since the last check beyond what is free. */
static double paid_for_pages(struct budget *b, const struct inproc_drain *d)
{
	const double all = inproc_drain_pages_ns(d);
	const double paid = fmax(all, PAGES_FREE_NS) - fmax(b->pages_ns, PAGES_FREE_NS);

	b->pages_ns = all;
	return paid;
}

/* Computes the cost of each function's calls since the last check. Returns the sum of those that
 * can still be taken out. */
static double cost_since(struct budget *b, const struct inproc_drain *d)
{
	const double pages_ns = paid_for_pages(b, d);
	uint64_t calls = 0;
	double lost, call_ns, sum = 0;

	for (size_t i = 0; i < b->n; i++) {
		b->functions[i].calls = d->calls_of[i] - b->functions[i].before;
		b->functions[i].before = d->calls_of[i];
		calls += b->functions[i].calls;
	}
	lost = lost_factor(b, d, calls);
	call_ns = b->pair_ns + (calls ? pages_ns / lost / (double)calls : 0);
	for (size_t i = 0; i < b->n; i++) {
		b->functions[i].made = (double)b->functions[i].calls * lost;
		b->functions[i].cost_ns = b->functions[i].made * call_ns;
		sum += b->functions[i].is_out ? 0 : b->functions[i].cost_ns;
	}
	return sum;
}

static void update_shares(struct budget *b, double work_ns, double elapsed_ns)
{
	const double kept = exp(-elapsed_ns / LATELY_NS);

	for (size_t i = 0; i < b->n; i++) {
		struct budget_function *f = &b->functions[i];
		double now = f->cost_ns / work_ns;

		f->calls_per_s = f->made / elapsed_ns * 1e9;
		f->share = b->is_begun ? now + (f->share - now) * kept : now;
	}
}

void budget_begin(struct budget *b, const struct inproc_drain *d, uint64_t now_ns)
{
	b->begun_ns = b->checked_ns = now_ns;
	used_ns(b, d);
}

void budget_add_process(struct budget *b, pid_t pid)
{
	used_by(b, pid);
}

void budget_settle(struct budget *b, uint64_t now_ns)
{
	b->settled_ns = now_ns + SETTLE_NS;
}

/* Its calls are known until they passed for the first time. */
static void describe_passed(const struct budget *b, const struct inproc_drain *d, size_t i)
{
	struct budget_function *f = &b->functions[i];
	double traced_ns;

	f->passed_ns = d->last_of_ns[i] > b->begun_ns ? d->last_of_ns[i] : b->begun_ns + 1;
	traced_ns = (double)(f->passed_ns - b->begun_ns);
	f->calls_per_s = (double)d->calls_of[i] / traced_ns * 1e9;
	f->share = (double)d->calls_of[i] * b->pair_ns / traced_ns;
}

/* Gives up the functions whose calls pass already in some thread. Returns whether there are any. */
static bool give_up_passed(struct budget *b, const struct inproc_drain *d, bool *wanted)
{
	bool any = false;

	for (size_t i = 0; i < b->n; i++) {
		if (b->functions[i].is_out || !inproc_stamped_passes(d, (uint32_t)i))
			continue;
		wanted[i] = b->functions[i].is_out = any = true;
		describe_passed(b, d, i);
	}
	return any;
}

bool budget_has_passed(struct budget *b, const struct inproc_drain *d, bool *wanted)
{
	memset(wanted, 0, b->n * sizeof(*wanted));
	return b->share > 0 && give_up_passed(b, d, wanted);
}

bool budget_is_exceeded(struct budget *b, const struct inproc_drain *d,
			const struct patched_functions *functions, uint64_t now_ns, bool *wanted)
{
	uint64_t elapsed_ns = now_ns - b->checked_ns;
	double used, cost, work;
	bool any = false;

	if (!(b->share > 0) || elapsed_ns < CHECK_NS || now_ns < b->not_before_ns)
		return false;
	b->checked_ns = now_ns;
	used = fmax(used_ns(b, d), BUSY_LEAST * (double)elapsed_ns);
	cost = cost_since(b, d);
	work = fmax(used - cost, used / 10);
	update_shares(b, work, (double)elapsed_ns);
	b->is_begun = true;
	b->debt_ns = fmax(b->debt_ns + cost - b->share * work, -b->share * CREDIT_MAX_NS);
	memset(wanted, 0, b->n * sizeof(*wanted));
	if (b->debt_ns < DEBT_MAX_NS)
		return give_up_passed(b, d, wanted);
	/* It is not forgiven: the next costly function is found at the next check. */
	b->debt_ns = DEBT_MAX_NS;
	budget_choose(b, functions, ROOM * b->share, wanted);
	for (size_t i = 0; i < b->n; i++) {
		any |= wanted[i];
		b->functions[i].is_out |= wanted[i];
	}
	any |= give_up_passed(b, d, wanted);
	return any;
}
