/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workload or interference: what explains the duration, and what only seems to. */
#include <math.h>
#include <string.h>

#include "unit.h"
#include "scene.h"

#include "analysis/cause/judge.h"
#include "analysis/cause/work.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/evidence/samples.h"

struct stage {
	struct scene scene;
	struct coactivity co;
	struct samples samples;
	uint64_t random;
};

static uint64_t below(struct stage *st, uint64_t n)
{
	return dice_below(&st->random, n);
}

/* probe_ns: what an empty call shows, and so much more on average; 0: nobody knows. */
static void begin_calibrated(struct stage *st, uint64_t probe_ns, double jitter_ns)
{
	struct call_visitor v;

	*st = (struct stage){ 0 };
	scene_function(&st->scene, "f", 1);
	scene_function(&st->scene, "g", 1);
	st->scene.meta.session.cpus = 4;
	if (probe_ns)
		scene_calibrate(&st->scene, probe_ns + 100, probe_ns, jitter_ns);
	scene_start(&st->scene, 1000);
	coactivity_init(&st->co, &st->scene.calls);
	v = coactivity_visitor(&st->co);
	calls_add_visitor(&st->scene.calls, &v);
	samples_init(&st->samples, &st->scene.calls);
	v = samples_visitor(&st->samples);
	calls_add_visitor(&st->scene.calls, &v);
	/* so that there are switch records */
	other(&st->scene, REC_SWITCH_IN, 1001, 1, 1, 0, 0);
}

static void begin(struct stage *st)
{
	begin_calibrated(st, 0, 0);
}

static const struct block *finish(struct stage *st, uint64_t end_ns)
{
	struct block_options o = { .duration_ns = end_ns - 1000, .period = 1 };

	calls_end(&st->scene.calls, end_ns);
	blocks_build(&st->scene.blocks, &st->scene.sci, &o);
	blocks_judge(&st->scene.blocks, &(struct evidence){ .meta = &st->scene.meta,
							    .duration_ns = o.duration_ns,
							    .coactivity = &st->co,
							    .samples = &st->samples });
	return scene_block(&st->scene, "f");
}

static void end(struct stage *st)
{
	coactivity_release(&st->co);
	samples_release(&st->samples);
	scene_release(&st->scene);
}

static void argument(struct stage *st, uint64_t time, uint64_t value)
{
	other(&st->scene, REC_ARGS, time, 1, 1, 2 /* the second one */, value);
}

/* Calls of f. Return when they end. */
static uint64_t call_given(struct stage *st, uint64_t time, uint64_t ns, uint64_t value)
{
	enter(&st->scene, time, 1, 0, 0x1000);
	argument(st, time, value);
	leave(&st->scene, time + ns, 1, 0, 0x1000);
	return time + ns;
}

static void sample(struct stage *st, uint64_t time, uint64_t stack)
{
	uint64_t values[RECORD_VALUES_MIN] = { 1000, 0x400, stack };
	struct record r = { .time_ns = time,
			    .kind = REC_SAMPLE,
			    .cpu = 1,
			    .tid = 1,
			    .tgid = 1,
			    .n_values = 3,
			    .values = values };

	calls_record(&st->scene.calls, &r);
}

/* Samples at a tenth of the calls, as a recorder takes them. */
static uint64_t call_sampled(struct stage *st, uint64_t time, uint64_t ns, uint64_t stack)
{
	enter(&st->scene, time, 1, 0, 0x1000);
	if (!below(st, 10))
		sample(st, time + 100, stack);
	leave(&st->scene, time + ns, 1, 0, 0x1000);
	return time + ns;
}

/* Four sizes, a time that follows them, and a third of the calls disturbed. */
static void size_explains(void **state)
{
	static const uint64_t sizes[] = { 16, 64, 256, 1024 };
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t size = sizes[below(&st, 4)];
		uint64_t d =
			500 + size * 20 + below(&st, 100) + (below(&st, 3) ? 0 : below(&st, 3000));

		t = call_given(&st, t, d, size) + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->work.by, WORK_ARGUMENT);
	assert_int_equal(b->fit.argument_number, 2);
	assert_false(b->fit.argument.in_time);
	assert_true(b->work.share > 0.8 && b->work.share <= 1);
	assert_int_equal(b->verdict, VERDICT_WORKLOAD);
	assert_string_equal(b->causes.data[0].kind, "workload");
	assert_non_null(strstr(b->causes.data[0].evidence.data[0], "argument 2"));
	assert_int_equal(work_argument(b), 2);
	end(&st);
}

/* The second integer register has the third parameter: the one before is a floating-point number.
 */
