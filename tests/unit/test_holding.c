/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a lock's holder does while others wait for it. */
#include "unit.h"

#include "analysis/lock/holding.h"
#include "trace/meta/meta.h"
#include "analysis/threads/call.h"

static void add_asleep(struct holding *h, uint32_t function, uint64_t own_ns, uint64_t asleep_ns)
{
	const struct call c = { .id = function,
				.own_ns = own_ns,
				.own_off = { .blocked_ns = asleep_ns } };

	holding_add(h, &c);
}

static void add(struct holding *h, uint32_t function, uint64_t own_ns)
{
	add_asleep(h, function, own_ns, 0);
}

/* A hold counts for as long as others waited for it, in the proportions of the whole hold. */
static void holds_count_by_the_waits_for_them(void **state)
{
	const struct offcpu asleep = { .blocked_ns = 900 }, ran = { 0 };
	struct holding slow = { 0 }, fast = { 0 };
	struct holding_sums sums = { 0 };
	struct holding_most most;

	add(&slow, 7, 400);
	add_asleep(&slow, 7, 500, 500);
	add(&fast, 8, 1000);
	holding_sum(&sums, &slow, &asleep, 1000, 600);
	holding_sum(&sums, &fast, &ran, 1000, 100);
	most = holding_most(&sums);
	assert_int_equal(most.function, 7);
	assert_float_equal(most.share, 540.0 / 700, 1e-9);
	assert_string_equal(most.doing, "sleeps");
	assert_string_equal(most.mostly, "asleep");
}

/* The sleep beside a function is not a sleep in it. */
static void a_function_sleeps_by_its_own_sleep(void **state)
{
	const struct offcpu asleep = { .blocked_ns = 500 };
	struct holding_sums sums = { 0 };
	struct holding h = { 0 };
	struct holding_most most;

	add(&h, 7, 500);
	holding_sum(&sums, &h, &asleep, 1000, 1000);
	most = holding_most(&sums);
	assert_int_equal(most.function, 7);
	assert_null(most.mostly);
}

/* Half of the time and more is what the holder does; a state if it is in no one function. */
static void less_than_half_is_not_what_it_does(void **state)
{
	const struct offcpu off = { .preempted_ns = 450, .blocked_ns = 100 };
	struct holding_sums sums = { 0 }, joined = { 0 };
	struct holding h = { 0 };
	struct holding_most most;

	for (uint32_t i = 0; i < 2 * HOLDING_PARTS; i++)
		add(&h, i, 80);
	holding_sum(&sums, &h, &off, 1000, 10);
	most = holding_most(&sums);
	assert_int_equal(most.function, UINT32_MAX);
	assert_null(most.doing);
	holding_join(&joined, &sums);
	holding_sum(&joined, &h, &(struct offcpu){ .preempted_ns = 900 }, 1000, 90);
	most = holding_most(&joined);
	assert_int_equal(most.function, UINT32_MAX);
	assert_string_equal(most.doing, "waits for a CPU");
	assert_float_equal(most.share, 0.855, 1e-9);
}

/* A holder that runs is in the function of most samples, if these are enough to tell. */
static void samples_tell_where_it_runs(void **state)
{
	const struct meta_frame sort = { .symbol = "sort", .object = "app" },
				line_of_sort = { .symbol = "sort", .object = "app", .line = 9 },
				other = { .symbol = "sort", .object = "lib" };
	struct holding_sums sums = { 0 }, none = { 0 };
	struct holding h = { 0 }, weightless = { 0 };

	for (unsigned i = 0; i < 3; i++)
		holding_add_sample(&h, i ? &sort : &line_of_sort, 10);
	holding_add_sample(&h, &other, 10);
	for (unsigned i = 0; i < 8; i++)
		holding_add_sample(&weightless, &sort, 0);
	holding_sum(&none, &weightless, &(struct offcpu){ 0 }, 1000, 1000);
	assert_null(holding_most(&none).sampled);
	holding_sum(&sums, &h, &(struct offcpu){ 0 }, 1000, 1000);
	assert_null(holding_most(&sums).sampled);
	assert_string_equal(holding_most(&sums).doing, "runs");
	holding_sum(&sums, &h, &(struct offcpu){ .preempted_ns = 100 }, 1000, 1000);
	assert_string_equal(holding_most(&sums).sampled->symbol, "sort");
	assert_string_equal(holding_most(&sums).sampled->object, "app");
	assert_float_equal(holding_most(&sums).share, 0.95 * 0.75, 1e-9);
	/* one that sleeps is in none of them */
	for (unsigned i = 0; i < 3; i++)
		holding_sum(&sums, &h, &(struct offcpu){ .blocked_ns = 900 }, 1000, 1000);
	assert_null(holding_most(&sums).sampled);
	assert_string_equal(holding_most(&sums).doing, "sleeps");
}

static void nothing_is_said_of_no_waits(void **state)
{
	struct holding_sums sums = { 0 };
	struct holding h = { 0 };

	assert_null(holding_most(NULL).doing);
	holding_sum(&sums, &h, &(struct offcpu){ 0 }, 0, 0);
	/* what was off the CPU for longer than it lasted is not trusted */
	holding_sum(&sums, &h, &(struct offcpu){ .blocked_ns = 11 }, 10, 10);
	assert_null(holding_most(&sums).doing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_count_by_the_waits_for_them),
		cmocka_unit_test(a_function_sleeps_by_its_own_sleep),
		cmocka_unit_test(less_than_half_is_not_what_it_does),
		cmocka_unit_test(samples_tell_where_it_runs),
		cmocka_unit_test(nothing_is_said_of_no_waits),
	};

	return unit_run(tests);
}
