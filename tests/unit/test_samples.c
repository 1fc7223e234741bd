/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples inside slow and fast calls: where the difference is, and whether it spins. */
#include "unit.h"
#include "scene.h"

#include "analysis/cause/judge.h"
#include "analysis/cause/kind.h"
#include "analysis/cause/samples_compare.h"
#include "analysis/cause/verdict.h"
#include "analysis/evidence/samples.h"

#define CALLS 2000

enum { PLAIN = 1, SPIN, CALLEE };

struct stage {
	struct scene scene;
	struct samples samples;
	struct coactivity co;
};

static struct meta_frame frames[] = {
	{ .id = 0,
	  .calls = "",
	  .symbol = "take",
	  .file = "a.c",
	  .line = 10,
	  .object = "a",
	  .loop = 7 },
	{ .id = 1,
	  .calls = "",
	  .symbol = "take",
	  .file = "a.c",
	  .line = 20,
	  .object = "a",
	  .spins = true },
	{ .id = 2, .calls = "", .symbol = "helper", .file = "b.c", .line = 5, .object = "a" },
	{ .id = 3,
	  .calls = "",
	  .symbol = "main",
	  .file = "a.c",
	  .line = 90,
	  .object = "a",
	  .loop = 88 },
};
static const uint32_t plain[] = { 0, 3 }, spin[] = { 1, 3 }, callee[] = { 2, 0, 3 };
static struct meta_stack stacks[] = {
	{ .id = 0 },
	{ .id = PLAIN, .n_frames = 2, .frames = plain },
	{ .id = SPIN, .n_frames = 2, .frames = spin },
	{ .id = CALLEE, .n_frames = 3, .frames = callee },
};

static void sample(struct stage *st, uint64_t time, uint32_t tid, uint64_t stack)
{
	uint64_t values[RECORD_VALUES_MIN] = { 10000000, 0x400000, stack };
	struct record r = { .time_ns = time,
			    .kind = REC_SAMPLE,
			    .cpu = tid,
			    .tid = tid,
			    .tgid = 1,
			    .n_values = 3,
			    .values = values };

	calls_record(&st->scene.calls, &r);
}

static void begin(struct stage *st)
{
	struct call_visitor v;

	*st = (struct stage){ 0 };
	scene_function(&st->scene, "take", 1);
	scene_function(&st->scene, "give", 1);
	st->scene.meta.frames.data = frames;
	st->scene.meta.frames.n = 4;
	st->scene.meta.stacks.data = stacks;
	st->scene.meta.stacks.n = 4;
	scene_start(&st->scene, 1000);
	samples_init(&st->samples, &st->scene.calls);
	v = samples_visitor(&st->samples);
	calls_add_visitor(&st->scene.calls, &v);
	coactivity_init(&st->co, &st->scene.calls);
	v = coactivity_visitor(&st->co);
	calls_add_visitor(&st->scene.calls, &v);
}

/* HELD: another thread has taken before each slow call, and gives back at its end; CALLED: another
 * thread takes once. */
enum others { ALONE, CALLED, HELD };

/* One call in five is slow; with a sample in one slow call of two and one fast call of fifty. */
static const struct block *play(struct stage *st, uint64_t in_slow, enum others others)
{
	struct block_options o = { .period = 1 };
	const bool held = others == HELD;
	uint64_t t = 2000;

	if (others == CALLED) {
		enter(&st->scene, t, 2, 0, 0x2000);
		leave(&st->scene, t + 10, 2, 0, 0x2000);
	}

	for (unsigned i = 0; i < CALLS; i++) {
		bool slow = i % 5 == 0;
		uint64_t d = slow ? 100000 + i : 1000 + i % 7;

		if (slow && held) {
			enter(&st->scene, t, 2, 0, 0x2000);
			leave(&st->scene, t + 10, 2, 0, 0x2000);
		}
		enter(&st->scene, t + 100, 1, 0, 0x1000);
		if (slow ? i % 2 : i % 50 == 1)
			sample(st, t + 200, 1, slow ? in_slow : PLAIN);
		if (slow && held)
			enter(&st->scene, t + d - 10, 2, 1, 0x2000);
		leave(&st->scene, t + 100 + d, 1, 0, 0x1000);
		if (slow && held)
			leave(&st->scene, t + 110 + d, 2, 1, 0x2000);
		t += d + 1000;
	}
	o.duration_ns = t - 1000;
	calls_end(&st->scene.calls, t);
	st->scene.calls.threads.have_switch = true;
	blocks_build(&st->scene.blocks, &st->scene.sci, &o);
	blocks_judge(&st->scene.blocks, &(struct evidence){ .meta = &st->scene.meta,
							    .duration_ns = o.duration_ns,
							    .coactivity = &st->co,
							    .samples = &st->samples });
	return scene_block(&st->scene, "take");
}

