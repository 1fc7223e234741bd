/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"
#include "scene.h"

#include <stdlib.h>

#include "analysis/score/marker.h"

enum { F, G, A, B, LOOP };

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_function(s, "g", 1);
	scene_function(s, "a", 1);
	scene_function(s, "b", 1);
	scene_function(s, "loop", 1);
	for (int id = A; id <= LOOP; id++) {
		s->meta.functions.data[id].block = "marker";
		s->meta.functions.data[id].exit = EXIT_RET_SITES;
	}
	s->meta.functions.data[LOOP].period = 100;
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

/* Sentences that a report would print, joined. */
static void join(void *ctx, const char *sentence)
{
	strcat(ctx, sentence);
	strcat(ctx, "\n");
}

static const char *faults(const struct scene *s)
{
	static char all[4096];

	all[0] = '\0';
	markers_report_faults(&s->calls, &s->meta, join, all);
	return all;
}

/* A block begins in one function and ends in another: frames come and go around it. */
static void a_block_outlives_frames(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, A, 0xf00);
	leave(&s, 1030, 1, F, 0x1000);
	enter(&s, 1040, 1, G, 0x1000);
	leave(&s, 1070, 1, A, 0xe00);
	leave(&s, 1100, 1, G, 0x1000);
	assert_int_equal(s.n_log, 3);
	expect(&s, 0, F, CALL_TIMED, 30, 10); /* 20 of it are the block's */
	expect(&s, 1, A, CALL_TIMED, 60, 30); /* 30 of it are g's */
	expect(&s, 2, G, CALL_TIMED, 60, 60);
	assert_string_equal(faults(&s), "");
	scene_release(&s);
}

/* The time from the first begin to the last end is counted once in the call around it. */
static void overlapping_blocks_share_time(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1010, 1, A, 0xf00);
	enter(&s, 1030, 1, B, 0xf00);
	leave(&s, 1050, 1, A, 0xf00);
	leave(&s, 1090, 1, B, 0xf00);
	leave(&s, 1100, 1, F, 0x1000);
	expect(&s, 0, A, CALL_TIMED, 40, 20);
	expect(&s, 1, B, CALL_TIMED, 60, 60);
	expect(&s, 2, F, CALL_TIMED, 100, 20);
	assert_string_equal(faults(&s), "1 block of marker a ended inside another that began in "
					"it: the time they share counts in both\n");
	scene_release(&s);
}

static void a_begin_without_an_end_is_given_up(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, A, 0xf00);
	enter(&s, 1020, 1, A, 0xf00);
	leave(&s, 1030, 1, A, 0xf00);
	enter(&s, 1040, 1, A, 0xf00); /* and again, at the thread's end */
	other(&s, REC_TASK_EXIT, 900000, 1, 1, 0, 0);
	expect(&s, 0, A, CALL_UNWOUND, 0, 0);
	expect(&s, 1, A, CALL_TIMED, 10, 10);
	assert_false(s.log[1].recursive);
	expect(&s, 2, A, CALL_UNWOUND, 0, 0);
	assert_int_equal(markers_unended(&s.calls), 2);
	assert_non_null(strstr(faults(&s), "2 begins of marker a have no end"));
	scene_release(&s);
}

/* Other programs' probes know nothing of ISPOT_END, but their pairs may have several ends. */
static void faults_of_static_probes(void **state)
{
	struct scene s;

	begin(&s);
	s.meta.functions.data[A].symbol = "usdt:db:start..commit";
	s.meta.functions.data[A].name = "db:start..commit";
	enter(&s, 1000, 1, A, 0xf00);
	enter(&s, 1020, 1, A, 0xf00);
	leave(&s, 1030, 1, A, 0xf00);
	leave(&s, 1040, 1, A, 0xf00);
	assert_string_equal(
		faults(&s),
		"1 begin of db:start..commit has no end on its thread: it is not timed; "
		"ends may be several, BEGIN..END|END\n"
		"1 end of db:start..commit has no begin on its thread, or that was "
		"before the recording: it is left out\n");
	scene_release(&s);
}

/* Three that overlap: each is timed, and each that ended inside others is counted once. */
static void three_that_overlap(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, A, 0xf00);
	enter(&s, 1010, 1, B, 0xf00);
	enter(&s, 1020, 1, LOOP, 0xf00);
	leave(&s, 1030, 1, A, 0xf00);
	leave(&s, 1050, 1, B, 0xf00);
	leave(&s, 1090, 1, LOOP, 0xf00);
	expect(&s, 0, A, CALL_TIMED, 30, 10);
	expect(&s, 1, B, CALL_TIMED, 40, 10);
	expect(&s, 2, LOOP, CALL_TIMED, 70, 70);
	assert_int_equal(s.calls.marker_faults[A].overlaps, 1);
	assert_int_equal(s.calls.marker_faults[B].overlaps, 1);
	assert_int_equal(s.calls.marker_faults[LOOP].overlaps, 0);
	scene_release(&s);
}

