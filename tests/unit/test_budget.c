/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>

#include "probes/place/plan.h"
#include "probes/recording/recording.h"
#include "probes/select/marker.h"
#include "probes/session/budget.h"
#include "probes/session/choose.h"
#include "probes/session/overhead.h"
#include "symbol/dso/dso.h"

static const struct dso_function blocking = { .symbol = "pthread_mutex_lock" };
static const struct dso_function releasing = { .symbol = "pthread_mutex_unlock" };
static const struct dso_function reading = { .symbol = "read" };
static const struct dso_function other = { .symbol = "parse" };

static const struct plan none_traced;

static struct planned planned(const struct dso_function *f, double cpu_share, double cost_share)
{
	return (struct planned){
		.what.function = f,
		.possible = true,
		.reason = "",
		.cpu_share = cpu_share,
		.cost_share = cost_share,
	};
}

static void waiting_and_callers_come_first(void **state)
{
	struct planned leaf = planned(&other, 0.3, 0.08), caller = planned(&other, 0.9, 0.04),
		       mutex = planned(&blocking, NAN, 0.05), free = planned(&other, 0.01, 0);
	struct planned *all[] = { &leaf, &caller, &mutex, &free };
	double sum = session_choose(&none_traced, all, 4, true, 0.1, "too dear");

	assert_true(mutex.possible && caller.possible && free.possible);
	assert_false(leaf.possible);
	assert_string_equal(leaf.reason, "too dear");
	assert_true(sum > 0.0899 && sum < 0.0901);
}

static void locks_that_nobody_waits_for_come_last(void **state)
{
	struct planned caller = planned(&other, 0.9, 0.06), mutex = planned(&blocking, NAN, 0.05);
	struct planned *all[] = { &mutex, &caller };

	session_choose(&none_traced, all, 2, false, 0.1, "too dear");
	assert_true(caller.possible);
	assert_false(mutex.possible);
}

static void what_was_marked_comes_before_what_waits(void **state)
{
	struct marker mark = { .period = 1 };
	struct planned marked = planned(&other, NAN, 0.06), waiting = planned(&reading, NAN, 0.05);
	struct planned *all[] = { &waiting, &marked };

	marked.what.marker = &mark;
	session_choose(&none_traced, all, 2, false, 0.1, "too dear");
	assert_true(marked.possible);
	assert_false(waiting.possible);
}

static void the_cheaper_of_equals_comes_first(void **state)
{
	struct planned dear = planned(&other, NAN, 0.09), cheap = planned(&other, NAN, 0.02);
	struct planned *all[] = { &dear, &cheap };

	session_choose(&none_traced, all, 2, false, 0.1, "too dear");
	assert_true(cheap.possible);
	assert_false(dear.possible);
}

/* Without frame pointers a leaf hides its callers: three that are cheap are worth more. */
static void a_dear_leaf_leaves_the_room_to_others(void **state)
{
	struct planned leaf = planned(&other, 0.5, 0.08), first = planned(&other, 0.4, 0.01),
		       second = planned(&other, 0.3, 0.01), third = planned(&other, 0.2, 0.01);
	struct planned *all[] = { &leaf, &first, &second, &third };

	session_choose(&none_traced, all, 4, false, 0.1, "too dear");
	assert_true(first.possible && second.possible && third.possible);
	assert_false(leaf.possible);
}

/* How long it is held, and by whom, only both tell: what is hot by itself comes after them. */
static void a_lock_and_its_release_come_before_leaves(void **state)
{
	struct planned leaf = planned(&other, 0.9, 0.04), mutex = planned(&blocking, NAN, 0.04),
		       unlock = planned(&releasing, 0.01, 0.04), free = planned(&other, 0.3, 0.01);
	struct planned *all[] = { &leaf, &unlock, &free, &mutex };

	session_choose(&none_traced, all, 4, true, 0.1, "too dear");
	assert_true(mutex.possible && unlock.possible && free.possible);
	assert_false(leaf.possible);
	leaf.possible = true;
	session_choose(&none_traced, all, 4, false, 0.1, "too dear"); /* nobody waits for it */
	assert_true(leaf.possible);
	assert_false(unlock.possible && mutex.possible);
}