static void arguments_are_numbered_as_declared(void **state)
{
	static const struct meta_argument size = { .bit = 1, .name = "size", .type = "size_t" };
	static const struct meta_parameter prototype[] = {
		{ .number = 1, .name = "item", .why = "" },
		{ .number = 2, .name = "weight", .why = "it is a floating-point number" },
		{ .number = 3, .name = "size", .why = "" },
	};
	struct meta_function f = {
		.n_arguments = 1, .arguments = &size, .n_prototype = 3, .prototype = prototype
	};
	struct block b = { .function = &f, .fit.argument_number = 2 };

	assert_int_equal(work_argument(&b), 3);
	f.n_prototype = 0;
	assert_int_equal(work_argument(&b), 2);
}

/* An argument that durations do not depend on explains nothing. */
static void other_argument_does_not(void **state)
{
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t d = 500 + below(&st, 100) + (below(&st, 3) ? 0 : below(&st, 30000));

		t = call_given(&st, t, d, 1 + below(&st, 4096)) + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->work.by, WORK_UNPROVEN);
	assert_int_equal(b->verdict, VERDICT_CANNOT_TELL);
	end(&st);
}

/* A disk whose queue gets longer and longer, in the end for every call: it sleeps. */
static void growing_queue_is_interference(void **state)
{
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t wait = 100 + 10 * (uint64_t)i;

		enter(&st.scene, t, 1, 0, 0x1000);
		other(&st.scene, REC_SWITCH_OUT, t + 200, 1, 1, SWITCH_SLEEPING, 0);
		other(&st.scene, REC_WAIT, t + 200, 1, 1, WAIT_DISK, 0);
		other(&st.scene, REC_SWITCH_IN, t + 200 + wait, 1, 1, 0, 0);
		leave(&st.scene, t + 400 + wait, 1, 0, 0x1000);
		t += 500 + wait;
	}
	b = finish(&st, t);
	assert_true(b->fit.fastest.r2 > 0.9); /* the trap is there */
	assert_int_equal(b->work.by, WORK_UNPROVEN);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	end(&st);
}

/* The same with a lock that spins, for every call in the end: samples tell. */
static void growing_spin_is_interference(void **state)
{
	static struct meta_frame frame = {
		.symbol = "f", .object = "a", .file = "", .calls = "", .spins = true
	};
	static const uint32_t frames[] = { 0 };
	static struct meta_stack stacks[] = { { .id = 0 },
					      { .id = 1, .n_frames = 1, .frames = frames } };
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	st.scene.meta.frames.data = &frame;
	st.scene.meta.stacks.data = stacks;
	st.scene.meta.frames.n = 1;
	st.scene.meta.stacks.n = 2;
	enter(&st.scene, t, 2, 0, 0x2000); /* a second thread calls it, so it may be a lock */
	leave(&st.scene, t + 510, 2, 0, 0x2000);
	for (unsigned i = 0; i < 4000; i++) {
		t = call_sampled(&st, t, 500 + 10 * (uint64_t)i, 1) + 1000;
	}
	b = finish(&st, t);
	assert_true(b->fit.fastest.r2 > 0.9);
	assert_int_equal(b->work.by, WORK_UNPROVEN);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	assert_string_equal(b->causes.data[0].kind, "lock");
	end(&st);
}

/* An argument that counts up, say a row's number: what grows with time follows it too. */
static void an_argument_that_counts_up_is_time(void **state)
{
	const struct coactive other = { .part = COACTIVE_INSIDE, .name = "g", .share = 0.9 };
	struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t d = 500 + 10 * (uint64_t)i;

		t = call_given(&st, t, d, i) + 100;
	}
	b = (struct block *)finish(&st, t);
	assert_true(b->fit.argument.in_time);
	assert_int_equal(b->work.by, WORK_ARGUMENT);
	*vec_add(&b->coactive) = other;
	assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
	assert_int_equal(work_part(b).by, WORK_UNPROVEN);
	b->fit.argument.in_time = false; /* sizes in no order */
	assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_ARGUMENT);
	end(&st);
}

/* Preempted for most of the time: no workload, but the part that the size explains is stated. */
static void what_size_explains_is_stated_beside_preemption(void **state)
{
	static const uint64_t sizes[] = { 16, 64, 256, 1024 };
	const struct cause *work = NULL;
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t size = sizes[below(&st, 4)], d = 500 + size * 20;

		enter(&st.scene, t, 1, 0, 0x1000);
		argument(&st, t, size);
		if (i % 10 == 9) {
			other(&st.scene, REC_SWITCH_OUT, t + 50, 1, 1, SWITCH_PREEMPTED, 99);
			other(&st.scene, REC_SWITCH_IN, t + 100050, 1, 1, 0, 0);
			d += 100000;
		}
		leave(&st.scene, t + d, 1, 0, 0x1000);
		t += d + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->verdict, VERDICT_WORKLOAD);
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, "workload"))
			work = c;
	assert_non_null(work);
	assert_true(work->share > 0.35 && work->share < 0.45);
	assert_true(fabs(work->share - work_part(b).share) < 0.01);
	assert_string_equal(b->causes.data[0].kind, "cpu-wait");
	end(&st);
}

