/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time of which no score tells: by function, outside calls and in calls that are not judged. */
#include "unit.h"
#include "scene.h"

#include "analysis/evidence/ran.h"
#include "analysis/evidence/untold.h"

enum { WORK = 1, CLOCK, NOWHERE, INLINED, UNNAMED, CLOSURE, FIRST_LAMBDA, SECOND_LAMBDA, ENDS, GO };
enum { JUDGED, TOO_FEW }; /* function ids */

static struct meta_frame frames[] = {
	{ .id = 0, .symbol = "work", .object = "a", .file = "a.c", .line = 10, .loop = 7 },
	{ .id = 1, .symbol = "", .object = "[vdso]", .file = "" },
	{ .id = 2, .symbol = "clock_gettime", .object = "libc", .file = "", .line = 42 },
	{ .id = 3, .symbol = "", .object = "stripped", .file = "" },
	{ .id = 4, .symbol = "small", .object = "a", .file = "", .inlined = true },
	{ .id = 5, .symbol = "work", .object = "a", .file = "a.c", .line = 30, .loop = 29 },
	{ .id = 6, .symbol = "", .object = "/usr/bin/stripped", .file = "" },
	{ .id = 7, .symbol = "core::ptr::read", .object = "a", .file = "", .inlined = true },
	{ .id = 8, .symbol = "a::main::{{closure}}", .object = "a", .file = "", .inlined = true },
	{ .id = 9,
	  .symbol = "std::sys::backtrace::__rust_begin_short_backtrace",
	  .object = "a",
	  .file = "" },
	{ .id = 10,
	  .symbol = "operator()",
	  .object = "a",
	  .file = "a.cc",
	  .line = 14,
	  .inlined = true },
	{ .id = 11,
	  .symbol = "std::thread::_State_impl<std::tuple<main::{lambda()#1}> >::_M_run()",
	  .object = "a",
	  .file = "/usr/include/c++/12/bits/std_thread.h" },
	{ .id = 12,
	  .symbol = "operator()",
	  .object = "a",
	  .file = "a.cc",
	  .line = 20,
	  .inlined = true },
	{ .id = 13,
	  .symbol = "std::thread::_State_impl<std::tuple<main::{lambda()#2}> >::_M_run()",
	  .object = "a",
	  .file = "/usr/include/c++/12/bits/std_thread.h" },
	{ .id = 14, .symbol = "_dl_fini", .object = "/lib64/ld-linux-x86-64.so.2", .file = "" },
	{ .id = 15, .symbol = "__run_exit_handlers", .object = "/lib/libc.so.6", .file = "" },
	{ .id = 16, .symbol = "runtime.futex", .object = "a", .file = "" },
};
static const uint32_t ends[] = { 0, 14, 15 }, work[] = { 0 }, clock_stack[] = { 1, 2 },
		      nowhere[] = { 3 }, inlined[] = { 4, 5 }, unnamed[] = { 0, 6 },
		      closure[] = { 7, 8, 9 }, first_lambda[] = { 10, 11 },
		      second_lambda[] = { 12, 13 }, go[] = { 16 };
static struct meta_stack stacks[] = {
	{ .id = 0 },
	{ .id = WORK, .n_frames = 1, .frames = work },
	{ .id = CLOCK, .n_frames = 2, .frames = clock_stack },
	{ .id = NOWHERE, .n_frames = 1, .frames = nowhere },
	{ .id = INLINED, .n_frames = 2, .frames = inlined },
	{ .id = UNNAMED, .n_frames = 2, .frames = unnamed },
	{ .id = CLOSURE, .n_frames = 3, .frames = closure },
	{ .id = FIRST_LAMBDA, .n_frames = 2, .frames = first_lambda },
	{ .id = SECOND_LAMBDA, .n_frames = 2, .frames = second_lambda },
	{ .id = ENDS, .n_frames = 3, .frames = ends },
	{ .id = GO, .n_frames = 1, .frames = go },
};

struct stage {
	struct scene scene;
	struct untold untold;
	uint64_t time_ns;
};

