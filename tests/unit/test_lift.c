/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made-up calls beside made-up activity: what is named, and how often by chance. */
#include <stdio.h>

#include "unit.h"
#include "dice.h"

#include <math.h>
#include <string.h>

#include "analysis/evidence/lift.h"

#define CALLS 1000

static uint64_t state;

static double uniform(void)
{
	return (double)(dice(&state) >> 11) / 9007199254740992.0;
}

static void seed(uint64_t n)
{
	state = n * 0x9e3779b97f4a7c15ull | 1;
	for (unsigned i = 0; i < 16; i++)
		uniform();
}

static void add_call(struct lift_sample *s, uint64_t ns, uint64_t asleep_ns)
{
	*vec_add(&s->rows) = (struct lift_row){ .duration_ns = ns,
						.seen_ns = ns,
						.asleep_ns = asleep_ns,
						.first = (uint32_t)s->cells.n };
}

static void add_rate(struct lift_sample *s, uint32_t candidate, double rate)
{
	if (rate <= 0)
		return;
	*vec_add(&s->cells) = (struct lift_cell){ candidate, (float)rate };
	vec_last(&s->rows)->n++;
}

static void release(struct lift_sample *s)
{
	vec_release(&s->rows);
	vec_release(&s->cells);
}

static struct lifts ask(const struct lift_sample *s, uint32_t n, uint32_t cpus)
{
	static const uint8_t takes_cpu[64];
	struct lift_question q = { .n = n, .takes_cpu = takes_cpu, .running = n, .cpus = cpus };
	struct lifts found = { 0 };

	q.pairs = lift_pairs(s, n);
	lift_find(s, &q, &found);
	return found;
}

/* Whoever is active makes calls twice as long; two others are active as often, on their own. */
static void the_cause_is_named_and_nobody_else(void **unused)
{
	struct lift_sample s = { 0 };
	struct lifts found;

	(void)unused;
	seed(1);
	for (unsigned i = 0; i < CALLS; i++) {
		bool active = uniform() < 0.2;

		add_call(&s, (uint64_t)((active ? 200 : 100) + 10 * uniform()), 0);
		add_rate(&s, 0, uniform() < 0.2);
		add_rate(&s, 1, active);
		add_rate(&s, 2, uniform() < 0.2);
	}
	found = ask(&s, 3, 4);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.data[0].candidate, 1);
	assert_true(found.data[0].low > 5 && found.data[0].low < found.data[0].lift);
	assert_true(found.data[0].share > 0.9);
	assert_true(isinf(found.data[0].high) || found.data[0].high > found.data[0].lift);
	vec_release(&found);
	release(&s);
}

/* One thread's calls take longer than another's, and meet what that one does. own: which part of
 * the slow calls another thread makes that also makes fast ones. */
static size_t named_of_threads(double own)
{
	struct lift_sample s = { 0 };
	struct lifts found;
	size_t named;

	seed(3);
	for (unsigned i = 0; i < CALLS; i++) {
		bool slow = uniform() < 0.2;

		add_call(&s, (uint64_t)((slow ? 200 : 100) + 10 * uniform()), 0);
		vec_last(&s.rows)->thread = slow && uniform() >= own ? 2 : 1;
		add_rate(&s, 0, slow ? 1 : uniform() < 0.1);
	}
	found = ask(&s, 1, 4);
	named = found.n;
	vec_release(&found);
	release(&s);
	return named;
}

static void threads_that_are_never_fast_do_something_else(void **unused)
{
	(void)unused;
	assert_int_equal(named_of_threads(1), 1);
	assert_int_equal(named_of_threads(0.8), 1);
	assert_int_equal(named_of_threads(0.2), 0);
	assert_int_equal(named_of_threads(0), 0);
}

/* Activity that comes in stretches of calls, durations that do so too, neither because of the
 * other. */
static unsigned chance(uint64_t n, unsigned candidates, double change, double slow_part)
{
	struct lift_sample s = { 0 };
	struct lifts found;
	bool active[64] = { false }, slow = false;
	unsigned named;

	seed(n);
	for (unsigned i = 0; i < CALLS; i++) {
		slow = uniform() < change ? uniform() < slow_part : slow;
		add_call(&s, (uint64_t)((slow ? 300 : 100) * (1 + uniform())), 0);
		for (unsigned c = 0; c < candidates; c++) {
			active[c] = uniform() < change ? uniform() < 0.3 : active[c];
			add_rate(&s, c, active[c] ? 0.5 + uniform() / 2 : 0);
		}
	}
	found = ask(&s, candidates, 4);
	named = found.n > 0;
	vec_release(&found);
	release(&s);
	return named;
}

static void check_chance(double change, double slow_part)
{
	unsigned one = 0, many = 0;

	for (unsigned i = 0; i < 400; i++) {
		one += chance(i + 1, 1, change, slow_part);
		many += chance(i + 1, 20, change, slow_part);
	}
	printf("# stretches of %.0f calls, %.0f %% slow: %u of 400 with one candidate, %u with 20\n",
	       1 / change, 100 * slow_part, one, many);
	assert_true(one <= 20);
	assert_true(many <= 20);
}