/* A search in a list takes as long as the probe around it, whose time varies by as much: what the
 * argument makes of the fastest calls is work all the same, and as much as it is by hand. */
static void a_short_search_is_work(void **state)
{
	enum { NODES = 500, PROBE = 700, CALLS = 20000 };
	double by_hand = 0, excess = 0;
	const struct cause *work = NULL;
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin_calibrated(&st, PROBE, 300);
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t at = below(&st, NODES), more = below(&st, 3) ? below(&st, 1400) : 0;

		t = call_given(&st, t, PROBE + at + more, at) + 100;
		by_hand += (double)at;
		excess += (double)(at + more);
	}
	b = finish(&st, t);
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, "workload"))
			work = c;
	assert_non_null(work);
	assert_true(fabs(work->share - by_hand / excess) < 0.02);
	assert_true(b->fit.argument.ratio > 3);
	end(&st);
}

/* An empty function's calls follow nothing, however their probes vary. */
static void what_the_probe_hides_is_no_work(void **state)
{
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin_calibrated(&st, 700, 60);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t at = below(&st, 500);

		t = call_given(&st, t, 700 + at / 10 + below(&st, 200), at) + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->work.by, WORK_UNPROVEN);
	assert_int_equal(work_part(b).by, WORK_UNPROVEN);
	end(&st);
}

/* A list that grows: nobody else, no wait. */
static void growing_list_is_workload(void **state)
{
	const struct block *b;
	struct stage st;
	uint64_t t = 2000;

	begin(&st);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t d = 500 + 10 * (uint64_t)i;

		t = scene_call_of(&st.scene, t, 0, d) + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->work.by, WORK_CALL_INDEX);
	assert_int_equal(b->verdict, VERDICT_WORKLOAD);
	end(&st);
}

/*
 * Section 5.6.1 of the paper: a word that is in the sorted array already takes no time, a new one
 * moves what comes after its place. The fastest call of every stretch has nothing to do.
 */
static void insert_words(struct stage *st, bool sampled)
{
	uint64_t t = 2000;

	for (unsigned i = 0; i < 8000; i++) {
		uint64_t d = 500 + below(st, 20) + (below(st, 6) ? below(st, 20 + 2 * i) : 0);

		if (sampled)
			t = call_sampled(st, t, d, 0) + 100;
		else
			t = scene_call_of(&st->scene, t, 0, d) + 100;
	}
	finish(st, t);
}

static void half_of_the_calls_grow(void **state)
{
	struct coactive other = { .part = COACTIVE_INSIDE, .name = "g", .share = 0.9 };
	struct block *b;
	struct stage st;

	begin(&st);
	insert_words(&st, true);
	b = (struct block *)scene_block(&st.scene, "f");
	assert_false(workload_grows(&b->fit));
	assert_int_equal(b->work.by, WORK_CALL_INDEX);
	assert_true(b->work.median && b->work.share > 0.6 && b->work.share <= 1);
	assert_int_equal(b->verdict, VERDICT_WORKLOAD);
	assert_non_null(strstr(b->causes.data[0].evidence.data[0], "median calls grow"));
	/* with somebody else at work it may be his doing */
	*vec_add(&b->coactive) = other;
	assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
	assert_int_equal(work_part(b).by, WORK_UNPROVEN);
	end(&st);
	/* and without samples nobody knows that it does not spin */
	begin(&st);
	insert_words(&st, false);
	b = (struct block *)scene_block(&st.scene, "f");
	assert_true(b->fit.median.r2 > 0.95);
	assert_int_equal(b->work.by, WORK_UNPROVEN);
	assert_int_equal(b->verdict, VERDICT_CANNOT_TELL);
	end(&st);
}

