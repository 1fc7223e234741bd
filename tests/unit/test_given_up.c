/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions a recording in process gives up for its budget, and when. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "probes/inject/budget.h"
#include "probes/inject/patched.h"
#include "probes/inproc/drain.h"
#include "symbol/dso/dso.h"

#define N  4
#define MS 1000000ull

static const struct dso_function named[N] = { { .symbol = "often" },
					      { .symbol = "pthread_mutex_lock" },
					      { .symbol = "seldom" },
					      { .symbol = "more" } };
static struct patched_functions functions;
static struct inproc_drain drain;
static struct budget budget;
static bool out[N];

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		vec_add(&functions)->function = &named[i];
	inproc_drain_count_functions(&drain, N);
	budget_init(&budget, 0.1, 25, N);
	memset(out, 0, sizeof(out));
	return 0;
}

static int end(void **state)
{
	(void)state;
	budget_release(&budget);
	vec_release(&functions);
	inproc_drain_release(&drain);
	drain = (struct inproc_drain){ 0 };
	return 0;
}

static void share(double often, double lock, double seldom, double more)
{
	const double shares[N] = { often, lock, seldom, more };

	for (size_t i = 0; i < N; i++)
		budget.functions[i].share = shares[i];
}

static void what_costs_most_is_given_up(void **state)
{
	(void)state;
	share(0.3, 0, 0.01, 0.02);
	budget_choose(&budget, &functions, 0.05, out);
	assert_true(out[0]);
	assert_false(out[1] || out[2] || out[3]);
}

static void locks_stay_before_others(void **state)
{
	(void)state;
	share(0.01, 0.04, 0.001, 0.03);
	budget_choose(&budget, &functions, 0.06, out);
	assert_true(out[3]);
	assert_false(out[0] || out[1] || out[2]);
}

static void what_is_out_is_not_given_up_again(void **state)
{
	(void)state;
	share(0.3, 0, 0.2, 0);
	budget.functions[0].is_out = true;
	budget_choose(&budget, &functions, 0.01, out);
	assert_false(out[0]);
	assert_true(out[2]);
}

static void call(uint32_t function, uint64_t n)
{
	drain.calls_of[function] += n;
}

/* 400 calls in 10 ms are nothing, 800,000 cost twice the time that there is. */
static void few_calls_cost_little(void **state)
{
	(void)state;
	budget_begin(&budget, &drain, 100 * MS);
	call(0, 400);
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	call(0, 800000);
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 111 * MS, out));
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 120 * MS, out));
	assert_true(out[0] && budget.functions[0].is_out);
	assert_false(out[1] || out[2] || out[3]);
}

/* A program whose phases each have other costly functions would be over the budget all the time if
 * each of them might owe as much as the first. */
static void debt_is_not_forgiven(void **state)
{
	(void)state;
	budget_begin(&budget, &drain, 100 * MS);
	call(0, 800000);
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	call(2, 16000);
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 120 * MS, out));
	assert_true(out[2]);
	assert_false(out[0]);
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 130 * MS, out));
}

static void a_process_that_cannot_be_stopped_is_let_alone_for_a_while(void **state)
{
	(void)state;
	budget_begin(&budget, &drain, 100 * MS);
	budget.not_before_ns = 200 * MS;
	call(0, 8000000);
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 190 * MS, out));
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 210 * MS, out));
}

/* Nobody knows of whom lost records were: each function's part of them is as of the others. */
static void lost_calls_cost_too(void **state)
{
	(void)state;
	budget_begin(&budget, &drain, 100 * MS);
	call(2, 1000);
	drain.lost_records = 1600000;
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	assert_true(out[2]);
}

/* A thread that goes on losing records has counted more than are in the file so far. */
static void calls_being_lost_cost_too(void **state)
{
	static struct inproc_slot slots[2] = { { .tid = 7 } };
	static struct inproc_header header;
	struct inproc_seen seen = { .n_missing = 1600000 };

	(void)state;
	*vec_add(&drain.regions) = (struct inproc_region){
		.shared = &header, .slots = slots, .seen = &seen, .n_rings = 1
	};
	budget_begin(&budget, &drain, 100 * MS);
	call(2, 1000);
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	assert_true(out[2]);
	vec_release(&drain.regions);
}

/* They are of the function that was taken out, whose records came faster than they were read. */
static void what_is_lost_before_a_function_is_out_is_not_of_others(void **state)
{
	(void)state;
	budget_begin(&budget, &drain, 100 * MS);
	call(0, 8000000);
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	assert_true(out[0]);
	budget_settle(&budget, 110 * MS);
	call(0, 8000000);
	call(2, 1000);
	drain.lost_records = 16000000;
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 130 * MS, out));
	call(2, 1000);
	drain.lost_records = 32000000;
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 330 * MS, out));
	assert_true(out[2]);
}

/* The first pages of a few rings cost once, those of ever more threads cost as calls do. */
static void pages_of_many_rings_cost_too(void **state)
{
	struct inproc_region *g = vec_add(&drain.regions);

	(void)state;
	*g = (struct inproc_region){ .page_ns = 15000 };
	budget_begin(&budget, &drain, 100 * MS);
	call(0, 4000);
	g->first_records = 256 * 2000; /* 30 ms */
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
	call(0, 4000);
	g->first_records = 256 * 12000; /* 180 ms */
	assert_true(budget_is_exceeded(&budget, &drain, &functions, 120 * MS, out));
	assert_true(out[0]);
	vec_release(&drain.regions);
}

static void without_a_bound_nothing_is_given_up(void **state)
{
	(void)state;
	budget.share = 0;
	call(0, 800000);
	assert_false(budget_is_exceeded(&budget, &drain, &functions, 110 * MS, out));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_costs_most_is_given_up),
		TEST(locks_stay_before_others),
		TEST(what_is_out_is_not_given_up_again),
		TEST(few_calls_cost_little),
		TEST(debt_is_not_forgiven),
		TEST(a_process_that_cannot_be_stopped_is_let_alone_for_a_while),
		TEST(lost_calls_cost_too),
		TEST(calls_being_lost_cost_too),
		TEST(what_is_lost_before_a_function_is_out_is_not_of_others),
		TEST(pages_of_many_rings_cost_too),
		TEST(without_a_bound_nothing_is_given_up),
	};

	return unit_run(tests);
}
