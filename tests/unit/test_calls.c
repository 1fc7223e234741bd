/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"
#include "scene.h"

#include "analysis/site.h"

enum { F, G, H, OTHER_SET, NO_EXIT };

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_function(s, "g", 1);
	scene_function(s, "h", 1);
	scene_function(s, "other", 2);
	scene_function(s, "no_exit", 1);
	s->meta.functions.data[NO_EXIT].exit = EXIT_NONE;
	scene_start(s, 1000);
}

static void expect(const struct scene *s, size_t i, uint32_t id, enum call_end end, uint64_t ns,
		   uint64_t own)
{
	assert_true(i < s->n_log);
	assert_int_equal(s->log[i].id, id);
	assert_int_equal(s->log[i].end, end);
	if (end == CALL_TIMED || end == CALL_OPEN) {
		assert_int_equal(s->log[i].duration_ns, ns);
		assert_int_equal(s->log[i].own_ns, own);
	}
}

static void nested_calls_share_time(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, G, 0xf00);
	leave(&s, 1030, 1, G, 0xf00);
	enter(&s, 1040, 1, G, 0xf00);
	leave(&s, 1050, 1, G, 0xf00);
	leave(&s, 1100, 1, F, 0x1000);
	assert_int_equal(s.n_log, 3);
	expect(&s, 0, G, CALL_TIMED, 20, 20);
	expect(&s, 1, G, CALL_TIMED, 10, 10);
	expect(&s, 2, F, CALL_TIMED, 100, 70);
	scene_release(&s);
}

/* Two threads run the same functions at the same stack pointers, interleaved. */
static void threads_do_not_mix(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1001, 2, F, 0x1000);
	leave(&s, 1010, 1, F, 0x1000);
	leave(&s, 1031, 2, F, 0x1000);
	expect(&s, 0, F, CALL_TIMED, 10, 10);
	expect(&s, 1, F, CALL_TIMED, 30, 30);
	scene_release(&s);
}

/* f jumps to g, g to h: three exits at one stack pointer, inner first. */
static void tail_calls_end_inner_first(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, G, 0x1000);
	enter(&s, 1020, 1, H, 0x1000);
	leave(&s, 1050, 1, H, 0x1000);
	leave(&s, 1051, 1, G, 0x1000);
	leave(&s, 1052, 1, F, 0x1000);
	expect(&s, 0, H, CALL_TIMED, 30, 30);
	expect(&s, 1, G, CALL_TIMED, 41, 11);
	expect(&s, 2, F, CALL_TIMED, 52, 11);
	assert_int_equal(s.calls.orphan_exits, 0);
	scene_release(&s);
}

static void tail_call_to_itself(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, F, 0x1000);
	leave(&s, 1050, 1, F, 0x1000);
	leave(&s, 1051, 1, F, 0x1000);
	expect(&s, 0, F, CALL_TIMED, 40, 40);
	assert_true(s.log[0].recursive);
	expect(&s, 1, F, CALL_TIMED, 51, 11);
	assert_false(s.log[1].recursive);
	scene_release(&s);
}

/* 100 deep, and the kernel keeps the outer 64 returns. */
static void recursion_beyond_64_loses_the_inner_exits(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	(void)state;
	begin(&s);
	for (uint64_t depth = 0; depth < 100; depth++)
		enter(&s, t++, 1, F, 0x10000 - depth * 0x40);
	for (uint64_t depth = 64; depth-- > 0;)
		leave(&s, t++, 1, F, 0x10000 - depth * 0x40);
	assert_int_equal(scene_count(&s, CALL_UNWOUND), 36);
	assert_int_equal(scene_count(&s, CALL_TIMED), 64);
	assert_int_equal(s.log[99].duration_ns, 163);
	assert_false(s.log[99].recursive);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->calls, 100);
	assert_int_equal(scene_block(&s, "f")->timed_calls, 64);
	assert_int_equal(scene_block(&s, "f")->untimed_calls, 36);
	assert_int_equal(scene_block(&s, "f")->total_ns, 163); /* the outermost call alone */
	scene_release(&s);
}

