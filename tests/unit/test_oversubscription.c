/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for a CPU because of the program's own threads, and who because of others. Times in us.
 */
#include "unit.h"
#include "scene.h"

#define TID(i) (100 + (i))

static void begin(struct scene *s, uint32_t cpus)
{
	*s = (struct scene){ 0 };
	scene_function(s, "serve", 1);
	scene_calibrate(s, 60, 50, 1.0);
	s->meta.session.cpus = cpus;
	scene_start(s, 0);
}

static void in(struct scene *s, uint64_t us, uint32_t i)
{
	other(s, REC_SWITCH_IN, us * 1000, TID(i), TID(i), 0, 0);
}

static void out(struct scene *s, uint64_t us, uint32_t i, uint64_t state)
{
	other(s, REC_SWITCH_OUT, us * 1000, TID(i), TID(i), state, 0);
}

static void waited(const struct scene *s, uint32_t i, uint64_t all_us, uint64_t crowded_us)
{
	const struct offcpu *off = &threads_alive(&s->calls.threads, TID(i))->off;

	assert_int_equal(off->preempted_ns, all_us * 1000);
	assert_int_equal(off->oversubscribed_ns, crowded_us * 1000);
}

static void end(struct scene *s)
{
	scene_finish(s, 1000000);
	scene_release(s);
}

/* One runs, one waits, two CPUs: another program has the second. */
static void others_have_the_cpu(void **state)
{
	struct scene s;

	begin(&s, 2);
	in(&s, 1, 1);
	in(&s, 1, 2);
	out(&s, 10, 2, SWITCH_PREEMPTED);
	in(&s, 30, 2);
	waited(&s, 2, 20, 0);
	end(&s);
}

/* Three on two CPUs: one would wait anyway, whoever it is. */
static void more_threads_than_cpus(void **state)
{
	struct scene s;

	begin(&s, 2);
	in(&s, 1, 1);
	in(&s, 1, 2);
	in(&s, 1, 3);
	out(&s, 10, 3, SWITCH_PREEMPTED);
	in(&s, 30, 3);
	waited(&s, 3, 20, 20);
	end(&s);
}

/* Three, and others leave one CPU to them for 20 us. Two CPUs would have done in 10 us what that
 * one did, and one thread would have waited as long: 5 us each. */
static void both(void **state)
{
	struct scene s;

	begin(&s, 2);
	for (uint32_t i = 1; i <= 3; i++)
		in(&s, 1, i);
	out(&s, 10, 2, SWITCH_PREEMPTED);
	out(&s, 10, 3, SWITCH_PREEMPTED);
	out(&s, 30, 1, SWITCH_SLEEPING); /* from here on there is a CPU for each */
	in(&s, 50, 2);
	in(&s, 50, 3);
	waited(&s, 2, 40, 5);
	waited(&s, 3, 40, 5);
	end(&s);
}

/* Others have all CPUs: however many threads wait, they wait for those. */
static void others_have_all_cpus(void **state)
{
	struct scene s;

	begin(&s, 2);
	for (uint32_t i = 1; i <= 4; i++)
		in(&s, 1, i);
	for (uint32_t i = 1; i <= 4; i++)
		out(&s, 10, i, SWITCH_PREEMPTED);
	for (uint32_t i = 1; i <= 4; i++)
		in(&s, 30, i);
	for (uint32_t i = 1; i <= 4; i++)
		waited(&s, i, 20, 0);
	end(&s);
}

/* The wait between wakeup and CPU. */
static void woken_without_a_cpu(void **state)
{
	struct scene s;

	begin(&s, 1);
	in(&s, 1, 1);
	in(&s, 1, 2);
	out(&s, 10, 2, SWITCH_SLEEPING);
	other(&s, REC_WAKING, 20000, 1, TID(1), TID(2), 0);
	in(&s, 50, 2);
	waited(&s, 2, 30, 30);
	end(&s);
}

/* 200 calls that run 60 ns, of which the probe takes 50; every second is without a CPU for 20 us.
 */