static void end(struct stage *st)
{
	samples_release(&st->samples);
	coactivity_release(&st->co);
	scene_release(&st->scene);
}

static const struct cause *cause_of_kind(const struct block *b, const char *kind)
{
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, kind))
			return c;
	return NULL;
}

static const struct cause *lock(const struct block *b)
{
	return cause_of_kind(b, "lock");
}

static void spinning_behind_a_holder_is_a_lock(void **state)
{
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, SPIN, HELD);
	assert_true(b->samples.slow >= SAMPLES_MIN);
	assert_int_equal(b->samples.slow_spins, b->samples.slow);
	assert_ptr_equal(b->samples.spins_at, &frames[1]);
	assert_non_null(lock(b));
	assert_true(lock(b)->confidence > 0.8);
	assert_true(lock(b)->share > 0.9);
	assert_non_null(strstr(lock(b)->evidence.data[0], "a.c:20"));
	assert_non_null(strstr(lock(b)->evidence.data[0], "what follows take"));
	end(&st);
}

static void without_a_holder_it_is_less_sure(void **state)
{
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, SPIN, CALLED);
	assert_non_null(lock(b));
	assert_true(lock(b)->confidence < 0.8);
	end(&st);
}

/* As the thread that hands out work and then waits until the others have done it. */
static void one_that_spins_alone_waits_for_a_thread(void **state)
{
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, SPIN, ALONE);
	assert_int_equal(b->threads, 1);
	assert_null(lock(b));
	assert_non_null(cause_of_kind(b, "condition-wait"));
	assert_string_equal(cause_name(b, "condition-wait"), "another thread");
	end(&st);
}

/* One sample in OpenMP's library makes no other lock one of OpenMP. */
static void a_few_samples_in_openmp_are_no_lock_of_it(void **state)
{
	static const struct meta_frame at = { .symbol = "", .object = "/lib/libgomp.so.1" };
	struct block b = { .samples = { .slow = 40, .slow_spins = 1, .spins_at = &at },
			   .pools = { [POOL_RUNNING] = 1000 } };

	assert_ptr_equal(cause_kind_of(&b, "lock"), cause_kind_find("lock"));
	b.samples.slow_spins = 40;
	assert_string_equal(cause_kind_of(&b, "lock")->name, "lock or barrier");
}

/* Where a library of OpenMP has no names, another thread that runs meanwhile proves nothing. */
static void without_names_a_holder_is_not_sure(void **state)
{
	const struct meta_frame kept = frames[1];
	const struct block *b;
	struct stage st;

	frames[1].symbol = "";
	frames[1].object = "/lib/libgomp.so.1";
	frames[1].spins = false;
	begin(&st);
	b = play(&st, SPIN, HELD);
	assert_non_null(lock(b));
	assert_true(lock(b)->confidence < 0.7);
	end(&st);
	frames[1] = kept;
}

/* A thread that spins at a barrier waits for no lock, and its longer calls are not more work. */
static void spinning_at_a_barrier_is_no_lock(void **state)
{
	const struct meta_frame kept = frames[1];
	const struct block *b;
	struct stage st;

	frames[1].symbol = "gomp_team_barrier_wait_end";
	frames[1].object = "/lib/libgomp.so.1";
	begin(&st);
	b = play(&st, SPIN, ALONE);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	assert_int_equal(b->samples.slow_at_barrier, b->samples.slow);
	assert_null(lock(b));
	assert_string_equal(b->causes.data[0].kind, "barrier");
	assert_true(b->causes.data[0].share > 0.9);
	end(&st);
	frames[1] = kept;
}