static void longjmp_past_calls_leaves_them_untimed(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000); /* setjmp here */
	enter(&s, 1010, 1, G, 0xf00);
	enter(&s, 1020, 1, H, 0xe00); /* longjmp here */
	enter(&s, 1030, 1, G, 0xf80); /* above h and g: both are gone */
	leave(&s, 1035, 1, G, 0xf80);
	leave(&s, 1100, 1, F, 0x1000);
	expect(&s, 0, H, CALL_UNWOUND, 0, 0);
	expect(&s, 1, G, CALL_UNWOUND, 0, 0);
	expect(&s, 2, G, CALL_TIMED, 5, 5);
	assert_int_equal(s.log[3].end, CALL_TIMED);
	assert_int_equal(s.log[3].duration_ns, 100);
	scene_release(&s);
}

/* longjmp out of g into the same place again and again, nothing above it traced. */
static void longjmp_in_a_loop_does_not_pile_up(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 0; i < 1000; i++)
		enter(&s, 1000 + i, 1, G, 0xf00);
	leave(&s, 2010, 1, G, 0xf00);
	assert_int_equal(scene_count(&s, CALL_TIMED), 1);
	enter(&s, 2020, 1, G, 0xf00);
	leave(&s, 2025, 1, G, 0xf00);
	assert_int_equal(scene_count(&s, CALL_UNWOUND), 999);
	assert_int_equal(s.log[s.n_log - 1].duration_ns, 5);
	assert_int_equal(s.calls.threads.all.data[0]->n_open, 0);
	scene_release(&s);
}

/* An exception through g into f: f's exit shows that g is gone. */
static void unwound_below_an_exit(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, G, 0xf00);
	leave(&s, 1100, 1, F, 0x1000);
	expect(&s, 0, G, CALL_UNWOUND, 0, 0);
	assert_int_equal(s.log[1].end, CALL_TIMED);
	scene_finish(&s, 1200);
	assert_int_equal(scene_block(&s, "f")->sums->own_timed, 0); /* g's part is not known */
	scene_release(&s);
}

/* The exit of the first f has no record; the second f at the same place is a new call. */
static void missing_exit_before_the_next_entry(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	leave(&s, 1001, 1, G, 0x1000); /* f tail-called g, whose entry was not seen */
	enter(&s, 1010, 1, F, 0x1000);
	leave(&s, 1030, 1, F, 0x1000);
	expect(&s, 0, F, CALL_UNWOUND, 0, 0);
	expect(&s, 1, F, CALL_TIMED, 20, 20);
	assert_int_equal(s.calls.orphan_exits, 1);
	scene_release(&s);
}

static void exit_without_entry_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	leave(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, G, 0x1000);
	leave(&s, 1020, 1, G, 0x1000);
	assert_int_equal(s.calls.orphan_exits, 1);
	assert_int_equal(s.n_log, 1);
	expect(&s, 0, G, CALL_TIMED, 10, 10);
	scene_release(&s);
}

/* The child of a fork inside f returns from f without ever having entered it. */
static void fork_inside_a_call(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	other(&s, REC_FORK, 1010, 1, 1, 50, 50);
	leave(&s, 1020, 1, F, 0x1000);
	leave(&s, 1030, 50, F, 0x1000);
	enter(&s, 1040, 50, F, 0x1000);
	leave(&s, 1045, 50, F, 0x1000);
	expect(&s, 0, F, CALL_TIMED, 20, 20);
	expect(&s, 1, F, CALL_TIMED, 5, 5);
	assert_int_equal(s.log[1].tid, 50);
	assert_int_equal(s.calls.orphan_exits, 1);
	scene_release(&s);
}

static void migration_is_no_end(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	scene_call(&s, REC_ENTRY, 1000, 0, 1, F, 0x1000);
	scene_call(&s, REC_EXIT, 1020, 3, 1, F, 0x1000);
	expect(&s, 0, F, CALL_TIMED, 20, 20);
	scene_finish(&s, 1100);
	assert_int_equal(scene_block(&s, "f")->sums->migrated, 1);
	assert_int_equal(scene_block(&s, "f")->min_ns, 20);
	scene_release(&s);
}

/* With clocks that nobody verified a call that migrated cannot be the fastest. */
static void migrant_sets_no_minimum_on_other_clocks(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.meta.session.clock = "tsc";
	sci_release(&s.sci);
	sci_init(&s.sci, &s.calls, &s.meta);
	scene_call(&s, REC_ENTRY, 1000, 0, 1, F, 0x1000);
	scene_call(&s, REC_EXIT, 1003, 3, 1, F, 0x1000);
	scene_call(&s, REC_ENTRY, 1010, 3, 1, F, 0x1000);
	scene_call(&s, REC_EXIT, 1030, 3, 1, F, 0x1000);
	scene_finish(&s, 1100);
	assert_int_equal(scene_block(&s, "f")->min_ns, 20);
	scene_release(&s);
}

