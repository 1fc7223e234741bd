/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is interference, and what is noise, work, idle, or not to be told. */
#include "analysis/cause/judge.h"
#include "analysis/cause/callees.h"
#include "analysis/cause/verdict.h"
#include "unit.h"
#include "score_scene.h"

/* Probe jitter with mean 20 above its minimum, as an exponential tail has it. */
static uint64_t jitter(struct scene *s)
{
	double u = (double)(scene_below(s, 1u << 30) + 1) / (double)(1u << 30);

	return (uint64_t)(-20 * log(u));
}

/* EMPTY has nothing but jitter; BUSY loses 5 % of the time on top of it. */
static void jitter_is_noise_and_five_percent_is_not(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 60, 50, 20.0);
	for (unsigned i = 0; i < 20000; i++) {
		t = scene_call_of(&s, t, EMPTY, 50 + jitter(&s));
		t += 1000;
		t = scene_call_of(&s, t, BUSY, 950 + jitter(&s) + scene_below(&s, 260));
		t += 1000;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	assert_true(scene_block(&s, "busy")->floor <= 0.01);
	assert_true(scene_block(&s, "busy")->sci >= 0.04);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_INTERFERENCE);
	scene_release(&s);
}

/* A caller of jittery callees that itself is constant: their jitter is not its interference. */
static void jitter_of_callees_is_noise_in_the_caller(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 70, 50, 20.0);
	for (unsigned i = 0; i < 2000; i++) {
		enter(&s, t, 1, OUTER, 0x1000);
		for (unsigned k = 0; k < 10; k++) {
			t += 100;
			enter(&s, t, 1, EMPTY, 0xf00);
			t += 50 + jitter(&s);
			leave(&s, t, 1, EMPTY, 0xf00);
		}
		t += 50 + jitter(&s);
		leave(&s, t, 1, OUTER, 0x1000);
		t += 100;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->verdict, VERDICT_NOISE);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	scene_release(&s);
}

/* A hot empty function beside a CPU hog: preemptions land in probe code, not in the function. */
static void preempted_probes_are_noise(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 700, 600, 30.0);
	for (unsigned i = 0; i < 100000; i++) {
		enter(&s, t, 1, EMPTY, 0x1000);
		t += 600 + jitter(&s);
		if (i % 5000 == 0) { /* a tick's worth to the hog */
			t = preempt(&s, t, 4000000);
		}
		leave(&s, t, 1, EMPTY, 0x1000);
		t += 100;
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "empty")->sci > 0.4);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	scene_release(&s);
}

/* Of a hot function that always takes the same time: where calls are not in a loop of empty ones, a
 * probe's cost varies by more than it does there. */
static void probes_that_vary_more_than_calibrated_are_noise(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 700, 600, 10.0);
	for (unsigned i = 0; i < 1000; i++) {
		for (unsigned k = 0; k < 50; k++)
			t = 100 + scene_call_of(&s, t, EMPTY, k ? 760 + jitter(&s) : 600);
		t = 100 + scene_call_of(&s, t, BUSY, i % 100 ? 30000 + jitter(&s) : 20000);
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "empty")->sci > SCI_LOW);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_INTERFERENCE);
	scene_release(&s);
}

/* One call faster than the calibration ever saw: all others look slow against it. */
static void a_probe_cheaper_than_calibrated_is_noise(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 700, 600, 30.0);
	for (unsigned i = 0; i < 10000; i++) {
		t = scene_call_of(&s, t, EMPTY, i == 777 ? 300 : 600 + jitter(&s));
		t += 100;
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "empty")->sci > 0.3);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	scene_release(&s);
}

/* A call now and then that is slower by a part of its probe's cost: caches are cold. */
static void a_part_of_a_probe_is_noise(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 700, 600, 1.0);
	for (unsigned i = 0; i < 1000; i++) {
		t = scene_call_of(&s, t, EMPTY, i % 2 ? 600 : 1300);
		enter(&s, t += 50, 1, BUSY, 0x1000);
		t += i % 2 ? 1000 : 2500;
		leave(&s, t, 1, BUSY, 0x1000);
		t += 100000;
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "empty")->sci > 2 * scene_block(&s, "empty")->floor);
	assert_int_equal(scene_block(&s, "empty")->verdict, VERDICT_NOISE);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_INTERFERENCE);
	scene_release(&s);
}

