/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting along the chain of wakers, and what the sleeps are a cause of. Times in us. */
#include "unit.h"
#include "wait_scene.h"

static void released_by_a_thread_that_ran(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	about(thread(&s, 1)->off.blocked_ns, 20);
	about(thread(&s, 1)->off.idle_ns, 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* A server thread waits for a request that another reads from a socket: that is work. */
static void the_chain_ends_at_a_socket(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_BITSET, 0x30, 0);
	sleep_in(&s, 20, 2, WAIT_SOCKET, 0, 5, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_INTERRUPT);
	wake_up(&s, 90, 1, 2, 0);
	wake_up(&s, 95, 3, 1, 0);
	about(thread(&s, 2)->off.idle_ns, 60);
	about(thread(&s, 1)->off.idle_ns, 60);
	about(thread(&s, 1)->off.blocked_ns, 20);
	/* and so on along the chain */
	about(thread(&s, 3)->off.idle_ns, 60);
	about(thread(&s, 3)->off.blocked_ns, 25);
	scene_finish(&s, 100000);
	scene_release(&s);
}

static void the_disk_is_not_the_outside(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 20, 2, WAIT_DISK, WAIT_IOWAIT, 5, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_INTERRUPT);
	wake_up(&s, 90, 1, 2, 0);
	about(thread(&s, 2)->off.idle_ns, 0);
	about(thread(&s, 1)->off.idle_ns, 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* Thread 2 sleeps for a time: those at its condition are idle, those at its lock are not. */
static void a_pause_holds_up_only_who_queues(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 20, 2, WAIT_SLEEP, 0, 0, 0);
	wake_up(&s, 80, 2, 0, WAKING_BY_TIMER);
	wake_up(&s, 90, 1, 2, 0);
	wake_up(&s, 90, 3, 2, 0);
	about(thread(&s, 2)->off.idle_ns, 60);
	about(thread(&s, 1)->off.idle_ns, 60);
	about(thread(&s, 3)->off.idle_ns, 0);
	about(thread(&s, 3)->off.blocked_ns, 80);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* Looking again every few us is still waiting for the thread that ends it. */
static void timeouts_of_a_wait_for_a_thread(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 20, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 10);
	sleep_in(&s, 20, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	sleep_in(&s, 40, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 80, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 10);
	about(thread(&s, 1)->off.blocked_ns, 50);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* glibc's condition variable lets its waiters change to the word beside. */
static void timeouts_of_a_condition_with_two_words(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 20, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 30, 1, 2, 0);
	sleep_in(&s, 40, 1, WAIT_FUTEX, FUTEX_BITSET, 0x14, 0);
	wake_up(&s, 80, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 0);
	sleep_in(&s, 90, 1, WAIT_FUTEX, FUTEX_BITSET, 0x18, 0);
	wake_up(&s, 95, 1, 0, WAKING_BY_TIMER);
	about(thread(&s, 1)->off.idle_ns, 5);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/*
 * The same before the first release. Who releases again and again is whom they waited for, so what
 * that one waited itself decides: thread 2 runs, 3 is at a socket. One release at the end, as of a
 * thread that is told to stop, leaves the sleeps before it to their clock.
 */
static void timeouts_before_the_first_release(void **state)
{
	static const struct {
		uint32_t waker;
		unsigned releases;
		double blocked, idle;
	} cases[] = { { 2, 2, 42, 0 }, { 3, 2, 2, 40 }, { 2, 1, 1, 40 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_sums sums = { 0 };
		struct scene s;
		uint64_t us = 20;
		int64_t lost;

		begin(&s);
		sleep_in(&s, 10, 3, WAIT_SOCKET, 0, 5, 0);
		for (unsigned n = 0; n < 4; n++, us += 10) {
			sleep_in(&s, us, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
			wake_up(&s, us + 10, 1, 0, WAKING_BY_TIMER);
			wait_add(&sums, thread(&s, 1), us * 1000 + 10000);
		}
		about(thread(&s, 1)->off.idle_ns, 40);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		wake_up(&s, us, 3, 0, WAKING_BY_INTERRUPT);
		for (unsigned n = 0; n < cases[i].releases; n++, us += 10) {
			sleep_in(&s, us, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
			wake_up(&s, us + 1, 1, cases[i].waker, 0);
		}
		lost = wait_reconsider(&s.calls.threads, &sums);
		about(thread(&s, 1)->off.idle_ns - (uint64_t)lost, cases[i].idle);
		about(thread(&s, 1)->off.blocked_ns + (uint64_t)lost, cases[i].blocked);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		vec_release(&sums);
		scene_finish(&s, us * 1000);
		scene_release(&s);
	}
}

/* The waiter has nothing to do until then, whatever the others do. */
static void waiting_for_an_end_is_idle(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_END, 0x990, TID(2));
	sleep_in(&s, 10, 3, WAIT_CHILD, 0, 0, 0);
	wake_up(&s, 60, 1, 2, 0);
	wake_up(&s, 60, 3, 2, 0);
	about(thread(&s, 1)->off.idle_ns, 50);
	about(thread(&s, 1)->off.blocked_ns, 0);
	about(thread(&s, 3)->off.idle_ns, 50);
	/* who waits for the waiter meanwhile waits for the one that runs, along the chain */
	sleep_in(&s, 100, 4, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 110, 1, WAIT_FUTEX, FUTEX_END, 0x990, TID(2));
	wake_up(&s, 160, 1, 2, 0);
	wake_up(&s, 170, 4, 1, 0);
	about(thread(&s, 4)->off.blocked_ns, 70);
	scene_finish(&s, 200000);
	scene_release(&s);
}

/*
 * Python's join, C++'s future: a word that threads release before they end. Whoever goes on to work
 * was no such; nor is a lock given up on the way out, nor a queue that is given something by a
 * thread that is there for nothing else.
 */
static void released_as_the_last_act(void **state)
{
	static const struct {
		uint64_t before_us, after_us; /* of running */
		uint32_t operation, value;
		int64_t moved_us;
	} cases[] = { { 2000, 100, FUTEX_BITSET, 0, -50 },
		      { 2000, 5000, FUTEX_BITSET, 0, 0 },
		      { 2000, 100, FUTEX_PLAIN, 2, 0 },
		      { 60, 100, FUTEX_BITSET, 0, 0 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_sums sums = { 0 };
		struct scene s;
		uint64_t at_us = cases[i].before_us, end_us = at_us + cases[i].after_us;

		begin(&s);
		sleep_in(&s, at_us - 50, 1, WAIT_FUTEX, cases[i].operation, 0x990, cases[i].value);
		wake_up(&s, at_us, 1, 2, 0);
		wait_add(&sums, thread(&s, 1), at_us * 1000);
		about(thread(&s, 1)->off.blocked_ns, 50);
		/* without a CPU for long: that is no work */
		other(&s, REC_SWITCH_OUT, at_us * 1000 + 10000, TID(2), TID(2), SWITCH_PREEMPTED,
		      9);
		other(&s, REC_SWITCH_IN, at_us * 1000 + 9010000, TID(2), TID(2), 0, 0);
		other(&s, REC_TASK_EXIT, 9000000 + end_us * 1000, TID(2), TID(2), 0, 0);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums),
				 cases[i].moved_us * 1000);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		vec_release(&sums);
		scene_finish(&s, 20000000);
		scene_release(&s);
	}
}

/*
 * Parked until it is told to stop, though who tells it has run all the while: it does nothing more.
 * Not so one that goes on to work, one that queues for a lock, or where others wait on.
 */
static void told_to_stop(void **state)
{
	static const struct {
		uint64_t after_us; /* of running */
		uint32_t operation, value;
		bool others;
		int64_t moved_us;
	} cases[] = { { 100, FUTEX_BITSET, 0, false, -5000 },
		      { 5000, FUTEX_BITSET, 0, false, 0 },
		      { 100, FUTEX_PLAIN, 2, false, 0 },
		      { 100, FUTEX_BITSET, 0, true, 0 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_sums sums = { 0 };
		struct scene s;
		uint32_t how = cases[i].operation;

		begin(&s);
		sleep_in(&s, 1000, 1, WAIT_FUTEX, how, 0x990, cases[i].value);
		wake_up(&s, 2000, 1, 2, 0); /* for some work, which is no stop */
		wait_add(&sums, thread(&s, 1), 2000000);
		sleep_in(&s, 3000, 1, WAIT_FUTEX, how, 0x990, cases[i].value);
		wake_up(&s, 8000, 1, 2, 0);
		wait_add(&sums, thread(&s, 1), 8000000);
		/* what was waited with is to be locked, and somebody has it: no work, either */
		sleep_in(&s, 8010, 1, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
		wake_up(&s, 19010, 1, 2, 0);
		if (cases[i].others)
			sleep_in(&s, 19020, 3, WAIT_FUTEX, how, 0x990, cases[i].value);
		other(&s, REC_TASK_EXIT, (19000 + cases[i].after_us) * 1000, TID(1), TID(1), 0, 0);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums),
				 cases[i].moved_us * 1000);
		assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
		vec_release(&sums);
		scene_finish(&s, 30000000);
		scene_release(&s);
	}
}

/* Nobody releases them: the one at the condition is parked, the one at the lock is stuck. */
static void parked_and_stuck(void **state)
{
	struct scene s;

	begin(&s);
	other(&s, REC_WAKING, 5000, 4, TID(4), TID(4), 0); /* the recording has wakeups */
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	sleep_in(&s, 10, 3, WAIT_FUTEX, FUTEX_PLAIN, 0x20, 2);
	sleep_in(&s, 10, 2, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 50000, 2, 0, WAKING_BY_END);
	scene_finish(&s, 100000000);
	about(s.calls.threads.all.data[0]->off.idle_ns, 99990);
	about(s.calls.threads.all.data[1]->off.idle_ns, 49990);
	about(s.calls.threads.all.data[2]->off.blocked_ns, 99990);
	scene_release(&s);
}

/* More sleeps of the releasing thread than its history keeps. */
static void a_long_history(void **state)
{
	struct scene s;
	uint64_t us = 100;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	for (unsigned i = 0; i < 5000; i++, us += 100) {
		sleep_in(&s, us, 2, WAIT_SOCKET, 0, 5, 0);
		wake_up(&s, us + 30, 2, 0, WAKING_BY_INTERRUPT);
	}
	wake_up(&s, us, 1, 2, 0);
	about(thread(&s, 1)->off.idle_ns, 5000 * 30);
	scene_finish(&s, us * 1000);
	scene_release(&s);
}

/* The time for which a thread was held up before the window does not count in the window. */
static void held_up_before_the_window(void **state)
{
	struct scene s;
	const struct thread *t;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 60, 1, 2, 0);
	calls_restart(&s.calls, 100 * 1000);
	sleep_in(&s, 110, 1, WAIT_FUTEX, FUTEX_BITSET, 0x10, 0);
	wake_up(&s, 140, 1, 2, 0);
	scene_finish(&s, 200 * 1000);
	t = s.calls.threads.all.data[0];
	about(t->held_ns, 30);
	about(thread_free_ns(&s.calls.threads, t), 70);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(released_by_a_thread_that_ran),
		cmocka_unit_test(the_chain_ends_at_a_socket),
		cmocka_unit_test(the_disk_is_not_the_outside),
		cmocka_unit_test(a_pause_holds_up_only_who_queues),
		cmocka_unit_test(timeouts_of_a_wait_for_a_thread),
		cmocka_unit_test(timeouts_of_a_condition_with_two_words),
		cmocka_unit_test(timeouts_before_the_first_release),
		cmocka_unit_test(waiting_for_an_end_is_idle),
		cmocka_unit_test(released_as_the_last_act),
		cmocka_unit_test(told_to_stop),
		cmocka_unit_test(parked_and_stuck),
		cmocka_unit_test(a_long_history),
		cmocka_unit_test(held_up_before_the_window),
	};

	return unit_run(tests);
}