static void negative_duration_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	scene_call(&s, REC_ENTRY, 1020, 0, 1, F, 0x1000);
	scene_call(&s, REC_EXIT, 1010, 3, 1, F, 0x1000);
	expect(&s, 0, F, CALL_NEGATIVE, 0, 0);
	scene_finish(&s, 1100);
	assert_int_equal(scene_block(&s, "f")->timed_calls, 0);
	assert_int_equal(scene_block(&s, "f")->untimed_calls, 1);
	scene_release(&s);
}

static void open_calls_end_with_the_recording(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1100, 1, G, 0xf00);
	scene_finish(&s, 1500);
	expect(&s, 0, G, CALL_OPEN, 400, 400);
	expect(&s, 1, F, CALL_OPEN, 500, 100);
	assert_int_equal(scene_block(&s, "f")->open_calls, 1);
	assert_true(isnan(scene_block(&s, "f")->sci)); /* no call to compare with */
	scene_release(&s);
}

/* Probes of set 1 go off: its calls end there, those of the other set go on. */
/* Nobody saw it leave, but a longjmp is not seen either. */
static void an_open_call_covers_while_there_are_signs_of_it(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.meta.functions.data[0].exit = EXIT_RET_SITES;
	enter(&s, 1100, 1, F, 0x1000);
	enter(&s, 1200, 1, G, 0xf00);
	leave(&s, 1350, 1, G, 0xf00);
	scene_finish(&s, 9000);
	assert_int_equal(s.calls.threads.all.data[0]->covered_ns, 250);
	scene_release(&s);
}

static void set_off_ends_its_calls_only(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, OTHER_SET, 0x1000);
	enter(&s, 1100, 1, F, 0xf00);
	other(&s, REC_SET_OFF, 1200, 0, 0, 1, 0);
	leave(&s, 1300, 1, OTHER_SET, 0x1000);
	expect(&s, 0, F, CALL_OPEN, 100, 100);
	assert_int_equal(s.log[1].end, CALL_TIMED);
	assert_int_equal(s.log[1].duration_ns, 300);
	scene_finish(&s, 1400);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 200);
	assert_int_equal(scene_block(&s, "other")->observed_ns, 400);
	scene_release(&s);
}

static void a_function_without_exits_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, NO_EXIT, 0xf00);
	leave(&s, 1030, 1, F, 0x1000);
	expect(&s, 0, NO_EXIT, CALL_UNTIMED, 0, 0);
	assert_int_equal(s.log[1].duration_ns, 30);
	scene_release(&s);
}

static void a_thread_that_ends_leaves_open_calls(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	other(&s, REC_TASK_EXIT, 1200, 1, 1, 0, 0);
	other(&s, REC_SWITCH_OUT, 1201, 1, 1, 3, 0); /* the kernel's last switch: not a new life */
	expect(&s, 0, F, CALL_OPEN, 200, 200);
	assert_int_equal(s.calls.threads.all.n, 1);
	enter(&s, 1300, 1, F, 0x1000); /* the number comes back */
	assert_int_equal(s.calls.threads.all.n, 2);
	scene_release(&s);
}

static void probe_cost_of_callees_is_taken_out(void **state)
{
	struct scene s = { 0 };

	(void)state;
	scene_function(&s, "f", 1);
	scene_function(&s, "g", 1);
	scene_function(&s, "h", 1);
	scene_calibrate(&s, 60, 20, 0);
	scene_start(&s, 1000);
	/* f works 100, calls g, which works 50 and calls h, which works 30 */
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1050, 1, G, 0xf00);
	enter(&s, 1090, 1, H, 0xe00);
	leave(&s, 1140, 1, H, 0xe00);  /* 30 + inner 20 */
	leave(&s, 1210, 1, G, 0xf00);  /* 50 + 30 + h's full 60 + inner 20 */
	leave(&s, 1320, 1, F, 0x1000); /* 100 + 80 + 2 * 60 + inner 20 */
	expect(&s, 0, H, CALL_TIMED, 50, 50);
	expect(&s, 1, G, CALL_TIMED, 100, 70);
	expect(&s, 2, F, CALL_TIMED, 200, 120);
	assert_int_equal(s.calls.bounded, 0);
	scene_release(&s);
}

