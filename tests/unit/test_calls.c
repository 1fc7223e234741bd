/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From entries and exits to calls. */
#include "unit.h"
#include "calls_scene.h"

#include "analysis/site/site.h"

static void nested_calls_share_time(void **state)
{
	struct scene s;

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

static void note_stack(void *self, const struct thread *t, const struct call *c)
{
	uint32_t *stacks = self;

	(void)t;
	stacks[c->id] = c->exit_stack;
}

/* It waits for the exit, and for no other: an entry, or an exit of nothing, takes it away. */
static void a_stack_of_the_exit_is_its_calls(void **state)
{
	uint32_t stacks[4];
	struct scene s;

	begin(&s);
	calls_add_visitor(&s.calls, &(struct call_visitor){ .self = stacks, .call = note_stack });
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1100, 1, G, 0xf00);
	other(&s, REC_EXIT_STACK, 1200, 1, 1, 7, 0);
	leave(&s, 1200, 1, G, 0xf00);
	assert_int_equal(stacks[G], 7);
	other(&s, REC_EXIT_STACK, 1300, 1, 1, 8, 0);
	enter(&s, 1300, 1, G, 0xf00);
	leave(&s, 1400, 1, G, 0xf00);
	assert_int_equal(stacks[G], 0);
	other(&s, REC_EXIT_STACK, 1500, 1, 1, 9, 0);
	leave(&s, 1500, 1, H, 0xe00);
	leave(&s, 1600, 1, F, 0x1000);
	assert_int_equal(stacks[F], 0);
	scene_release(&s);
}

static void unknown_functions_are_skipped(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, 77, 0x1000);
	enter(&s, 1000, 1, UINT32_MAX, 0x1000);
	assert_int_equal(s.calls.unknown_ids, 2);
	assert_int_equal(s.calls.entries, 0);
	scene_release(&s);
}

static uint64_t random_record(struct scene *s, uint64_t time)
{
	static const uint32_t kinds[] = {
		REC_SWITCH_OUT,	 REC_SWITCH_IN,	 REC_FORK,   REC_TASK_EXIT,
		REC_COMM,	 REC_EXEC,	 REC_LOST,   REC_SET_ON,
		REC_SET_OFF,	 REC_SAMPLE,	 REC_WAKING, REC_FAULTS,
		REC_BLOCK_STACK, REC_STACK,	 REC_ARGS,   REC_COUNTERS,
		REC_CALL_COUNT,	 REC_EXIT_STACK, 99
	};
	uint64_t values[RECORD_VALUES_MIN] = { scene_below(s, 6), scene_below(s, 3),
					       scene_below(s, 3), UINT64_MAX };
	struct record r = { .time_ns = time,
			    .cpu = scene_below(s, 5),
			    .tid = scene_below(s, 6),
			    .tgid = scene_below(s, 3),
			    .id = scene_below(s, 7),
			    .sp = 0x1000 - 16 * scene_below(s, 20),
			    .values = values,
			    .n_values = 4,
			    .bytes = "x",
			    .n_bytes = 1 };

	r.kind = scene_below(s, 4)    ? scene_below(s, 2)
		 : scene_below(s, 50) ? kinds[scene_below(s, 2)]
				      : kinds[scene_below(s, 19)];
	if (scene_below(s, 1000) == 0)
		values[0] = values[1] = s->random;
	r.time_ns -= scene_below(s, 20) ? 0 : scene_below(s, 200); /* back in time as well */
	calls_record(&s->calls, &r);
	return time + scene_below(s, 100);
}

/* Any record in any order: every entry still ends exactly once, and nothing is written outside. */
static void random_records_do_no_harm(void **state)
{
	uint32_t frames[2] = { 0, 77 };
	struct sites sites;
	struct call_visitor v;
	struct scene s;
	double lost[20000] = { 0 };
	uint64_t time = 1000;

	begin(&s);
	(void)vec_add(&s.meta.stacks);
	*vec_add(&s.meta.stacks) = (struct meta_stack){ .id = 1, .n_frames = 2, .frames = frames };
	sites_init(&sites, &s.calls);
	v = sites_visitor(&sites);
	calls_add_visitor(&s.calls, &v);
	for (unsigned i = 0; i < 300000; i++)
		time = random_record(&s, time);
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
		cmocka_unit_test(random_records_do_no_harm),
		cmocka_unit_test(a_stack_of_the_exit_is_its_calls),
		cmocka_unit_test(unknown_functions_are_skipped),
	};

	return unit_run(tests);
}