/* The promise is one recording in 20, be few calls slow or most. */
static void independent_activity_is_not_named(void **unused)
{
	static const double change[] = { 1, 0.2, 0.02, 0.005 };

	(void)unused;
	for (unsigned k = 0; k < 4; k++) {
		check_chance(change[k], 0.3);
		check_chance(change[k], 0.85);
	}
}

/* Only one call in eight, in stretches, has the memory for itself: the median is slow. */
static void a_cause_of_most_calls_is_named(void **unused)
{
	struct lift_sample s = { 0 };
	struct lifts found;

	(void)unused;
	seed(1);
	for (unsigned i = 0; i < CALLS; i++) {
		bool alone = i % 200 < 25;

		add_call(&s, (uint64_t)((alone ? 50 : 200) * (1 + uniform() / 2)), 0);
		add_rate(&s, 0, alone ? 0 : 1);
		add_rate(&s, 1, uniform() < 0.5);
	}
	found = ask(&s, 2, 4);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.data[0].candidate, 0);
	assert_true(found.data[0].fast_rate < 0.05 && found.data[0].slow_rate > 0.95);
	vec_release(&found);
	release(&s);
}

/* Nothing is a reason for being longer: a longer call meets more, at the same rate. */
static void longer_calls_meet_more_but_not_more_often(void **unused)
{
	unsigned named = 0;

	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		struct lift_sample s = { 0 };
		struct lifts found;

		seed(i + 1);
		for (unsigned k = 0; k < CALLS; k++) {
			unsigned ticks = k % 10 ? 1 : 50;
			double met = 0;

			for (unsigned j = 0; j < ticks; j++)
				met += uniform() < 0.3;
			add_call(&s, ticks * 1000, 0);
			add_rate(&s, 0, met / ticks);
		}
		found = ask(&s, 1, 4);
		named += found.n > 0;
		vec_release(&found);
		release(&s);
	}
	assert_true(named <= 10);
}

/* Slow calls sleep; on two CPUs a stranger then runs all the time instead of half of it. */
static void a_freed_cpu_names_nobody(void **unused)
{
	struct lift_sample s = { 0 };
	struct lifts found;

	(void)unused;
	seed(1);
	for (unsigned i = 0; i < CALLS; i++) {
		bool sleeps = i % 5 == 0;

		add_call(&s, sleeps ? 1000000 : 1000, sleeps ? 990000 : 0);
		add_rate(&s, 0, sleeps ? 1 : uniform() < 0.5);
	}
	found = ask(&s, 1, 2);
	assert_int_equal(found.n, 0);
	/* on 64 CPUs there was room for it before */
	found = ask(&s, 1, 64);
	assert_int_equal(found.n, 1);
	vec_release(&found);
	release(&s);
}

/* The culprit, candidate 2, is called by 1 and that by 0, which run in other calls, too. */
static void the_culprit_comes_before_its_callers(void **unused)
{
	struct lift_sample s = { 0 };
	struct lifts found;

	(void)unused;
	seed(3);
	for (unsigned i = 0; i < CALLS; i++) {
		bool slow = uniform() < 0.2, other = uniform() < 0.1, culprit = slow;

		if (slow && uniform() < 0.3)
			culprit = false;
		add_call(&s, (uint64_t)((slow ? 200 : 100) + 10 * uniform()), 0);
		add_rate(&s, 0, slow || other);
		add_rate(&s, 1, slow || (other && i % 2));
		add_rate(&s, 2, culprit);
	}
	found = ask(&s, 3, 4);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.data[0].candidate, 2);
	assert_true(found.data[0].share < found.data[1].share);
	vec_release(&found);
	release(&s);
}

static void few_calls_say_nothing(void **unused)
{
	struct lift_sample s = { 0 };
	struct lifts found;

	(void)unused;
	for (unsigned i = 0; i < 100; i++) {
		add_call(&s, i % 5 ? 100 : 1000, 0);
		add_rate(&s, 0, i % 5 == 0);
	}
	assert_false(lift_enough(&s));
	assert_int_equal(lift_pairs(&s, 1), 0);
	found = ask(&s, 1, 4);
	assert_int_equal(found.n, 0);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cause_is_named_and_nobody_else),
		cmocka_unit_test(threads_that_are_never_fast_do_something_else),
		cmocka_unit_test(independent_activity_is_not_named),
		cmocka_unit_test(a_cause_of_most_calls_is_named),
		cmocka_unit_test(longer_calls_meet_more_but_not_more_often),
		cmocka_unit_test(a_freed_cpu_names_nobody),
		cmocka_unit_test(the_culprit_comes_before_its_callers),
		cmocka_unit_test(few_calls_say_nothing),
	};

	return unit_run(tests);
}