static void begin(struct stage *st)
{
	struct call_visitor v;

	*st = (struct stage){ .time_ns = 2000 };
	scene_function(&st->scene, "judged", 1);
	scene_function(&st->scene, "too_few", 1);
	st->scene.meta.frames.data = frames;
	st->scene.meta.frames.n = sizeof(frames) / sizeof(*frames);
	st->scene.meta.stacks.data = stacks;
	st->scene.meta.stacks.n = sizeof(stacks) / sizeof(*stacks);
	scene_start(&st->scene, 1000);
	untold_init(&st->untold, &st->scene.calls, &st->scene.meta);
	v = untold_visitor(&st->untold);
	calls_add_visitor(&st->scene.calls, &v);
}

static void samples(struct stage *st, unsigned n, uint64_t stack)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t values[RECORD_VALUES_MIN] = { 1000, 0x400000, stack };
		struct record r = { .time_ns = st->time_ns += 10,
				    .kind = REC_SAMPLE,
				    .tid = 1,
				    .tgid = 1,
				    .n_values = 3,
				    .values = values };

		calls_record(&st->scene.calls, &r);
	}
}

static bool judged(const void *ctx, uint32_t id)
{
	(void)ctx;
	return id == JUDGED;
}

static void end(struct stage *st, struct untold_functions *found)
{
	vec_release(found);
	untold_release(&st->untold);
	st->scene.meta.frames.data = NULL;
	st->scene.meta.frames.n = 0;
	st->scene.meta.stacks.data = NULL;
	st->scene.meta.stacks.n = 0;
	scene_release(&st->scene);
}

static void test_outside_and_too_few_calls_are_untold(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, 30, WORK); /* outside every call */
	enter(&st.scene, st.time_ns += 10, 1, TOO_FEW, 0x1000);
	samples(&st, 20, WORK);
	leave(&st.scene, st.time_ns += 10, 1, TOO_FEW, 0x1008);
	enter(&st.scene, st.time_ns += 10, 1, JUDGED, 0x1000);
	samples(&st, 50, WORK);
	leave(&st.scene, st.time_ns += 10, 1, JUDGED, 0x1008);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.data[0].frame->symbol, "work");
	assert_float_equal(found.data[0].share, 0.5, 1e-9);
	assert_float_equal(found.share, 0.5, 1e-9);
	end(&st, &found);
}

static void test_the_function_is_the_first_frame_with_a_name(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, 50, CLOCK);
	samples(&st, 30, INLINED);
	samples(&st, 15, NOWHERE);
	samples(&st, 5, 0);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 3);
	assert_string_equal(found.data[0].frame->symbol, "clock_gettime");
	assert_string_equal(found.data[1].frame->symbol, "work");
	assert_string_equal(found.data[2].frame->object, "stripped");
	assert_float_equal(found.data[2].share, 0.15, 1e-9);
	assert_float_equal(found.share, 1, 1e-9); /* with the time of no known function */
	end(&st, &found);
}

/* Threads of one stripped program would else be called by whatever library function each is in. */
static void test_what_a_stripped_program_calls_is_not_its_begin(void **state)
{
	struct untold_functions found = { 0 };
	const struct meta_frame *begun;
	struct stage st;

	begin(&st);
	samples(&st, 1, WORK);
	begun = untold_begin(&st.untold, 0);
	assert_string_equal(begun ? begun->symbol : "", "work");
	samples(&st, 1, UNNAMED);
	assert_null(untold_begin(&st.untold, 0));
	end(&st, &found);
}

/* The longest stack may be one of exit(). */
static void test_what_ends_a_program_is_not_its_begin(void **state)
{
	struct untold_functions found = { 0 };
	struct stage st;

	begin(&st);
	samples(&st, 1, ENDS);
	assert_null(untold_begin(&st.untold, 0));
	end(&st, &found);
}

/* Its frame is that of the standard library which runs it. */
static void test_a_closure_is_what_is_inlined_there(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, 50, CLOSURE);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.data[0].frame->symbol, "a::main::{{closure}}");
	end(&st, &found);
}

/* Those of two threads have the same name, and are not added up. */
static void test_a_lambda_is_what_is_inlined_there(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, 40, FIRST_LAMBDA);
	samples(&st, 60, SECOND_LAMBDA);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 2);
	assert_string_equal(found.data[0].frame->symbol, "operator()");
	assert_int_equal(found.data[0].frame->line, 20);
	assert_int_equal(found.data[1].frame->line, 14);
	end(&st, &found);
}