/* The same name deeper on the stack is the block itself again. */
static void a_block_may_contain_itself(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, A, 0xf00);
	enter(&s, 1010, 1, A, 0xe00);
	leave(&s, 1030, 1, A, 0xe00);
	leave(&s, 1100, 1, A, 0xf00);
	expect(&s, 0, A, CALL_TIMED, 20, 20);
	assert_true(s.log[0].recursive);
	expect(&s, 1, A, CALL_TIMED, 100, 80);
	assert_string_equal(faults(&s), "");
	scene_release(&s);
}

static void an_end_without_a_begin_is_left_out(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1010, 2, A, 0xf00);
	leave(&s, 1015, 1, A, 0xf00);
	leave(&s, 1020, 1, A, 0xf00); /* another thread's */
	leave(&s, 1030, 2, A, 0xf00);
	assert_int_equal(s.n_log, 1);
	expect(&s, 0, A, CALL_TIMED, 20, 20);
	assert_non_null(strstr(faults(&s), "2 ends of marker a have no begin"));
	scene_release(&s);
}

/* Probes that came later meet each thread inside a block once; no more than that is their doing. */
static void a_block_that_began_before_the_probes_is_no_fault(void **state)
{
	struct scene s;

	begin(&s);
	other(&s, REC_SWITCH_IN, 1000, 1, 1, 0, 0);
	other(&s, REC_SET_ON, 2000, 0, 0, 1, 0);
	leave(&s, 2010, 1, A, 0xf00);
	assert_string_equal(faults(&s), "");
	assert_int_equal(s.calls.orphan_exits, 1);
	leave(&s, 2020, 1, A, 0xf00);
	leave(&s, 2030, 2, A, 0xf00); /* a thread that came later */
	assert_non_null(strstr(faults(&s), "2 ends of marker a have no begin"));
	enter(&s, 2040, 1, B, 0xf00);
	leave(&s, 2050, 1, B, 0xf00);
	leave(&s, 2060, 1, B, 0xf00);
	assert_non_null(strstr(faults(&s), "1 end of marker b has no begin"));
	scene_release(&s);
}

/* An exception unwinds f; the block that was begun in it goes on. */
static void unwinding_leaves_blocks_open(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, G, 0x1000);
	enter(&s, 1010, 1, F, 0xf00);
	enter(&s, 1020, 1, A, 0xe00);
	leave(&s, 1050, 1, G, 0x1000);
	leave(&s, 1060, 1, A, 0x1100);
	expect(&s, 0, F, CALL_UNWOUND, 0, 0);
	expect(&s, 1, G, CALL_TIMED, 50, 20); /* not known: it has no own time in sums */
	expect(&s, 2, A, CALL_TIMED, 40, 40);
	scene_release(&s);
}

static void a_loop_stands_for_its_iterations(void **state)
{
	struct block_options o = { .duration_ns = 10000, .period = 1 };
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, LOOP, 0xf00);
	leave(&s, 1010, 1, LOOP, 0xf00);
	enter(&s, 2000, 1, LOOP, 0xf00);
	leave(&s, 2030, 1, LOOP, 0xf00);
	calls_end(&s.calls, 11000);
	markers_scale_loops(&s.sci);
	blocks_build(&s.blocks, &s.sci, &o);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].kind, BLOCK_MARKER);
	assert_int_equal(s.blocks.data[0].calls, 2);
	assert_int_equal(s.blocks.data[0].estimated_calls, 200);
	assert_int_equal(s.blocks.data[0].excess_ns, 2000); /* of 20 seen */
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_outlives_frames),
		cmocka_unit_test(overlapping_blocks_share_time),
		cmocka_unit_test(three_that_overlap),
		cmocka_unit_test(a_begin_without_an_end_is_given_up),
		cmocka_unit_test(faults_of_static_probes),
		cmocka_unit_test(a_block_may_contain_itself),
		cmocka_unit_test(an_end_without_a_begin_is_left_out),
		cmocka_unit_test(a_block_that_began_before_the_probes_is_no_fault),
		cmocka_unit_test(unwinding_leaves_blocks_open),
		cmocka_unit_test(a_loop_stands_for_its_iterations),
	};

	return unit_run(tests);
}
