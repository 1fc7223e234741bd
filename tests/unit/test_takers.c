/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who had the CPU while a thread was ready to run: stretch by stretch of the CPU that it then got.
 */
#include "unit.h"

#include "analysis/threads/takers.h"
#include "trace/record.h"

#define PROCESS(n) (SWITCH_AFTER_IDLE + (n))
#define OWN	   PROCESS(1)

struct parts {
	uint64_t of[8];
};

static void add(void *ctx, uint64_t who, uint64_t ns)
{
	((struct parts *)ctx)->of[who] += ns;
}

/* The program has it, then others from 100 to 300, then the program again until now, 400. */
static struct takers cpu_0(void)
{
	struct takers t = { 0 };

	takers_switch(&t, 0, 10, SWITCH_AFTER_IDLE, OWN);
	takers_switch(&t, 0, 100, OWN, PROCESS(2));
	takers_switch(&t, 0, 300, PROCESS(3), OWN);
	takers_switch(&t, 0, 400, OWN, OWN);
	return t;
}

static void each_stretch_is_whose_it_was(void **state)
{
	struct takers t = cpu_0();
	struct parts parts = { 0 };

	(void)state;
	takers_share(&t, 0, 50, OWN, add, &parts);
	assert_int_equal(parts.of[OWN], 50 + 100);
	assert_int_equal(parts.of[PROCESS(2)], 100);
	assert_int_equal(parts.of[PROCESS(3)], 100);
	takers_release(&t);
}

/* A thread of the kernel that began or ended a stretch had it for a moment. One that did both had
 * it all the time. */
static void a_kernel_thread_has_a_moment(void **state)
{
	struct takers t = { 0 };
	struct parts parts = { 0 };

	(void)state;
	takers_is_kernel(&t, 2);
	takers_switch(&t, 0, 100, OWN, PROCESS(2));
	takers_switch(&t, 0, 300, PROCESS(3), OWN);
	takers_switch(&t, 0, 400, OWN, PROCESS(3));
	takers_switch(&t, 0, 700, PROCESS(2), OWN);
	takers_switch(&t, 0, 800, OWN, PROCESS(2));
	takers_switch(&t, 0, 850, PROCESS(2), OWN);
	takers_share(&t, 0, 100, OWN, add, &parts);
	assert_int_equal(parts.of[PROCESS(3)], 200 + 300);
	assert_int_equal(parts.of[PROCESS(2)], 50);
	assert_int_equal(parts.of[OWN], 100 + 100);
	takers_release(&t);
}

/* Another one had it for a moment when the thread was taken off, and for most of the time the
 * program. */
static void a_moment_is_no_half(void **state)
{
	struct takers t = { 0 };
	struct parts parts = { 0 };

	(void)state;
	takers_switch(&t, 0, 1000, OWN, PROCESS(2));
	takers_switch(&t, 0, 1010, PROCESS(2), OWN);
	takers_switch(&t, 0, 2000, OWN, OWN);
	takers_share(&t, 0, 1000, OWN, add, &parts);
	assert_int_equal(parts.of[PROCESS(2)], 10);
	assert_int_equal(parts.of[OWN], 990);
	takers_release(&t);
}

/* What is longer than what is kept is divided as its end. */
static void the_sum_is_the_whole_time(void **state)
{
	struct takers t = { 0 };
	struct parts parts = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		takers_switch(&t, 0, 100 * i, i % 2 ? PROCESS(2) : OWN, i % 2 ? OWN : PROCESS(2));
	takers_share(&t, 0, 50000, OWN, add, &parts);
	assert_in_range(parts.of[OWN], 24000, 26000);
	assert_in_range(parts.of[OWN] + parts.of[PROCESS(2)], 49900, 50000);
	takers_release(&t);
}

static void of_an_unknown_cpu_it_is_who_was_before(void **state)
{
	struct takers t = { 0 };
	struct parts parts = { 0 };

	(void)state;
	takers_switch(&t, 3, 1000, PROCESS(2), OWN);
	takers_share(&t, 3, 400, PROCESS(2), add, &parts);
	assert_int_equal(parts.of[PROCESS(2)], 600);
	takers_share(&t, 9, 400, PROCESS(2), add, &parts);
	takers_switch(&t, 1u << 30, 1000, PROCESS(2), OWN);
	assert_int_equal(parts.of[PROCESS(2)], 600);
	takers_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stretch_is_whose_it_was),
		cmocka_unit_test(a_kernel_thread_has_a_moment),
		cmocka_unit_test(a_moment_is_no_half),
		cmocka_unit_test(the_sum_is_the_whole_time),
		cmocka_unit_test(of_an_unknown_cpu_it_is_who_was_before),
	};

	return unit_run(tests);
}