/* A call of no duration is a clock's or a correction's: nothing is compared with it. */
static void a_fastest_of_nothing_is_not_judged(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 60, 50, 1.0);
	for (unsigned i = 0; i < 1000; i++) {
		t = scene_call_of(&s, t, BUSY, i == 777 ? 0 : 20000 + jitter(&s));
		t += 100;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "busy")->min_ns, 0);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_CANNOT_TELL);
	scene_release(&s);
}

/* The same preemptions in a function that works for 20 us are real. */
static void preempted_work_is_interference(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 700, 600, 30.0);
	for (unsigned i = 0; i < 5000; i++) {
		enter(&s, t, 1, BUSY, 0x1000);
		t += 20000 + jitter(&s);
		if (i % 250 == 0) {
			t = preempt(&s, t, 4000000);
		}
		leave(&s, t, 1, BUSY, 0x1000);
		t += 100;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_INTERFERENCE);
	assert_string_equal(scene_block(&s, "busy")->causes.data[0].kind, "cpu-wait");
	assert_true(scene_block(&s, "busy")->causes.data[0].share > 0.9);
	scene_release(&s);
}

static uint64_t twenty(void *ctx, const struct block *b, bool own)
{
	(void)ctx, (void)b, (void)own;
	return 20;
}

static void nothing(void *ctx, const struct block *b, bool own, struct offcpu *off)
{
	(void)ctx, (void)b, (void)own;
	*off = (struct offcpu){ 0 };
}

/* Every call waits for a CPU, the fastest as long as the others: no score says so. */
static void never_fast_is_not_judged(void **state)
{
	struct block_options quiet = {
		.duration_ns = 1, .period = 1, .baseline = twenty, .baseline_off = nothing
	};
	struct blocks with = { 0 };
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 1, 1, 0.1);
	for (unsigned i = 0; i < 500; i++) {
		enter(&s, t, 1, BUSY, 0x1000);
		other(&s, REC_SWITCH_OUT, t + 10, 1, 1, SWITCH_PREEMPTED, 0);
		other(&s, REC_SWITCH_IN, t + 40000, 1, 1, 0, 0);
		leave(&s, t += 40010, 1, BUSY, 0x1000);
		t += 40000;
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "busy")->never_fast);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_CANNOT_TELL);
	blocks_build(&with, &s.sci, &quiet);
	blocks_judge(&with, &(struct evidence){ .meta = &s.meta, .duration_ns = 1 });
	vec_for_each (&with, const struct block, b)
		if (!strcmp(b->name, "busy")) {
			assert_false(b->never_fast);
			assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
		}
	blocks_release(&with);
	scene_release(&s);
}

/* Half of the preemptions are for process 77, which is ispot's recorder. */
static void the_recorder_is_named(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	s.meta.session.recorder_pid = 77;
	scene_calibrate(&s, 700, 600, 1.0);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t values[RECORD_VALUES_MIN] = { SWITCH_PREEMPTED, 78, i % 20 ? 78 : 77 };
		struct record out = { .kind = REC_SWITCH_OUT,
				      .cpu = 1,
				      .tid = 1,
				      .tgid = 1,
				      .n_values = 3,
				      .values = values };

		enter(&s, t, 1, BUSY, 0x1000);
		t += 200000;
		if (i % 10 == 0) {
			out.time_ns = t;
			calls_record(&s.calls, &out);
			t += 4000000;
			other(&s, REC_SWITCH_IN, t, 1, 1, 0, 0);
		}
		leave(&s, t, 1, BUSY, 0x1000);
		t += 100;
	}
	scene_finish(&s, t);
	vec_for_each (&scene_block(&s, "busy")->causes, const struct cause, c)
		if (!strcmp(c->kind, "ispot") || !strcmp(c->kind, "cpu-wait"))
			assert_true(fabs(c->share - 0.5) < 0.01);
	assert_int_equal(scene_block(&s, "busy")->causes.n, 2);
	scene_release(&s);
}

