/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stretches in which switches have no records: from 20 to 50 us in most of these tests. */
#include "unit.h"
#include "wait_scene.h"

static void record(struct scene *s, uint32_t kind, uint64_t us, uint32_t tid,
		   const uint64_t *values, uint32_t n)
{
	calls_record(&s->calls, &(struct record){ .time_ns = us * 1000,
						  .kind = kind,
						  .cpu = tid,
						  .tid = tid,
						  .tgid = tid ? 1 : 0,
						  .n_values = n,
						  .values = values });
}

static void switches_off(struct scene *s, uint64_t us)
{
	record(s, REC_SWITCHES_OFF, us, 0, (uint64_t[RECORD_VALUES_MIN]){ 0 }, 0);
}

static void switches_on(struct scene *s, uint64_t us)
{
	record(s, REC_SWITCHES_ON, us, 0, (uint64_t[RECORD_VALUES_MIN]){ 3 }, 1);
}

/* count: how often the kernel says that the thread has left a CPU */
static void sleep_at_lock(struct scene *s, uint64_t us, uint32_t i, uint64_t count)
{
	record(s, REC_SWITCH_OUT, us, TID(i), (uint64_t[]){ SWITCH_SLEEPING, 0, 0, count }, 4);
	record(s, REC_WAIT, us, TID(i), (uint64_t[]){ WAIT_FUTEX, 1, 0x10, FUTEX_PLAIN, 2 }, 5);
}

static void wake_at(struct scene *s, uint64_t us, uint32_t i, uint32_t waker, uint64_t count)
{
	record(s, REC_WAKING, us, waker ? TID(waker) : 0, (uint64_t[]){ TID(i), 0, count, 0 }, 3);
	record(s, REC_SWITCH_IN, us, TID(i), (uint64_t[]){ 0, count, 0, 0 }, 2);
}

static void a_sleep_may_go_through(void **state)
{
	struct scene s;

	begin(&s);
	sleep_at_lock(&s, 10, 1, 7);
	switches_off(&s, 20);
	switches_on(&s, 50);
	wake_at(&s, 80, 1, 2, 7);
	about(thread(&s, 1)->off.blocked_ns, 40);
	assert_int_equal(thread(&s, 1)->sleep.waker, thread(&s, 2)->index);
	assert_int_not_equal(thread(&s, 1)->sleep.word, SLEEP_NOBODY);
	about(thread(&s, 1)->lost_ns, 30);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* It ran meanwhile, so it now sleeps for another reason, and the waker has not given that lock
 * back. */
static void another_sleep_is_not_the_same(void **state)
{
	const uint64_t counts[] = { 8, 0 }; /* 0: the record has none */

	for (unsigned i = 0; i < 2; i++) {
		struct scene s;

		begin(&s);
		sleep_at_lock(&s, 10, 1, 7);
		switches_off(&s, 20);
		switches_on(&s, 50);
		wake_at(&s, 80, 1, 2, counts[i]);
		about(thread(&s, 1)->off.blocked_ns, 40);
		assert_int_equal(thread(&s, 1)->sleep.word, SLEEP_NOBODY);
		assert_int_equal(thread(&s, 1)->sleep.since_ns, 50000);
		assert_int_equal(s.calls.threads.futexes.all.data[0].tail, 0);
		scene_finish(&s, 100000);
		scene_release(&s);
	}
}

/* A thread that ran when the stretch began is in an unknown state. If it then gets a CPU without a
 * wakeup, it was in the run queue; if it is woken, it slept. */
static void who_ran_may_be_anywhere_afterwards(void **state)
{
	struct scene s;

	begin(&s);
	switches_off(&s, 20);
	switches_on(&s, 50);
	wake_at(&s, 60, 1, 2, 9);
	about(thread(&s, 1)->off.blocked_ns, 10);
	about(thread(&s, 1)->off.preempted_ns, 0);
	record(&s, REC_SWITCH_IN, 70, TID(2), (uint64_t[RECORD_VALUES_MIN]){ 0, 4 }, 2);
	about(thread(&s, 2)->off.preempted_ns, 20);
	about(thread(&s, 2)->off.blocked_ns, 0);
	sleep_at_lock(&s, 70, 3, 5);
	wake_at(&s, 75, 3, 2, 5);
	about(thread(&s, 3)->off.blocked_ns, 5);
	about(offcpu_ns(&thread(&s, 3)->off), 5);
	scene_finish(&s, 100000);
	scene_release(&s);
}

static void who_slept_and_is_not_heard_of_sleeps_on(void **state)
{
	struct scene s;

	begin(&s);
	sleep_in(&s, 10, 1, WAIT_POLL, 0, 0, 0);
	sleep_at_lock(&s, 11, 2, 3);
	wake_at(&s, 12, 2, 3, 3);
	for (uint64_t i = 0; i < 2; i++) {
		switches_off(&s, 20 + 40 * i);
		switches_on(&s, 50 + 40 * i);
	}
	scene_finish(&s, 100000);
	about(s.calls.threads.all.data[0]->off.idle_ns, 30);
	about(s.calls.threads.all.data[0]->off.blocked_ns, 0);
	about(s.calls.threads.all.data[0]->lost_ns, 60);
	about(s.calls.threads.unwatched.ns, 60);
	assert_int_equal(s.calls.threads.unwatched.switches, 6);
	scene_release(&s);
}

/* Calls have records in a stretch, too, but how long their threads were off the CPU is unknown:
 * they are not timed. */
static void calls_are_not_paired_across(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 10000, TID(1), SERVE, 0x1000);
	switches_off(&s, 20);
	leave(&s, 25000, TID(1), SERVE, 0x1000);
	enter(&s, 30000, TID(1), SERVE, 0x1000);
	leave(&s, 35000, TID(1), SERVE, 0x1000);
	enter(&s, 40000, TID(1), SERVE, 0x1000);
	switches_on(&s, 50);
	leave(&s, 55000, TID(1), SERVE, 0x1000);
	enter(&s, 60000, TID(1), SERVE, 0x1000);
	leave(&s, 61000, TID(1), SERVE, 0x1000);
	scene_finish(&s, 100000);
	assert_int_equal(s.n_log, 2);
	assert_int_equal(s.log[0].end, CALL_OPEN);
	assert_int_equal(s.log[0].duration_ns, 10000);
	assert_int_equal(s.log[1].end, CALL_TIMED);
	assert_int_equal(s.log[1].duration_ns, 1000);
	assert_int_equal(s.calls.unwatched, 4);
	assert_int_equal(s.calls.orphan_exits, 1);
	assert_int_equal(s.calls.losses, 0);
	/* T_t is the time that was seen */
	about(thread_observed_ns(&s.calls.threads, s.calls.threads.all.data[0], SERVE), 70);
	scene_release(&s);
}

