/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timed sleeps between tries to take a lock, or for something else. */
#include "unit.h"
#include "wait_scene.h"

#include "analysis/threads/tries.h"

enum { ACQUIRE = 1, NEXT_JOB };

static void begin_places(struct scene *s)
{
	static const uint32_t acquire[] = { 0, 1 }, next_job[] = { 0, 2 };
	static const char *const names[] = { "nanosleep", "acquire", "next_job" };

	begin(s);
	(void)vec_add(&s->meta.stacks);
	*vec_add(&s->meta.stacks) =
		(struct meta_stack){ .id = 1, .n_frames = 2, .frames = acquire };
	*vec_add(&s->meta.stacks) =
		(struct meta_stack){ .id = 2, .n_frames = 2, .frames = next_job };
	for (unsigned i = 0; i < 3; i++)
		*vec_add(&s->meta.frames) =
			(struct meta_frame){ .symbol = names[i],
					     .object = i ? "app" : "/lib/libc.so.6",
					     .file = "",
					     .calls = "" };
}

static void end_places(struct scene *s)
{
	vec_release(&s->meta.stacks);
	vec_release(&s->meta.frames);
	scene_release(s);
}

/* Thread i sleeps for ns in a place. */
static void sleep_for(struct scene *s, uint64_t from_us, uint64_t us, uint32_t i, uint64_t place)
{
	const struct record r = { .time_ns = from_us * 1000,
				  .kind = REC_BLOCK_STACK,
				  .cpu = TID(i),
				  .tid = TID(i),
				  .tgid = 1,
				  .n_values = 1,
				  .values = &place };

	sleep_in(s, from_us, i, WAIT_SLEEP, 0, 0, 0);
	calls_record(&s->calls, &r);
	wake_up(s, from_us + us, i, 0, WAKING_BY_TIMER);
}

static enum tries_verdict verdict_at(struct scene *s, uint64_t place, uint64_t end_us)
{
	scene_finish(s, end_us * 1000);
	return tries_verdict_of(&s->calls.threads.tries,
				tries_place_of(&s->calls.threads.tries, place + 1));
}

/* Two threads take turns: each sleeps four times while the other has the lock. sums: may be NULL.
 * awake: called for each sleep with the thread that is awake meanwhile; may be NULL. Returns the
 * end. */
static uint64_t take_turns(struct scene *s, struct wait_sums *sums,
			   void (*awake)(struct scene *s, unsigned round, uint64_t t))
{
	uint64_t t = 1000;

	for (unsigned round = 0; round < 40; round++)
		for (unsigned i = 0; i < 4; i++, t += 100) {
			sleep_for(s, t, 90, 1 + round % 2, ACQUIRE);
			if (sums)
				wait_add(sums, thread(s, 1 + round % 2), (t + 90) * 1000);
			if (awake)
				awake(s, round, t);
		}
	return t;
}

static void who_is_never_asleep_with_all_others_waits_for_a_lock(void **state)
{
	struct wait_sums sums = { 0 };
	struct scene s;

	begin_places(&s);
	assert_int_equal(verdict_at(&s, ACQUIRE, take_turns(&s, &sums, NULL)), TRIES_LOCK);
	assert_int_equal(sums.n, 1);
	assert_int_equal(sums.data[0].idle_ns, sums.data[0].ns);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), sums.data[0].ns);
	assert_int_equal(sums.data[0].idle_ns, 0);
	assert_string_equal(wait_cause_of(&s.calls.threads, &sums.data[0]).kind, "lock");
	assert_true(wait_cause_of(&s.calls.threads, &sums.data[0]).confidence < 0.7); /* "?" */
	assert_string_equal(wait_tried(&s.calls.threads, &sums), "acquire");
	assert_null(wait_maybe_tried(&s.calls.threads, &sums));
	vec_release(&sums);
	end_places(&s);
}

/* Three threads, of which one sleeps at any time: with a lock that the others wait for. Where one
 * has the lock, and the other two sleep, these wait. */