/* Blocked: woken by the program's own thread 2, or by interrupts (tid 0). */
static void block_and_wake(struct scene *s, uint32_t waker)
{
	uint64_t t = 1000;

	begin_calibrated(s, 60, 50, 1.0);
	enter(s, t, 2, EMPTY, 0x1000);
	leave(s, t + 50, 2, EMPTY, 0x1000);
	for (unsigned i = 0; i < 400; i++) {
		enter(s, t, 1, BUSY, 0x1000);
		if (i) {
			other(s, REC_SWITCH_OUT, t + 50, 1, 1, SWITCH_SLEEPING, 0);
			t += 20000;
			other(s, REC_WAKING, t - 1000, 2, waker, 1, 0);
			other(s, REC_SWITCH_IN, t, 1, 1, 0, 0);
		}
		t += 100;
		leave(s, t, 1, BUSY, 0x1000);
		t += 1000;
	}
	scene_finish(s, t);
}

static void woken_by_its_own_is_lost_by_interrupts_idle(void **state)
{
	struct scene s;

	block_and_wake(&s, 2);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_INTERFERENCE);
	assert_true(scene_block(&s, "busy")->pools[POOL_BLOCKED] >
		    10 * scene_block(&s, "busy")->pools[POOL_PREEMPTED]);
	scene_release(&s);
	block_and_wake(&s, 0);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_IDLE);
	scene_release(&s);
}

/* A list that grows: each call takes longer than the one before. */
static void growth_is_workload(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 60, 50, 5.0);
	other(&s, REC_SWITCH_IN, 1000, 1, 1, 0, 0);
	for (uint64_t i = 0; i < 20000; i++) {
		t = scene_call_of(&s, t, BUSY, 300 + i / 2 + jitter(&s));
		t += 500;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_WORKLOAD);
	scene_release(&s);
}

/* As many calls inside as there is work to do. */
static void more_callees_are_workload(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 60, 50, 5.0);
	other(&s, REC_SWITCH_IN, 1000, 1, 1, 0, 0);
	for (uint64_t i = 0; i < 2000; i++) {
		enter(&s, t, 1, OUTER, 0x1000);
		for (uint64_t k = scene_below(&s, 20); k--;) {
			enter(&s, t, 1, INNER, 0xf00);
			t += 500 + jitter(&s);
			leave(&s, t, 1, INNER, 0xf00);
			t += 50;
		}
		t += 100;
		leave(&s, t, 1, OUTER, 0x1000);
		t += 500;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->verdict, VERDICT_WORKLOAD);
	scene_release(&s);
}

/* Contention that slows random calls is neither growth nor more work. */
static void contention_is_not_workload(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_calibrated(&s, 60, 50, 5.0);
	other(&s, REC_SWITCH_IN, 1000, 1, 1, 0, 0);
	for (uint64_t i = 0; i < 20000; i++) {
		t = scene_call_of(&s, t, BUSY,
				  300 + jitter(&s) +
					  (scene_below(&s, 3) ? scene_below(&s, 5000 + i / 4) : 0));
		t += 500;
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_CANNOT_TELL);
	assert_true(block_is_unexplained(scene_block(&s, "busy")));
	assert_true(scene_block(&s, "busy")->lost_threads < 0.001);
	scene_release(&s);
}

static void few_calls_are_not_judged(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	scene_start(&s, 1000);
	for (uint64_t i = 0; i < 99; i++, t += 5000) {
		scene_call_of(&s, t, BUSY, 100 + 30 * i);
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "busy")->verdict, VERDICT_TOO_FEW_CALLS);
	scene_release(&s);
}

static void shares_of_causes_add_up(void **state)
{
	struct scene s;

	block_and_wake(&s, 2);
	vec_for_each (&s.blocks, const struct block, b) {
		double sum = 0;

		vec_for_each (&b->causes, const struct cause, c)
			sum += c->share;
		assert_true(!b->causes.n || (sum > 0.97 && sum < 1.0000001));
	}
	scene_release(&s);
}

/* Of calls whose own time is known its part in the loop; of others nothing. */
static void a_loop_has_a_share_of_known_time(void **state)
{
	static const struct meta_frame loop = { .loop = 18 };
	struct block b = { .timed_calls = 3,
			   .observed_ns = 10000,
			   .self_excess_ns = 1000,
			   .self_min_ns = 1000,
			   .samples = { .loop_at = &loop, .loop_ns = 50, .own_ns = 100 } };

	assert_float_equal(block_loop_share(&b), 0.2, 1e-9);
	b.self_min_ns = BLOCK_NONE;
	assert_float_equal(block_loop_share(&b), 0, 1e-9);
}