/* The same where other programs have the CPU for most of the time: word_count on a busy machine. */
static void growth_is_found_on_a_busy_machine(void **state)
{
	const struct cause *work = NULL;
	const struct block *b;
	struct stage st;
	uint64_t t = 2000, wait_ns;

	begin(&st);
	for (unsigned i = 0; i < 8000; i++) {
		uint64_t d = 500 + below(&st, 20) + (below(&st, 6) ? below(&st, 20 + 2 * i) : 0);

		enter(&st.scene, t, 1, 0, 0x1000);
		if (!below(&st, 10))
			sample(&st, t + 100, 0);
		wait_ns = below(&st, 4) ? 0 : 50000;
		if (wait_ns) {
			other(&st.scene, REC_SWITCH_OUT, t + 200, 1, 1, SWITCH_PREEMPTED, 99);
			other(&st.scene, REC_SWITCH_IN, t + 200 + wait_ns, 1, 1, 0, 0);
		}
		leave(&st.scene, t + d + wait_ns, 1, 0, 0x1000);
		t += d + wait_ns + 100;
	}
	b = finish(&st, t);
	assert_int_equal(b->work.by, WORK_CALL_INDEX);
	assert_int_equal(b->verdict, VERDICT_WORKLOAD);
	assert_string_equal(b->causes.data[0].kind, "cpu-wait");
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, "workload"))
			work = c;
	assert_non_null(work);
	end(&st);
}

/* Half of the calls are slower in the second half of the run: a change of weather, no growth. */
static void a_step_is_no_growth(void **state)
{
	for (unsigned at = 250; at <= 7750; at += 250) {
		const struct block *b;
		struct stage st;
		uint64_t t = 2000;

		begin(&st);
		for (unsigned i = 0; i < 8000; i++) {
			bool hit = i > at && below(&st, 10) < 7;
			uint64_t d = 500 + below(&st, 50) + (hit ? 2000 : 0);

			t = call_sampled(&st, t, d, 0) + 100;
		}
		b = finish(&st, t);
		assert_int_equal(b->work.by, WORK_UNPROVEN);
		assert_int_equal(b->verdict, VERDICT_CANNOT_TELL);
		end(&st);
	}
}

/* Every other call finds nothing to do, as of a compressor that is asked until it has no more. */
static void some_calls_have_nothing_to_do(void **state)
{
	const struct coactive other = { .part = COACTIVE_INSIDE, .name = "g", .share = 0.9 };

	for (unsigned sampled = 0; sampled < 2; sampled++) {
		struct block *b, group;
		struct stage st;
		uint64_t t = 2000;

		begin(&st);
		for (unsigned i = 0; i < 8000; i++) {
			uint64_t d = 1000 + (i % 2 ? 20000 + below(&st, 40000) : below(&st, 50));

			if (sampled)
				t = call_sampled(&st, t, d, 0) + 100;
			else
				t = scene_call_of(&st.scene, t, 0, d) + 100;
		}
		b = (struct block *)finish(&st, t);
		assert_float_equal(b->coactive.others, 0, 0);
		/* without samples nobody knows that it does not spin */
		assert_int_equal(b->work.by, sampled ? WORK_UNDISTURBED : WORK_UNPROVEN);
		assert_int_equal(b->verdict, sampled ? VERDICT_WORKLOAD : VERDICT_CANNOT_TELL);
		if (sampled) {
			assert_non_null(strstr(b->causes.data[0].evidence.data[0],
					       "no other thread of the program ran"));
			/* a group of its calls has no samples of its own */
			group = *b;
			group.samples = (struct block_samples){ 0 };
			group.coactive.measured = false;
			assert_int_equal(work_proof(&group, &group, &st.scene.meta).by,
					 WORK_UNPROVEN);
			assert_int_equal(work_proof(&group, b, &st.scene.meta).by,
					 WORK_UNDISTURBED);
			/* beside others, who make no difference, it has to be more */
			b->coactive.others = 1;
			assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
			b->min_ns /= 2;
			assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNDISTURBED);
			b->samples.kernel_ns = b->samples.own_ns;
			assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
			b->samples.kernel_ns = 0;
			/* fast calls that were only summed up: who ran beside them is not known */
			((struct sci_function *)b->sums)->brief = 100;
			assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
			((struct sci_function *)b->sums)->brief = 0;
			*vec_add(&b->coactive) = other; /* but for these */
			assert_int_equal(work_proof(b, b, &st.scene.meta).by, WORK_UNPROVEN);
		}
		end(&st);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_explains),
		cmocka_unit_test(arguments_are_numbered_as_declared),
		cmocka_unit_test(other_argument_does_not),
		cmocka_unit_test(an_argument_that_counts_up_is_time),
		cmocka_unit_test(what_size_explains_is_stated_beside_preemption),
		cmocka_unit_test(a_short_search_is_work),
		cmocka_unit_test(what_the_probe_hides_is_no_work),
		cmocka_unit_test(growing_queue_is_interference),
		cmocka_unit_test(growing_spin_is_interference),
		cmocka_unit_test(growing_list_is_workload),
		cmocka_unit_test(half_of_the_calls_grow),
		cmocka_unit_test(growth_is_found_on_a_busy_machine),
		cmocka_unit_test(a_step_is_no_growth),
		cmocka_unit_test(some_calls_have_nothing_to_do),
	};

	return unit_run(tests);
}