static void who_sleeps_with_a_lock_waits_for_none(void **state)
{
	for (unsigned asleep = 1; asleep < 3; asleep++) {
		struct scene s;
		uint64_t t = 1000;

		begin_places(&s);
		for (unsigned round = 0; round < 60; round++)
			for (unsigned again = 0; again < 4; again++, t += 100)
				for (unsigned i = 0; i < asleep; i++)
					sleep_for(&s, t + i, 90, 1 + (round + i) % 3, ACQUIRE);
		assert_int_equal(verdict_at(&s, ACQUIRE, t), asleep == 1 ? TRIES_NO : TRIES_LOCK);
		end_places(&s);
	}
}

/* Two threads, of which each sleeps with a lock that the other waits for at a futex. */
static void who_frees_another_after_its_sleep_has_had_the_lock(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_places(&s);
	for (unsigned round = 0; round < 60; round++) {
		uint32_t i = 1 + round % 2, other = 3 - i;

		sleep_in(&s, t - 5, other, WAIT_FUTEX, FUTEX_PLAIN, 4096, 2);
		/* the holder may get it again before the one that it has woken */
		for (unsigned again = 0; again < 3; again++, t += 100) {
			sleep_for(&s, t, 90, i, ACQUIRE);
			wake_up(&s, t + 92, other, i, 0);
			if (again < 2)
				sleep_in(&s, t + 94, other, WAIT_FUTEX, FUTEX_PLAIN, 4096, 2);
		}
	}
	assert_int_equal(verdict_at(&s, ACQUIRE, t), TRIES_NO);
	end_places(&s);
}

static void ready_for(struct scene *s, uint64_t from_us, uint64_t us, uint32_t i)
{
	other(s, REC_SWITCH_OUT, from_us * 1000, TID(i), TID(i), SWITCH_PREEMPTED, 0);
	other(s, REC_SWITCH_IN, (from_us + us) * 1000, TID(i), TID(i), 0, 0);
}

static void wait_for_a_cpu(struct scene *s, unsigned round, uint64_t t)
{
	if (round)
		ready_for(s, t + 20, 40, 1 + (round + 1) % 2);
}

/* The same, but that who is awake waits for a CPU: that one is awake follows from too few CPUs. */
static void who_waits_for_a_cpu_may_be_awake_without_a_lock(void **state)
{
	struct scene s;

	begin_places(&s);
	assert_int_equal(verdict_at(&s, ACQUIRE, take_turns(&s, NULL, wait_for_a_cpu)),
			 TRIES_UNKNOWN);
	end_places(&s);
}

static void judge_lock_behind(struct tries *x, uint32_t place, uint64_t t)
{
	for (unsigned round = 0; round < 40; round++)
		for (unsigned i = 0; i < 4; i++, t += 100)
			tries_add(x, &(struct tries_sleep){ .from_ns = t,
							    .to_ns = t + 90,
							    .thread = 1 + round % 2,
							    .place = place });
	tries_judge(x);
}

/* However often a thread lets time pass, a lock that others sleep for later is seen. */
static void who_paces_leaves_room_for_others(void **state)
{
	const struct meta_frame pace = { .symbol = "pace", .object = "app" };
	const struct meta_frame acquire = { .symbol = "acquire", .object = "app" };
	struct tries x = { 0 };
	uint32_t paces = tries_new_stack(&x, 1, &pace, false),
		 lock = tries_new_stack(&x, 2, &acquire, false);
	uint64_t t = 1000;

	for (unsigned i = 0; i < TRIES_SLEEPS_MAX + 10; i++, t += 100)
		tries_add(&x, &(struct tries_sleep){
				      .from_ns = t, .to_ns = t + 90, .thread = 3, .place = paces });
	judge_lock_behind(&x, lock, t);
	assert_int_equal(tries_verdict_of(&x, paces), TRIES_NO);
	assert_int_equal(tries_verdict_of(&x, lock), TRIES_LOCK);
	tries_release(&x);
}

/* A function that is known to sleep for a lock does so even if one thread is seen there, once. */
static void what_is_known_needs_no_others(void **state)
{
	const struct meta_frame busy = { .symbol = "sqlite3InvokeBusyHandler", .object = "app" };
	struct tries x = { 0 };
	uint32_t place = tries_new_stack(&x, 1, &busy, true);

	tries_add(&x,
		  &(struct tries_sleep){ .from_ns = 10, .to_ns = 20, .thread = 1, .place = place });
	tries_judge(&x);
	assert_int_equal(tries_verdict_of(&x, place), TRIES_KNOWN);
	tries_release(&x);
}