static void a_loop_is_marked_where_its_source_is_the_users(void **state)
{
	static const struct {
		const char *object;
		bool markable;
	} rows[] = {
		{ "/home/me/app/app", true },
		{ "/usr/local/bin/app", true },
		{ "/usr/src/app/app", true },
		{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", false },
		{ "/lib/x86_64-linux-gnu/libc.so.6", false },
		{ "/lib64/libc.so.6", false },
		{ "/usr/bin/pigz", false },
	};
	struct meta_frame f = { .loop = 18 };
	struct block b = { .verdict = VERDICT_TOO_FEW_CALLS,
			   .timed_calls = 3,
			   .observed_ns = 10000,
			   .self_excess_ns = 9000,
			   .self_min_ns = 100,
			   .samples = { .loop_at = &f, .loop_ns = 90, .own_ns = 100 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		f.object = rows[i].object;
		assert_int_equal(block_loop(&b) != NULL, rows[i].markable);
	}
	f = (struct meta_frame){ .object = "/home/me/app/app" };
	assert_false(loop_can_be_marked(&f));
}

/* A chain of three: who waits for input in what it calls waits for input, however far down. */
static void callers_of_what_waits_for_input_wait_for_input(void **state)
{
	static struct sci_function read_sums, request_sums, loop_sums;
	struct blocks functions = { 0 };
	struct block *loop, *request, *b;

	for (unsigned i = 0; i < 3; i++)
		vec_add(&functions);
	loop = &functions.data[0];
	request = &functions.data[1];
	b = &functions.data[2];
	*b = (struct block){ .id = 2, .verdict = VERDICT_IDLE, .sums = &read_sums };
	*request = (struct block){ .id = 1,
				   .verdict = VERDICT_INTERFERENCE,
				   .sums = &request_sums,
				   .lost_share = 1,
				   .self_excess_ns = 5,
				   .pools = { [POOL_CALLEE] = 995, [POOL_RUNNING] = 5 } };
	*loop = *request;
	loop->id = 0;
	loop->sums = &loop_sums;
	request_sums.n_edges = loop_sums.n_edges = 1;
	request_sums.edges[1] = (struct sci_edge){ .id = 2, .calls = 10, .ns = 1000, .min_ns = 1 };
	loop_sums.edges[1] = (struct sci_edge){ .id = 1, .calls = 10, .ns = 1000, .min_ns = 1 };
	callees_pass_on(&functions);
	assert_int_equal(request->verdict, VERDICT_IDLE);
	assert_int_equal(loop->verdict, VERDICT_IDLE);

	/* one that loses much itself is judged by that */
	request->verdict = loop->verdict = VERDICT_INTERFERENCE;
	request->self_excess_ns = 200;
	request->pools[POOL_RUNNING] = 200;
	callees_pass_on(&functions);
	assert_int_equal(request->verdict, VERDICT_INTERFERENCE);
	assert_int_equal(loop->verdict, VERDICT_INTERFERENCE);

	b->verdict = VERDICT_WORKLOAD;
	request->self_excess_ns = 5;
	request->pools[POOL_RUNNING] = 5;
	callees_pass_on(&functions);
	assert_int_equal(loop->verdict, VERDICT_WORKLOAD);
	vec_release(&functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_of_what_waits_for_input_wait_for_input),
		cmocka_unit_test(a_loop_is_marked_where_its_source_is_the_users),
		cmocka_unit_test(jitter_is_noise_and_five_percent_is_not),
		cmocka_unit_test(jitter_of_callees_is_noise_in_the_caller),
		cmocka_unit_test(preempted_probes_are_noise),
		cmocka_unit_test(probes_that_vary_more_than_calibrated_are_noise),
		cmocka_unit_test(a_probe_cheaper_than_calibrated_is_noise),
		cmocka_unit_test(a_part_of_a_probe_is_noise),
		cmocka_unit_test(a_fastest_of_nothing_is_not_judged),
		cmocka_unit_test(preempted_work_is_interference),
		cmocka_unit_test(never_fast_is_not_judged),
		cmocka_unit_test(the_recorder_is_named),
		cmocka_unit_test(woken_by_its_own_is_lost_by_interrupts_idle),
		cmocka_unit_test(growth_is_workload),
		cmocka_unit_test(more_callees_are_workload),
		cmocka_unit_test(contention_is_not_workload),
		cmocka_unit_test(few_calls_are_not_judged),
		cmocka_unit_test(shares_of_causes_add_up),
		cmocka_unit_test(a_loop_has_a_share_of_known_time),
	};

	return unit_run(tests);
}