/* Probes of callees that cost less than the median did not take more than the call contains. */
static void probe_cost_is_what_there_can_be(void **state)
{
	struct scene s = { 0 };

	(void)state;
	scene_function(&s, "f", 1);
	scene_function(&s, "g", 1);
	scene_calibrate(&s, 60, 20, 0);
	scene_start(&s, 1000);
	/* a callee that is over in 12: its probe cannot have cost 20 inside of it */
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1050, 1, G, 0xf00);
	leave(&s, 1062, 1, G, 0xf00);
	leave(&s, 1200, 1, F, 0x1000);
	expect(&s, 0, G, CALL_TIMED, 12, 12);
	expect(&s, 1, F, CALL_TIMED, 200 - 12 - 40, 200 - 12 - 40);
	assert_int_equal(s.calls.bounded, 0);
	/* 30 are beside the callee, of which f's own probe took 20: 10 are left, not 40 */
	enter(&s, 2000, 1, F, 0x1000);
	enter(&s, 2010, 1, G, 0xf00);
	leave(&s, 2040, 1, G, 0xf00);
	leave(&s, 2060, 1, F, 0x1000);
	expect(&s, 3, F, CALL_TIMED, 60 - 20 - 10, 20);
	assert_int_equal(s.calls.bounded, 1);
	scene_release(&s);
}

/* Many callees, each with a probe as cheap as probes get: what is left is never nothing. */
static void no_call_takes_no_time(void **state)
{
	struct scene s = { 0 };
	uint64_t t = 1000;

	(void)state;
	scene_function(&s, "f", 1);
	scene_function(&s, "g", 1);
	scene_calibrate(&s, 800, 500, 30);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 100; i++) {
		enter(&s, t, 1, F, 0x1000);
		t += 510;
		for (unsigned k = 0; k < 3; k++) {
			enter(&s, t, 1, G, 0xf00);
			leave(&s, t += 500 + i % 40, 1, G, 0xf00);
			t += 200 + i % 150;
		}
		leave(&s, t, 1, F, 0x1000);
	}
	scene_finish(&s, t);
	assert_true(scene_block(&s, "f")->min_ns >= 500);
	assert_true(scene_block(&s, "f")->self_min_ns >= 500);
	assert_true(s.calls.bounded > 0);
	scene_release(&s);
}

/* Calibrated with 1 and with 4 threads: what is subtracted follows how many are alive. */
static void probe_cost_follows_the_threads(void **state)
{
	struct scene s = { 0 };

	(void)state;
	scene_function(&s, "f", 1);
	scene_function(&s, "g", 1);
	scene_calibrate(&s, 60, 20, 0);
	scene_calibrate(&s, 160, 20, 0);
	s.meta.calibrations.data[1].threads = 4;
	scene_start(&s, 1000);
	for (uint32_t tid = 1; tid <= 4; tid += 3) {
		enter(&s, 1000, tid, F, 0x1000);
		enter(&s, 1100, tid, G, 0xf00);
		leave(&s, 1200, tid, G, 0xf00);
		leave(&s, 2000, tid, F, 0x1000);
		other(&s, REC_FORK, 2000, 9, 9, 2, 1);
		other(&s, REC_FORK, 2000, 9, 9, 3, 1);
	}
	expect(&s, 1, F, CALL_TIMED, 1000 - 60, 1000 - 60 - 80);
	expect(&s, 3, F, CALL_TIMED, 1000 - 160, 1000 - 160 - 80);
	scene_release(&s);
}