/* Of sleeps that are not kept nothing is known: not that they were for no lock, either. */
static void what_is_cut_is_not_known(void **state)
{
	const struct meta_frame pace = { .symbol = "pace", .object = "app" };
	struct tries x = { 0 };
	uint32_t place = tries_new_stack(&x, 1, &pace, false);
	uint64_t t = 1000;

	for (unsigned i = 0; i < TRIES_SLEEPS_MAX; i++, t += 100)
		tries_add(&x, &(struct tries_sleep){ .from_ns = t,
						     .to_ns = t + 10,
						     .thread = 1 + i % 2,
						     .place = place });
	judge_lock_behind(&x, place, t);
	assert_int_equal(tries_verdict_of(&x, place), TRIES_UNKNOWN);
	tries_release(&x);
}

/* However many places a block sleeps in, its sums stay few. */
static void places_beyond_the_limit_share_a_cell(void **state)
{
	struct wait_sums sums = { 0 }, more = { 0 };

	for (uint32_t i = 1; i <= 3 * WAIT_CELLS_MAX; i++)
		*vec_add(&more) = (struct wait_cell){ .kind = WAIT_SLEEP,
						      .end = SLEEP_BY_TIMER,
						      .word = SLEEP_NOBODY,
						      .tries = i,
						      .sleeps = 1,
						      .ns = 10 };
	wait_merge(&sums, &more);
	assert_int_equal(sums.n, WAIT_CELLS_MAX + 1);
	assert_int_equal(sums.data[WAIT_CELLS_MAX].tries, 0);
	assert_int_equal(sums.data[WAIT_CELLS_MAX].sleeps, 2 * WAIT_CELLS_MAX);
	vec_release(&sums);
	vec_release(&more);
}

/* Both sleep until there is work for one, and then for the other. */
static void who_is_may_wait_for_anything(void **state)
{
	struct wait_sums sums = { 0 };
	struct scene s;
	uint64_t t = 1000;

	begin_places(&s);
	for (unsigned round = 0; round < 160; round++, t += 100)
		for (uint32_t i = 1; i <= 2; i++) {
			if (round % 8 == 4 * i - 1)
				continue;
			sleep_for(&s, t, 90, i, NEXT_JOB);
			wait_add(&sums, thread(&s, i), (t + 90) * 1000);
		}
	assert_int_equal(verdict_at(&s, NEXT_JOB, t), TRIES_UNKNOWN);
	assert_int_equal(wait_reconsider(&s.calls.threads, &sums), 0);
	assert_string_equal(wait_cause_of(&s.calls.threads, &sums.data[0]).kind, "sleep");
	assert_string_equal(wait_maybe_tried(&s.calls.threads, &sums), "next_job");
	vec_release(&sums);
	end_places(&s);
}

/* One thread alone, and two that work between their sleeps: each lets a time pass. */
static void who_does_not_try_again_lets_time_pass(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_places(&s);
	for (unsigned i = 0; i < 100; i++, t += 400) {
		sleep_for(&s, t, 190, 1, NEXT_JOB);
		sleep_for(&s, t, 390, 3, ACQUIRE);
		sleep_for(&s, t + 200, 190, 2, NEXT_JOB);
	}
	assert_int_equal(verdict_at(&s, NEXT_JOB, t), TRIES_NO);
	assert_int_equal(tries_verdict_of(&s.calls.threads.tries, 2), TRIES_NO);
	end_places(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_never_asleep_with_all_others_waits_for_a_lock),
		cmocka_unit_test(who_sleeps_with_a_lock_waits_for_none),
		cmocka_unit_test(who_frees_another_after_its_sleep_has_had_the_lock),
		cmocka_unit_test(who_waits_for_a_cpu_may_be_awake_without_a_lock),
		cmocka_unit_test(who_paces_leaves_room_for_others),
		cmocka_unit_test(what_is_cut_is_not_known),
		cmocka_unit_test(what_is_known_needs_no_others),
		cmocka_unit_test(places_beyond_the_limit_share_a_cell),
		cmocka_unit_test(who_is_may_wait_for_anything),
		cmocka_unit_test(who_does_not_try_again_lets_time_pass),
	};

	return unit_run(tests);
}