static void test_the_loop_is_that_of_most_samples(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, 20, WORK);
	samples(&st, 60, INLINED);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.data[0].frame->loop, 29);
	end(&st, &found);
}

static void test_few_samples_tell_nothing(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	samples(&st, UNTOLD_SAMPLES_MIN - 1, WORK);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 0);
	assert_true(isnan(found.share));
	end(&st, &found);
}

static void switched(struct stage *st, uint32_t kind, uint64_t set)
{
	other(&st->scene, kind, st->time_ns += 10, 0, 0, set, 0);
}

static void test_only_time_with_probes_counts(void **state)
{
	struct untold_functions found;
	struct stage st;

	begin(&st);
	switched(&st, REC_SET_ON, 7); /* of no function */
	samples(&st, 60, NOWHERE);    /* before the first probes */
	switched(&st, REC_SET_ON, 1);
	samples(&st, 60, WORK);
	switched(&st, REC_SET_OFF, 1);
	samples(&st, 60, CLOCK); /* between bursts */
	switched(&st, REC_SET_ON, 1);
	samples(&st, 60, WORK);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.data[0].frame->symbol, "work");
	assert_float_equal(found.data[0].share, 1, 1e-9);
	end(&st, &found);
}

/* Functions that cost too much do not come back: what runs then is outside of all calls. */
static void test_time_without_the_functions_taken_out_counts(void **state)
{
	struct meta_not_traced outs[] = {
		{ .name = "judged", .object = "a", .traced_until_ns = 5000 },
		{ .name = "too_few", .object = "a", .traced_until_ns = 5000 },
	};
	struct meta_object object = { .path = "a" };
	struct untold_functions found;
	struct stage st;

	begin(&st);
	for (size_t i = 0; i < 2; i++)
		st.scene.meta.functions.data[i].object = 0;
	*vec_add(&st.scene.meta.objects) = object;
	st.scene.meta.not_traced.data = outs;
	st.scene.meta.not_traced.n = 2;
	switched(&st, REC_SET_ON, 1);
	samples(&st, 60, WORK);
	switched(&st, REC_SET_OFF, 1);
	samples(&st, 60, UNNAMED); /* between bursts: they are taken out later */
	switched(&st, REC_SET_ON, 1);
	samples(&st, 60, WORK);
	switched(&st, REC_SET_OFF, 1);
	st.time_ns = 5000; /* the probes leave one by one */
	samples(&st, 60, CLOCK);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 2);
	assert_float_equal(found.data[0].share, 2 / 3.0, 1e-9);
	vec_release(&found);
	outs[1].traced_again_ns = 6000;
	switched(&st, REC_SET_ON, 1);
	switched(&st, REC_SET_OFF, 1);
	samples(&st, 60, INLINED);
	untold_find(&st.untold, judged, NULL, &found);
	assert_int_equal(found.n, 2);
	st.scene.meta.not_traced.data = NULL;
	st.scene.meta.not_traced.n = 0;
	vec_release(&st.scene.meta.objects);
	end(&st, &found);
}

/* A program whose C library makes the system calls is in the kernel for page faults alone. */
static void test_system_calls_of_go_are_no_page_faults(void **state)
{
	struct untold_functions found = { 0 };
	struct stage st;

	begin(&st);
	st.scene.meta.session.program = "a";
	assert_true(ran_is_in_fault(&st.scene.meta, WORK));
	assert_false(ran_is_in_fault(&st.scene.meta, GO));
	end(&st, &found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside_and_too_few_calls_are_untold),
		cmocka_unit_test(test_the_function_is_the_first_frame_with_a_name),
		cmocka_unit_test(test_what_a_stripped_program_calls_is_not_its_begin),
		cmocka_unit_test(test_what_ends_a_program_is_not_its_begin),
		cmocka_unit_test(test_a_closure_is_what_is_inlined_there),
		cmocka_unit_test(test_a_lambda_is_what_is_inlined_there),
		cmocka_unit_test(test_the_loop_is_that_of_most_samples),
		cmocka_unit_test(test_only_time_with_probes_counts),
		cmocka_unit_test(test_time_without_the_functions_taken_out_counts),
		cmocka_unit_test(test_system_calls_of_go_are_no_page_faults),
		cmocka_unit_test(test_few_samples_tell_nothing),
	};

	return unit_run(tests);
}