static void unknown_functions_are_skipped(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	enter(&s, 1000, 1, 77, 0x1000);
	enter(&s, 1000, 1, UINT32_MAX, 0x1000);
	assert_int_equal(s.calls.unknown_ids, 2);
	assert_int_equal(s.calls.entries, 0);
	scene_release(&s);
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* Any record in any order: every entry still ends exactly once, and nothing is written outside. */
static void random_records_do_no_harm(void **state)
{
	static const uint32_t kinds[] = { REC_SWITCH_OUT,  REC_SWITCH_IN,  REC_FORK,
					  REC_TASK_EXIT,   REC_COMM,	   REC_EXEC,
					  REC_LOST,	   REC_SET_ON,	   REC_SET_OFF,
					  REC_SAMPLE,	   REC_WAKING,	   REC_FAULTS,
					  REC_BLOCK_STACK, REC_STACK,	   REC_ARGS,
					  REC_COUNTERS,	   REC_CALL_COUNT, 99 };
	uint32_t frames[2] = { 0, 77 };
	struct sites sites;
	struct call_visitor v;
	struct scene s;
	double lost[20000] = { 0 };
	uint64_t time = 1000;

	(void)state;
	begin(&s);
	(void)vec_add(&s.meta.stacks);
	*vec_add(&s.meta.stacks) = (struct meta_stack){ .id = 1, .n_frames = 2, .frames = frames };
	sites_init(&sites, &s.calls);
	v = sites_visitor(&sites);
	calls_add_visitor(&s.calls, &v);
	for (unsigned i = 0; i < 300000; i++) {
		uint64_t values[RECORD_VALUES_MIN] = { random_below(6), random_below(3),
						       random_below(3), UINT64_MAX };
		struct record r = { .time_ns = time,
				    .cpu = random_below(5),
				    .tid = random_below(6),
				    .tgid = random_below(3),
				    .id = random_below(7),
				    .sp = 0x1000 - 16 * random_below(20),
				    .values = values,
				    .n_values = 4,
				    .bytes = "x",
				    .n_bytes = 1 };

		r.kind = random_below(4)    ? random_below(2)
			 : random_below(50) ? kinds[random_below(2)]
					    : kinds[random_below(18)];
		if (random_below(1000) == 0)
			values[0] = values[1] = random_state;
		time += random_below(100);
		r.time_ns -= random_below(20) ? 0 : random_below(200); /* back in time as well */
		calls_record(&s.calls, &r);
	}
	scene_finish(&s, time);
	sites_end(&sites);
	assert_true(s.calls.threads.all.n < 20000);
	sites_build(&sites, &(struct block_options){ .duration_ns = time, .period = 1 }, &s.blocks,
		    lost);
	vec_for_each (&s.blocks, const struct block, b)
		assert_int_equal(b->calls, b->timed_calls + b->open_calls + b->untimed_calls);
	vec_for_each (&s.calls.open_of, uint32_t, open)
		assert_int_equal(*open, 0);
	assert_int_equal(s.sci.ends[CALL_TIMED] + s.sci.ends[CALL_OPEN] + s.sci.ends[CALL_UNWOUND] +
				 s.sci.ends[CALL_LOST] + s.sci.ends[CALL_NEGATIVE] +
				 s.sci.ends[CALL_UNTIMED],
			 s.calls.entries);
	sites_release(&sites);
	vec_release(&s.meta.stacks);
	scene_release(&s);
}

static void fall_asleep(struct scene *s, uint64_t time)
{
	uint64_t stack[RECORD_VALUES_MIN] = { 1 };
	struct record r = { .time_ns = time, .kind = REC_BLOCK_STACK, .cpu = 1, .tid = 1 };

	r.tgid = 1;
	r.values = stack;
	r.n_values = 1;
	other(s, REC_SWITCH_OUT, time, 1, 1, SWITCH_SLEEPING, 0);
	calls_record(&s->calls, &r);
}

static void wake_up(struct scene *s, uint64_t time)
{
	other(s, REC_WAKING, time, 2, 2, 1, 0);
	other(s, REC_SWITCH_IN, time, 1, 1, 0, 0);
}

/* 200 short waits with one stack, outside of every recorded call. */
static void wait_outside(struct scene *s, struct sites *sites)
{
	static double lost[2];
	struct call_visitor v;
	uint64_t t = 1000;

	sites_init(sites, &s->calls);
	v = sites_visitor(sites);
	calls_add_visitor(&s->calls, &v);
	for (unsigned i = 0; i < 200; i++, t += 100000) {
		fall_asleep(s, t);
		wake_up(s, t + 100 + i % 2 * 200);
	}
	scene_finish(s, t);
	sites_end(sites);
	sites_build(sites, &(struct block_options){ .duration_ns = t, .period = 1 }, &s->blocks,
		    lost);
}

static void begin_with_stack(struct scene *s, const char *outer)
{
	static uint32_t frames[2] = { 0, 1 };

	begin(s);
	(void)vec_add(&s->meta.stacks);
	*vec_add(&s->meta.stacks) = (struct meta_stack){ .id = 1, .n_frames = 2, .frames = frames };
	*vec_add(&s->meta.frames) = (struct meta_frame){ .symbol = "futex", .object = "libc" };
	*vec_add(&s->meta.frames) = (struct meta_frame){ .symbol = outer, .object = "app" };
}

static void end_with_stack(struct scene *s, struct sites *sites)
{
	sites_release(sites);
	vec_release(&s->meta.stacks);
	vec_release(&s->meta.frames);
	scene_release(s);
}

/* A place where threads wait has no probe: a short wait now and then is judged all the same. */
static void a_wait_of_little_is_judged(void **state)
{
	struct sites sites;
	struct scene s;

	(void)state;
	begin_with_stack(&s, "f");
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 1);
	assert_true(s.blocks.data[0].sci > 0 && s.blocks.data[0].sci < SCI_SMALL);
	assert_int_equal(s.blocks.data[0].verdict, VERDICT_INTERFERENCE);
	end_with_stack(&s, &sites);
}

