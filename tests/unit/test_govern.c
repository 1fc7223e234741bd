/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For which part of the time switches have records, by what they cost, and how that is learned. */
#include "unit.h"

#include <math.h>

#include "probes/session/govern.h"

#define ON_NS 5e8

/* Shares of the program's own work that switches cost with and without records, and the budget. */
struct program {
	double on, off, allowed;
	double works; /* CPU time in each ns */
};

struct outcome {
	double on, cost; /* part of the time with records; share that switches cost in all */
};

/* Lets a program run for some hundred stretches. */
static struct outcome outcome_of(const struct program *p)
{
	struct govern_debt d = { .allowed = p->allowed, .work_rate = p->works };
	double on_ns = 0, off_ns = 0, cost_ns = 0;

	d.off_rate = p->off * p->works;
	for (int i = 0; i < 400; i++) {
		double pause;

		on_ns += ON_NS;
		cost_ns += p->on * p->works * ON_NS;
		d.debt_ns += (p->on - p->allowed) * p->works * ON_NS;
		if (d.debt_ns < 0)
			d.debt_ns = 0;
		pause = (double)govern_pause_ns(&d);
		off_ns += pause;
		cost_ns += p->off * p->works * pause;
		d.debt_ns += (p->off - p->allowed) * p->works * pause;
	}
	return (struct outcome){ .on = on_ns / (on_ns + off_ns),
				 .cost = cost_ns / p->works / (on_ns + off_ns) };
}

static void the_cost_is_what_is_allowed(void **state)
{
	static const struct program programs[] = {
		{ 0.25, 0.05, 0.10, 1.7 }, { 0.15, 0.06, 0.10, 0.9 }, { 0.20, 0.02, 0.08, 0.06 },
		{ 0.11, 0.05, 0.10, 2 },   { 0.9, 0.05, 0.4, 64 },
	};

	for (unsigned i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const struct program *p = &programs[i];
		struct outcome o = outcome_of(p);
		double part = (p->allowed - p->off) / (p->on - p->off);

		assert_true(o.cost < 1.02 * p->allowed);
		/* and no more is left out than that takes, but for pauses that are never longer */
		if (part > 0.15)
			assert_true(fabs(o.on - part) < 0.02);
	}
}

static void cheap_switches_have_all_their_records(void **state)
{
	struct outcome o = outcome_of(&(struct program){ 0.09, 0.03, 0.10, 1 });

	assert_true(o.on == 1);
}

/* If switches cost more than the budget even without records, the pauses are as long as they may
 * be: a quarter of the time is recorded. */
static void some_records_are_always_written(void **state)
{
	struct outcome o = outcome_of(&(struct program){ 0.6, 0.2, 0.10, 1 });

	assert_true(o.on > 0.24 && o.on < 0.26);
}

static void others_use_up_to_half_of_the_budget(void **state)
{
	assert_true(govern_allowed(0.1, 0) == 0.1);
	assert_true(fabs(govern_allowed(0.1, 0.03) - 0.07) < 1e-9);
	assert_true(fabs(govern_allowed(0.1, 0.3) - 0.05) < 1e-9);
	assert_true(govern_allowed(0.1, -0.2) == 0.1);
}

/* A phase of 1 s of a program that works for 0.8 s; costs in ns. */
static struct govern_sums phase_after(const struct governor *g, double switches, double others)
{
	return (struct govern_sums){
		.time_ns = g->at.time_ns + 1000000000,
		.cpu_ns = g->at.cpu_ns + 8e8 + switches + others,
		.all_ns = g->at.all_ns + switches + others,
		.switches_ns = g->at.switches_ns + switches,
	};
}

static void costs_are_learned_of_both_phases(void **state)
{
	struct governor g = { .at = { 5, 1e6, 2e6, 3e6 }, .off_of_on = 0.3 };
	struct govern_sums now = phase_after(&g, 2e8, 0);

	govern_settle(&g, &now, 0.1);
	assert_true(fabs(g.on_rate - 0.2) < 1e-9);
	assert_true(fabs(g.off_of_on - 0.3) < 1e-9);
	assert_true(fabs(g.debt.off_rate - 0.06) < 1e-9); /* as expected before one was measured */
	assert_true(fabs(g.debt.debt_ns - 1.2e8) < 1);	  /* 80 ms were allowed */
	assert_true(fabs(g.debt.work_rate - 0.8) < 1e-9);
	assert_true(g.at.time_ns == now.time_ns && g.at.switches_ns == now.switches_ns);

	g.off = true;
	now = phase_after(&g, 2e7, 0);
	govern_settle(&g, &now, 0.1);
	assert_true(fabs(g.on_rate - 0.2) < 1e-9);
	assert_true(fabs(g.off_of_on - 0.1) < 1e-9);
	assert_true(fabs(g.debt.off_rate - 0.02) < 1e-9);
	assert_true(fabs(g.debt.debt_ns - 6e7) < 1);

	/* The next one with records costs less, and the pauses with it. */
	g.off = false;
	now = phase_after(&g, 1e8, 0);
	govern_settle(&g, &now, 0.1);
	assert_true(fabs(g.on_rate - 0.1) < 1e-9);
	assert_true(fabs(g.debt.off_rate - 0.01) < 1e-9);
}

static void what_others_cost_is_not_allowed_to_switches(void **state)
{
	struct governor g = { 0 };
	struct govern_sums now = phase_after(&g, 1e8, 3.2e7);

	govern_settle(&g, &now, 0.1);
	assert_true(fabs(g.debt.allowed - 0.06) < 1e-9);
	assert_true(fabs(g.debt.debt_ns - (1e8 - 4.8e7)) < 1);
}

static void little_credit_is_kept(void **state)
{
	struct governor g = { 0 };

	for (int i = 0; i < 5; i++) {
		struct govern_sums now = phase_after(&g, 0, 0);

		govern_settle(&g, &now, 0.1);
	}
	assert_true(fabs(g.debt.debt_ns + 1e7) < 1); /* a tenth of 0.1 s of the target's time */
}

static void no_time_settles_nothing(void **state)
{
	struct governor g = { .at = { .time_ns = 7 }, .on_rate = 0.2, .debt = { .debt_ns = 5 } };
	struct govern_sums now = { .time_ns = 7, .switches_ns = 1e6, .all_ns = 1e6 };

	govern_settle(&g, &now, 0.1);
	assert_true(g.debt.debt_ns == 5 && g.on_rate == 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_is_what_is_allowed),
		cmocka_unit_test(cheap_switches_have_all_their_records),
		cmocka_unit_test(some_records_are_always_written),
		cmocka_unit_test(others_use_up_to_half_of_the_budget),
		cmocka_unit_test(costs_are_learned_of_both_phases),
		cmocka_unit_test(what_others_cost_is_not_allowed_to_switches),
		cmocka_unit_test(little_credit_is_kept),
		cmocka_unit_test(no_time_settles_nothing),
	};

	return unit_run(tests);
}