/* The master runs the body of a parallel region below the function that ends in a barrier. */
static void a_lock_of_the_program_is_no_barrier(void **state)
{
	const struct meta_frame kept = frames[3];
	const struct block *b;
	struct stage st;

	frames[3].symbol = "GOMP_parallel";
	frames[3].object = "/lib/libgomp.so.1";
	begin(&st);
	b = play(&st, SPIN, HELD);
	assert_int_equal(b->samples.slow_at_barrier, 0);
	assert_int_equal(b->samples.slow_spins, b->samples.slow);
	assert_non_null(lock(b));
	end(&st);
	frames[3] = kept;
}

static void running_is_not_spinning(void **state)
{
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, PLAIN, HELD);
	assert_null(lock(b));
	end(&st);
}

static void the_place_of_the_difference_is_found(void **state)
{
	struct differences d = { 0 };
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, CALLEE, ALONE);
	samples_compare(&st.samples, b, CALLS / 10, CALLS / 2, 100000, &d);
	assert_true(d.slow >= SAMPLES_MIN);
	assert_int_equal(d.callees.n, 1);
	assert_string_equal(d.callees.data[0].frame->symbol, "helper");
	assert_int_equal(d.lines.n, 1);
	assert_int_equal(d.lines.data[0].frame->line, 5);
	assert_int_equal(d.lines.data[0].slow, d.slow);
	assert_int_equal(d.lines.data[0].fast, 0);
	assert_true(d.lines.data[0].slow_low_ns < d.lines.data[0].slow_ns);
	assert_true(d.lines.data[0].slow_high_ns > d.lines.data[0].slow_ns);
	differences_release(&d);
	end(&st);
}

/* The same place in both, as often as the calls are long: no difference. */
static void the_same_place_is_no_difference(void **state)
{
	struct differences d = { 0 };
	const struct block *b;
	struct stage st;

	begin(&st);
	b = play(&st, PLAIN, ALONE);
	samples_compare(&st.samples, b, CALLS / 2, CALLS / 20, 100000, &d);
	assert_int_equal(d.lines.n, 0);
	differences_release(&d);
	end(&st);
}

/* The loop is of the function itself, not of its callers, whatever it calls. */
static void the_loop_of_a_long_call_is_found(void **state)
{
	struct block_options o = { .period = 1, .duration_ns = 100000000 };
	const struct block *b;
	struct stage st;

	begin(&st);
	enter(&st.scene, 2000, 1, 0, 0x1000);
	sample(&st, 10000000, 1, PLAIN);
	sample(&st, 20000000, 1, CALLEE);
	sample(&st, 30000000, 1, SPIN); /* no loop is known there */
	leave(&st.scene, 90000000, 1, 0, 0x1000);
	calls_end(&st.scene.calls, 100000000);
	blocks_build(&st.scene.blocks, &st.scene.sci, &o);
	blocks_judge(&st.scene.blocks, &(struct evidence){ .meta = &st.scene.meta,
							   .duration_ns = o.duration_ns,
							   .samples = &st.samples });
	b = scene_block(&st.scene, "take");
	assert_int_equal(b->verdict, VERDICT_TOO_FEW_CALLS);
	assert_ptr_equal(block_loop(b), &frames[0]);
	assert_float_equal(block_loop_share(b), 2 / 3.0 * 0.9, 0.01);
	end(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spinning_behind_a_holder_is_a_lock),
		cmocka_unit_test(without_a_holder_it_is_less_sure),
		cmocka_unit_test(one_that_spins_alone_waits_for_a_thread),
		cmocka_unit_test(a_few_samples_in_openmp_are_no_lock_of_it),
		cmocka_unit_test(without_names_a_holder_is_not_sure),
		cmocka_unit_test(spinning_at_a_barrier_is_no_lock),
		cmocka_unit_test(a_lock_of_the_program_is_no_barrier),
		cmocka_unit_test(running_is_not_spinning),
		cmocka_unit_test(the_place_of_the_difference_is_found),
		cmocka_unit_test(the_same_place_is_no_difference),
		cmocka_unit_test(the_loop_of_a_long_call_is_found),
	};

	return unit_run(tests);
}