/* Between two bursts nobody knows what is outside: a wait is seen until the probes go. */
static void a_wait_between_bursts_is_not_seen(void **state)
{
	static double lost[2];
	struct call_visitor v;
	struct sites sites;
	struct scene s;

	(void)state;
	begin_with_stack(&s, "elsewhere");
	sites_init(&sites, &s.calls);
	v = sites_visitor(&sites);
	calls_add_visitor(&s.calls, &v);
	other(&s, REC_SET_ON, 1000, 0, 0, 1, 0);
	other(&s, REC_SET_ON, 1000, 0, 0, 2, 0);
	fall_asleep(&s, 2000);
	wake_up(&s, 3000);
	fall_asleep(&s, 4000);
	other(&s, REC_SET_OFF, 4500, 0, 0, 1, 0);
	other(&s, REC_SET_OFF, 4500, 0, 0, 2, 0);
	wake_up(&s, 6000);
	fall_asleep(&s, 7000);
	wake_up(&s, 8000);
	other(&s, REC_SET_ON, 9000, 0, 0, 1, 0);
	fall_asleep(&s, 9500);
	wake_up(&s, 9600);
	scene_finish(&s, 10000);
	sites_end(&sites);
	sites_build(&sites, &(struct block_options){ .duration_ns = 9000, .period = 1 }, &s.blocks,
		    lost);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].calls, 3);
	assert_int_equal(s.blocks.data[0].timed_calls, 2);
	assert_int_equal(s.blocks.data[0].total_ns, 1000 + 100);
	assert_int_equal(s.blocks.data[0].open_ns, 500 - 100);
	end_with_stack(&s, &sites);
}

/* Under sampling, waits in calls that were left out are not outside of their function. */
static void a_wait_in_a_call_left_out_is_no_place(void **state)
{
	struct sites sites;
	struct scene s;

	(void)state;
	begin_with_stack(&s, "f");
	s.meta.session.period = 7;
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 0);
	end_with_stack(&s, &sites);
	begin_with_stack(&s, "elsewhere");
	s.meta.session.period = 7;
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 1);
	end_with_stack(&s, &sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_calls_share_time),
		cmocka_unit_test(threads_do_not_mix),
		cmocka_unit_test(tail_calls_end_inner_first),
		cmocka_unit_test(tail_call_to_itself),
		cmocka_unit_test(recursion_beyond_64_loses_the_inner_exits),
		cmocka_unit_test(longjmp_past_calls_leaves_them_untimed),
		cmocka_unit_test(longjmp_in_a_loop_does_not_pile_up),
		cmocka_unit_test(unwound_below_an_exit),
		cmocka_unit_test(missing_exit_before_the_next_entry),
		cmocka_unit_test(exit_without_entry_is_counted),
		cmocka_unit_test(fork_inside_a_call),
		cmocka_unit_test(migration_is_no_end),
		cmocka_unit_test(migrant_sets_no_minimum_on_other_clocks),
		cmocka_unit_test(negative_duration_is_counted),
		cmocka_unit_test(open_calls_end_with_the_recording),
		cmocka_unit_test(an_open_call_covers_while_there_are_signs_of_it),
		cmocka_unit_test(set_off_ends_its_calls_only),
		cmocka_unit_test(a_function_without_exits_is_counted),
		cmocka_unit_test(a_thread_that_ends_leaves_open_calls),
		cmocka_unit_test(probe_cost_of_callees_is_taken_out),
		cmocka_unit_test(probe_cost_is_what_there_can_be),
		cmocka_unit_test(no_call_takes_no_time),
		cmocka_unit_test(probe_cost_follows_the_threads),
		cmocka_unit_test(random_records_do_no_harm),
		cmocka_unit_test(a_wait_of_little_is_judged),
		cmocka_unit_test(a_wait_in_a_call_left_out_is_no_place),
		cmocka_unit_test(a_wait_between_bursts_is_not_seen),
		cmocka_unit_test(unknown_functions_are_skipped),
	};

	return unit_run(tests);
}