static void a_release_takes_no_room_without_its_lock(void **state)
{
	struct planned leaf = planned(&other, 0.9, 0.09), mutex = planned(&blocking, NAN, 0.5),
		       unlock = planned(&releasing, 0.01, 0.05);
	struct planned *all[] = { &leaf, &unlock, &mutex };

	assert_true(session_choose(&none_traced, all, 3, true, 0.1, "too dear") == 0.09);
	assert_true(leaf.possible);
	assert_false(mutex.possible || unlock.possible || unlock.in_turns);
	unlock.possible = mutex.possible = true;
	unlock.cost_share = 0.1;
	mutex.cost_share = 0.15;
	session_choose(&none_traced, all, 3, true, 0.1, "too dear"); /* its turns are its lock's */
	assert_true(mutex.in_turns && unlock.in_turns);
}

/* A lock that threads wait for is what one looks for, whatever it costs. */
static void a_dear_lock_comes_first(void **state)
{
	struct planned cheap = planned(&other, 0.9, 0.02), mutex = planned(&blocking, NAN, 0.09);
	struct planned *all[] = { &cheap, &mutex };

	session_choose(&none_traced, all, 2, true, 0.1, "too dear");
	assert_true(mutex.possible);
	assert_false(cheap.possible);
}

/* What is too dear for all the time is traced for a part of it, if one looks for it. */
static void a_lock_that_is_too_dear_has_turns(void **state)
{
	struct planned cheap = planned(&other, 0.3, 0.02), mutex = planned(&blocking, NAN, 0.25),
		       most = planned(&other, 0.6, 0.25);
	struct planned *all[] = { &cheap, &mutex, &most };

	assert_true(session_choose(&none_traced, all, 3, true, 0.1, "too dear") == 0.02);
	assert_false(mutex.possible || most.possible);
	assert_true(mutex.in_turns);
	assert_false(most.in_turns ||
		     cheap.in_turns); /* with the lock it is more than three times */
	assert_true(session_give_turns(all, 3) == 0.25);
	assert_true(mutex.possible && cheap.possible);
	assert_string_equal(mutex.reason, "");
	mutex.cost_share = 0.31;
	session_choose(&none_traced, all, 3, true, 0.1, "too dear");
	assert_false(mutex.possible || mutex.in_turns);
	mutex.possible = true;
	mutex.cost_share = 0.25;
	session_choose(&none_traced, all, 3, false, 0.1, "too dear"); /* nobody waits for it */
	assert_false(mutex.possible || mutex.in_turns);
}

/* What is chosen may be a little over the room: that is no reason to leave out what is free. */
static void what_is_free_fits_always(void **state)
{
	struct planned lock = planned(&blocking, NAN, 0.11), caller = planned(&other, 0.3, 0);
	struct planned *all[] = { &lock, &caller };

	session_choose(&none_traced, all, 2, true, 0.1, "too dear");
	assert_true(lock.possible && caller.possible);
}

/* Of what blocks, the lock: who reads a socket waits for nobody of the program. */
static void a_contended_lock_comes_before_reading(void **state)
{
	struct planned input = planned(&reading, 0.1, 0.04), mutex = planned(&blocking, NAN, 0.04);
	struct planned *all[] = { &input, &mutex };

	session_choose(&none_traced, all, 2, true, 0.05, "too dear");
	assert_true(mutex.possible);
	assert_false(input.possible);
}

/* What a region's threads run in it takes hardly any time itself. */
static void a_region_comes_before_what_is_hot(void **state)
{
	struct planned hot = planned(&other, 0.4, 0.04), body = planned(&other, NAN, 0.04);
	struct planned *all[] = { &hot, &body };

	body.region = true;
	session_choose(&none_traced, all, 2, false, 0.05, "too dear");
	assert_true(body.possible);
	assert_false(hot.possible);
}

/* A body, which every thread calls, tells nothing without the region that it belongs to. */
static void a_region_comes_before_its_bodies(void **state)
{
	struct planned region = planned(&other, 0.3, 0.02), body = planned(&other, 0.9, 0.09);
	struct planned *all[] = { &body, &region };

	region.region = body.region = true;
	session_choose(&none_traced, all, 2, false, 0.1, "too dear");
	assert_true(region.possible && !region.in_turns);
	assert_true(!body.possible && body.in_turns);
}