static double floor_of(uint64_t state, bool woken)
{
	struct scene s;
	double floor;

	begin(&s, 2);
	in(&s, 1, 1);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t us = 100 + 100 * i;

		enter(&s, us * 1000, TID(1), 0, 0x1000);
		if (i % 2) {
			leave(&s, us * 1000 + 60, TID(1), 0, 0x1000);
			continue;
		}
		other(&s, REC_SWITCH_OUT, us * 1000 + 30, TID(1), TID(1), state, 0);
		if (woken)
			other(&s, REC_WAKING, us * 1000 + 31, 1, TID(2), TID(1), 0);
		other(&s, REC_SWITCH_IN, us * 1000 + 20031, TID(1), TID(1), 0, 0);
		leave(&s, us * 1000 + 20061, TID(1), 0, 0x1000);
	}
	scene_finish(&s, 30000000);
	floor = scene_block(&s, "serve")->floor / scene_block(&s, "serve")->sci;
	scene_release(&s);
	return floor;
}

/* A preemption may have met a probe; who waits for a CPU after a sleep was not in one. */
static void only_preemptions_meet_probes(void **state)
{
	assert_true(floor_of(SWITCH_PREEMPTED, false) > 0.5);
	assert_true(floor_of(SWITCH_SLEEPING, true) < 0.1);
}

/* 200 calls, a recorded one in every tenth of them; what is left out was inside of others. */
static double floor_of_sampled(uint64_t period)
{
	struct block_options o = { .duration_ns = 30000000, .period = period };
	struct scene s = { 0 };
	double floor;

	scene_function(&s, "serve", 1);
	scene_function(&s, "part", 1);
	scene_calibrate(&s, 60, 50, 10.0);
	scene_start(&s, 0);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t ns = 100000 + 100000 * i;

		enter(&s, ns, TID(1), 0, 0x1000);
		if (i % 10 == 0) {
			enter(&s, ns + 400, TID(1), 1, 0x800);
			leave(&s, ns + 460, TID(1), 1, 0x800);
		}
		leave(&s, ns + 1000 + i, TID(1), 0, 0x1000);
	}
	calls_end(&s.calls, 30000000);
	blocks_build(&s.blocks, &s.sci, &o);
	floor = scene_block(&s, "serve")->floor / scene_block(&s, "serve")->sci;
	scene_release(&s);
	return floor;
}

/* 200 calls and 20 inside, 200 and 200: their probes vary by 10 ns 400 times where 220 were
 * recorded, and those that were not took 60 ns each. */
static void probes_of_calls_left_out(void **state)
{
	double more = (400 * 10.0 + 180 * 60.0) / (220 * 10.0);

	assert_true(fabs(floor_of_sampled(10) / floor_of_sampled(1) - more) < 0.05);
}

static void unknown_machine(void **state)
{
	struct scene s;

	begin(&s, 0);
	in(&s, 1, 1);
	in(&s, 1, 2);
	out(&s, 10, 2, SWITCH_PREEMPTED);
	in(&s, 30, 2);
	waited(&s, 2, 20, 0);
	end(&s);
}

/* Woken on an idle CPU: the time that this takes is part of the wait, as nobody had that CPU. On a
 * CPU that another process had, and where nobody knows, it is waiting for a CPU. */
static void an_idle_cpu_is_not_waited_for(void **state)
{
	const uint64_t before[] = { SWITCH_AFTER_IDLE, SWITCH_AFTER_IDLE + 4711,
				    SWITCH_AFTER_UNKNOWN };

	for (unsigned k = 0; k < 3; k++) {
		const struct offcpu *off;
		struct scene s;

		begin(&s, 2);
		in(&s, 1, 1);
		in(&s, 1, 2);
		out(&s, 10, 2, SWITCH_SLEEPING);
		other(&s, REC_WAKING, 30000, TID(1), TID(1), TID(2), 0);
		other(&s, REC_SWITCH_IN, 45000, TID(2), TID(2), before[k], 0);
		off = &threads_alive(&s.calls.threads, TID(2))->off;
		assert_int_equal(off->blocked_ns, before[k] == SWITCH_AFTER_IDLE ? 35000 : 20000);
		waited(&s, 2, before[k] == SWITCH_AFTER_IDLE ? 0 : 15, 0);
		assert_int_equal(off->idle_ns, 0);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_have_the_cpu),
		cmocka_unit_test(an_idle_cpu_is_not_waited_for),
		cmocka_unit_test(more_threads_than_cpus),
		cmocka_unit_test(both),
		cmocka_unit_test(others_have_all_cpus),
		cmocka_unit_test(woken_without_a_cpu),
		cmocka_unit_test(only_preemptions_meet_probes),
		cmocka_unit_test(probes_of_calls_left_out),
		cmocka_unit_test(unknown_machine),
	};

	return unit_run(tests);
}