static void threads_come_and_go_meanwhile(void **state)
{
	const uint32_t child = 900;
	const struct thread *t;
	struct scene s;

	begin(&s);
	switches_off(&s, 20);
	record(&s, REC_FORK, 30, TID(1), (uint64_t[RECORD_VALUES_MIN]){ child, 1 }, 2);
	record(&s, REC_TASK_EXIT, 40, TID(2), (uint64_t[RECORD_VALUES_MIN]){ 0 }, 0);
	switches_on(&s, 50);
	record(&s, REC_SWITCH_IN, 60, child, (uint64_t[RECORD_VALUES_MIN]){ 0, 0 }, 1);
	t = threads_alive(&s.calls.threads, child);
	assert_non_null(t);
	about(t->lost_ns, 20);
	t = threads_latest(&s.calls.threads, TID(2));
	assert_true(t->dead);
	about(t->lost_ns, 20);
	about(offcpu_ns(&t->off), 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* A loss that lasts longer than the stretch hides the threads until they are seen again. */
static void a_loss_meanwhile_is_one_afterwards(void **state)
{
	struct scene s;

	begin(&s);
	switches_off(&s, 20);
	record(&s, REC_LOST, 70, 0, (uint64_t[RECORD_VALUES_MIN]){ 5, 30000, 0 }, 3);
	switches_on(&s, 50);
	record(&s, REC_SWITCH_IN, 80, TID(1), (uint64_t[RECORD_VALUES_MIN]){ 0, 4 }, 2);
	about(thread(&s, 1)->lost_ns, 60);
	about(offcpu_ns(&thread(&s, 1)->off), 0);
	assert_int_equal(s.calls.lost_records, 5);
	scene_finish(&s, 100000);
	scene_release(&s);
}

/* The same before a window: threads without a record of their own afterwards stay hidden. */
static void a_loss_meanwhile_hides_before_a_window(void **state)
{
	const uint64_t lost[RECORD_VALUES_MIN] = { 5, 30000, 0 };
	struct scene s;

	begin(&s);
	switches_off(&s, 20);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t values[RECORD_VALUES_MIN] = { 0 };
		struct record r = { .kind = i ? REC_SWITCHES_ON : REC_LOST,
				    .time_ns = i ? 50000 : 70000,
				    .n_values = i ? 2 : 3,
				    .values = values };

		for (unsigned k = 0; !i && k < 3; k++)
			values[k] = lost[k];
		calls_skip(&s.calls, &r);
	}
	assert_int_not_equal(thread(&s, 1)->unseen_ns, 0);
	scene_finish(&s, 100000);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_may_go_through),
		cmocka_unit_test(another_sleep_is_not_the_same),
		cmocka_unit_test(who_ran_may_be_anywhere_afterwards),
		cmocka_unit_test(who_slept_and_is_not_heard_of_sleeps_on),
		cmocka_unit_test(calls_are_not_paired_across),
		cmocka_unit_test(threads_come_and_go_meanwhile),
		cmocka_unit_test(a_loss_meanwhile_is_one_afterwards),
		cmocka_unit_test(a_loss_meanwhile_hides_before_a_window),
	};

	return unit_run(tests);
}