static void what_is_out_stays_out(void **state)
{
	struct planned gone = planned(&other, 1, 0);
	struct planned *all[] = { &gone };

	gone.possible = false;
	assert_true(session_choose(&none_traced, all, 1, true, 1, "too dear") == 0);
	assert_string_equal(gone.reason, "");
}

static void no_room_takes_what_is_never_called(void **state)
{
	struct planned idle = planned(&blocking, NAN, 0), busy = planned(&blocking, NAN, 0.001);
	struct planned *all[] = { &busy, &idle };

	assert_true(session_choose(&none_traced, all, 2, true, 0, "too dear") == 0);
	assert_true(idle.possible);
	assert_false(busy.possible);
}

/* A program that has gone on to other functions has their room for them. */
static void what_is_called_no_more_is_spent_no_more(void **state)
{
	double spent = 0.07;

	for (int looks = 0; looks < 60; looks++)
		spent = session_spent(spent, 0, 15e6);
	assert_true(spent < 0.005);
	assert_true(session_spent(0.07, 0, 15e6) > 0.05);
	for (int looks = 0; looks < 60; looks++)
		spent = session_spent(spent, 0.05, 15e6);
	assert_true(spent > 0.045 && spent < 0.05);
}

/* A ring that is full saves the program nothing: its threads have trapped before that is known. */
static void dropped_calls_cost_what_others_do(void **state)
{
	assert_true(session_dropped_cost_ns(0, 0, 0) == 0);
	assert_true(session_dropped_cost_ns(1e6, 1000, 0) == 0);
	assert_true(session_dropped_cost_ns(1e6, 1000, 9000) == 9e6);
	/* None was read: as much as the costliest call, of whose two records each is one. */
	assert_true(session_dropped_cost_ns(0, 0, 10) == 10 * 3000.0);
}

/* The budget alone, without the other parts: it is given what it asks of them as a recording. */
static void a_debt_is_repaid_unless_threads_contend(void **state)
{
	static struct recording r;
	struct budget b = { .debt_ns = 20e6 };

	assert_true(session_repayment(&b, &r, 0.05) == 0.01);
	b.debt_ns = 1e9; /* by no more than half of the room */
	assert_true(session_repayment(&b, &r, 0.05) == 0.025);
	b.debt_ns = -1e6;
	assert_true(session_repayment(&b, &r, 0.05) == 0);
	b.debt_ns = 1e9;
	r.drain.waits[WAIT_FUTEX] = 10000;
	assert_true(session_repayment(&b, &r, 0.05) == 0);
}

static void shares_are_spent_and_spared(void **state)
{
	struct budget b = { 0 };

	session_spend(&b, 0.5);
	session_spend(&b, -0.25);
	assert_true(session_share_spent(&b) == 0.25);
	session_add_counting_cost(&b, 7);
	session_add_counting_cost(&b, 8);
	assert_true(session_counting_cost_ns(&b) == 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_and_callers_come_first),
		cmocka_unit_test(locks_that_nobody_waits_for_come_last),
		cmocka_unit_test(what_was_marked_comes_before_what_waits),
		cmocka_unit_test(the_cheaper_of_equals_comes_first),
		cmocka_unit_test(a_dear_leaf_leaves_the_room_to_others),
		cmocka_unit_test(a_lock_and_its_release_come_before_leaves),
		cmocka_unit_test(a_release_takes_no_room_without_its_lock),
		cmocka_unit_test(a_dear_lock_comes_first),
		cmocka_unit_test(a_lock_that_is_too_dear_has_turns),
		cmocka_unit_test(what_is_free_fits_always),
		cmocka_unit_test(a_contended_lock_comes_before_reading),
		cmocka_unit_test(a_region_comes_before_what_is_hot),
		cmocka_unit_test(a_region_comes_before_its_bodies),
		cmocka_unit_test(what_is_out_stays_out),
		cmocka_unit_test(no_room_takes_what_is_never_called),
		cmocka_unit_test(what_is_called_no_more_is_spent_no_more),
		cmocka_unit_test(dropped_calls_cost_what_others_do),
		cmocka_unit_test(a_debt_is_repaid_unless_threads_contend),
		cmocka_unit_test(shares_are_spent_and_spared),
	};

	return unit_run(tests);
}
