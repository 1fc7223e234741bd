/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made-up recordings whose scores are known in closed form. */
#include "unit.h"
#include "score_scene.h"

#include "analysis/calls/shape.h"

static void close_to(double got, double exact)
{
	assert_true(fabs(got - exact) <= 1e-9 * fabs(exact) + 1e-15);
}

/* What the test computes beside ispot, with nothing but the definitions. */
struct expected {
	uint64_t n, sum, min;
};

static void note(struct expected *e, uint64_t ns)
{
	e->sum += ns;
	if (!e->n++ || ns < e->min)
		e->min = ns;
}

static double excess(const struct expected *e)
{
	return (double)e->sum - (double)e->n * (double)e->min;
}

/* One call of outer: work, inner, work. Returns its end. */
static uint64_t nest(struct scene *s, uint32_t tid, uint64_t t, struct expected e[3])
{
	uint64_t a = 100 + scene_below(s, 50), b = 200 + scene_below(s, 1000),
		 c = 10 + scene_below(s, 5);

	enter(s, t, tid, OUTER, 0x1000);
	enter(s, t + a, tid, INNER, 0xf00);
	leave(s, t + a + b, tid, INNER, 0xf00);
	leave(s, t + a + b + c, tid, OUTER, 0x1000);
	note(&e[0], a + b + c);
	note(&e[1], b);
	note(&e[2], a + c);
	return t + a + b + c;
}

/* Threads run one after the other in the stream: the pairing must not care. */
static void threads_and_nesting(void **state)
{
	struct expected e[3] = { { 0 } };
	struct scene s;
	uint64_t end = 0;
	double observed = 0;

	begin(&s);
	scene_start(&s, 1000);
	for (uint32_t tid = 1; tid <= 7; tid++) {
		uint64_t t = 1000;

		for (unsigned i = 0; i < 5000 + tid; i++)
			t = nest(&s, tid, t, e) + 13;
		other(&s, REC_TASK_EXIT, t, tid, tid, 0, 0);
		observed += (double)(t - 1000);
		end = t > end ? t : end;
	}
	scene_finish(&s, end);
	close_to(scene_block(&s, "outer")->sci, excess(&e[0]) / observed);
	close_to(scene_block(&s, "inner")->sci, excess(&e[1]) / observed);
	close_to(scene_block(&s, "outer")->self_sci, excess(&e[2]) / observed);
	close_to(scene_block(&s, "inner")->lost_threads, excess(&e[1]) / (double)(end - 1000));
	assert_int_equal(scene_block(&s, "outer")->calls, e[0].n);
	assert_int_equal(scene_block(&s, "outer")->total_ns, e[0].sum);
	assert_int_equal(scene_block(&s, "outer")->min_ns, e[0].min);
	assert_int_equal(scene_block(&s, "outer")->threads, 7);
	scene_release(&s);
}

/* Every 100th call is hit by a loss: it goes untimed, and so does the time until its thread is seen
 * again. */
static void loss_takes_its_calls_and_its_time(void **state)
{
	struct expected e[3] = { { 0 } }, lost[3] = { { 0 } };
	struct scene s;
	uint64_t t = 1000, gone = 0;

	begin(&s);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 5000; i++) {
		if (i % 100 == 99) {
			enter(&s, t, 1, OUTER, 0x1000);
			other(&s, REC_LOST, t + 700, 1, 0, 3, t + 50);
			leave(&s, t + 900, 1, OUTER, 0x1000);
			gone += 850;
			t += 1000;
			lost[0].n++;
		}
		t = nest(&s, 1, t, e) + 13;
	}
	scene_finish(&s, t);
	close_to(scene_block(&s, "outer")->sci, excess(&e[0]) / (double)(t - 1000 - gone));
	assert_int_equal(scene_block(&s, "outer")->untimed_calls, lost[0].n);
	assert_int_equal(scene_block(&s, "outer")->timed_calls, 5000);
	assert_int_equal(scene_block(&s, "outer")->lost_records, 3 * lost[0].n);
	scene_release(&s);
}

/* A thread that stays in its 1001st call to the end loses that time less a fastest call. */
static void an_open_call_is_a_lower_bound(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 1000; i++, t += 100) {
		scene_call_of(&s, t, OUTER, 10);
	}
	enter(&s, t, 1, OUTER, 0x1000);
	enter(&s, t + 50, 1, INNER, 0xf00);
	scene_finish(&s, t + 1000000);
	close_to(scene_block(&s, "outer")->sci, (1000000.0 - 10) / (1000 * 100 + 1000000));
	assert_int_equal(scene_block(&s, "outer")->open_ns, 1000000 - 10);
	close_to(scene_block(&s, "outer")->self_sci, (50.0 - 10) / (1000 * 100 + 1000000));
	scene_release(&s);
}

/* A call that was open when the fastest was not known yet counts the same. */
static void open_before_the_first_timed_call(void **state)
{
	struct scene s;
	uint64_t t = 2000;

	begin(&s);
	scene_start(&s, 1000);
	enter(&s, 1000, 2, OUTER, 0x1000);
	other(&s, REC_TASK_EXIT, 1500, 2, 2, 0, 0);
	for (unsigned i = 0; i < 100; i++, t += 100) {
		scene_call_of(&s, t, OUTER, 10);
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->open_ns, 490);
	assert_int_equal(scene_block(&s, "outer")->excess_ns, 490);
	scene_release(&s);
}

/* One call in ten is recorded: the excess is blown up by what the counts say was left out. */
static void sampling_scales_the_excess(void **state)
{
	struct expected e = { 0 };
	struct scene s;
	uint64_t t = 1000;

	begin_sampled(&s, 10);
	for (unsigned i = 0; i < 1000; i++, t += 20000) {
		uint64_t d = 100 + scene_below(&s, 1000);

		scene_call_of(&s, t, OUTER, d);
		note(&e, d);
	}
	other(&s, REC_CALL_COUNT, t, 1, 1, OUTER, 9123);
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->estimated_calls, 10123);
	close_to(scene_block(&s, "outer")->sci,
		 excess(&e) / (double)e.n * 10123 / (double)(t - 1000));
	assert_true(scene_block(&s, "outer")->sci_low < scene_block(&s, "outer")->sci);
	assert_true(scene_block(&s, "outer")->sci_high > scene_block(&s, "outer")->sci);
	scene_release(&s);
}

/* What a sample waited stands for what all waited: idle is not lost, lost is not running. */
static void sampling_scales_what_was_waited(void **state)
{
	const struct block *b;
	struct scene s;
	uint64_t t = 1000;

	begin_sampled(&s, 10);
	for (unsigned i = 0; i < 1000; i++, t += 200000) {
		unsigned id = i % 2 ? OUTER : BUSY;
		bool sleeps = i % 4 > 1;

		enter(&s, t, 1, id, 0x1000);
		if (sleeps) {
			other(&s, REC_SWITCH_OUT, t + 10, 1, 1, SWITCH_SLEEPING, 0);
			/* OUTER is woken by a thread of the program, BUSY from outside */
			other(&s, REC_WAKING, t + 10000, 2, id == OUTER ? 2 : 0, 1, 0);
			other(&s, REC_SWITCH_IN, t + 10000, 1, 1, 0, 0);
		}
		leave(&s, t + (sleeps ? 10020 : 20), 1, id, 0x1000);
	}
	scene_finish(&s, t);
	b = scene_block(&s, "outer");
	assert_true(b->sci > 0.1);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	assert_true(b->pools[POOL_BLOCKED] > 0.99 * (double)b->excess_ns);
	assert_true(b->lost_threads > 0.1);
	b = scene_block(&s, "busy");
	assert_int_equal(b->verdict, VERDICT_IDLE);
	assert_true(b->lost_threads < 0.001);
	assert_true(b->idle_threads > 0.1);
	scene_release(&s);
}

static void count_left_out(struct scene *s, uint64_t time, uint64_t calls, uint64_t outer)
{
	uint64_t values[RECORD_VALUES_MIN] = { OUTER, calls, outer };
	struct record r = { .time_ns = time,
			    .kind = REC_CALL_COUNT,
			    .cpu = 1,
			    .tid = 1,
			    .tgid = 1,
			    .n_values = 3,
			    .values = values };

	calls_record(&s->calls, &r);
}

/* A recursion of ten calls of which one is recorded, now the outermost, now an inner one. */
static void sampled_recursion(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin_sampled(&s, 10);
	for (unsigned i = 0; i < 1000; i++, t += 5000) {
		unsigned depth = i % 10;
		uint64_t d = 100 + 10 * (10 - depth) + (i / 10 % 2 && !depth ? 1000 : 0);

		if (depth)
			other(&s, REC_INNER, t, 1, 1, 0, 0);
		enter(&s, t, 1, OUTER, 0x1000 - 16 * depth);
		leave(&s, t + d, 1, OUTER, 0x1000 - 16 * depth);
	}
	count_left_out(&s, t, 9000, 900);
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->estimated_calls, 10000);
	assert_int_equal(scene_block(&s, "outer")->min_ns, 200);
	close_to(scene_block(&s, "outer")->sci, 50.0 * 1000 * 10 / (double)(t - 1000));
	scene_release(&s);
}

/* One call of 500 took half of the time: the others cannot have, too. */
static void no_estimate_beyond_the_time_there_was(void **state)
{
	const struct block *b;
	struct scene s;
	uint64_t t = 1000;

	begin_sampled(&s, 100);
	for (unsigned i = 0; i < 500; i++, t += 1000) {
		enter(&s, t, 1, OUTER, 0x1000);
		t += i == 250 ? 500000 : 0;
		leave(&s, t + 10, 1, OUTER, 0x1000);
	}
	count_left_out(&s, t, 49500, 49500);
	scene_finish(&s, t);
	b = scene_block(&s, "outer");
	assert_true(isnan(b->sci) && isnan(b->lost_threads) && isnan(b->self_sci));
	assert_true(b->sci_low >= 0 && b->sci_low < 0.1);
	assert_true(b->sci_high == 1);
	assert_int_equal(b->verdict, VERDICT_CANNOT_TELL);
	scene_release(&s);
}

/* Two paths of constant but different length: by path nothing is lost. */
static void paths_have_their_own_minimum(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 1000; i++, t += 3000) {
		enter(&s, t, 1, OUTER, 0x1000);
		if (i % 2) {
			enter(&s, t + 10, 1, INNER, 0xf00);
			leave(&s, t + 510, 1, INNER, 0xf00);
		}
		leave(&s, t + (i % 2 ? 520 : 20), 1, OUTER, 0x1000);
	}
	scene_finish(&s, t);
	close_to(scene_block(&s, "outer")->sci, 500.0 * 500 / 3000000);
	assert_int_equal(scene_block(&s, "outer")->shapes, 2);
	assert_true(fabs(scene_block(&s, "outer")->sci_by_shape) < 1e-12);
	scene_release(&s);
}

/* The same callees in another order, or one inside the other, are another path. */
static void order_and_nesting_make_paths(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 400; i++, t += 3000) {
		uint32_t first = i % 2 ? INNER : BUSY, second = i % 2 ? BUSY : INNER;
		bool nested = i / 2 % 2;

		enter(&s, t, 1, OUTER, 0x1000);
		enter(&s, t + 10, 1, first, 0xf00);
		if (!nested)
			leave(&s, t + 20, 1, first, 0xf00);
		enter(&s, t + 30, 1, second, nested ? 0xe00 : 0xf00);
		leave(&s, t + 40, 1, second, nested ? 0xe00 : 0xf00);
		if (nested)
			leave(&s, t + 50, 1, first, 0xf00);
		leave(&s, t + 60, 1, OUTER, 0x1000);
	}
	scene_finish(&s, t);
	assert_int_equal(scene_block(&s, "outer")->shapes, 4);
	scene_release(&s);
}

/* A sleep is the innermost call's own; a call at the same depth that has no callee comes next. */
static void sleeps_are_of_the_call_they_are_in(void **state)
{
	const struct sci_function *outer, *inner;
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 100; i++, t += 3000) {
		enter(&s, t, 1, OUTER, 0x1000);
		if (i % 2)
			enter(&s, t + 10, 1, INNER, 0xf00);
		if (i % 4 < 3) {
			other(&s, REC_SWITCH_OUT, t + 20, 1, 1, SWITCH_SLEEPING, 0);
			other(&s, REC_SWITCH_IN, t + (i % 2 ? 320 : 220), 1, 1, 0, 0);
		}
		if (i % 2)
			leave(&s, t + 330, 1, INNER, 0xf00);
		leave(&s, t + 340, 1, OUTER, 0x1000);
	}
	scene_finish(&s, t);
	outer = scene_block(&s, "outer")->sums;
	inner = scene_block(&s, "inner")->sums;
	assert_int_equal(offcpu_ns(&inner->own_off), 25 * 300);
	assert_int_equal(offcpu_ns(&outer->off), 25 * 300 + 50 * 200);
	assert_int_equal(offcpu_ns(&outer->own_off), 50 * 200);
	assert_int_equal(outer->own_off.sleeps, 50);
	scene_release(&s);
}

/* Time that a loss took from the thread is not taken again as without the function's probes. */
static void lost_while_the_probes_were_out(void **state)
{
	struct scene s;
	uint64_t t = 1000;

	begin(&s);
	*vec_add(&s.meta.not_traced) =
		(struct meta_not_traced){ .name = "busy", .object = "", .traced_until_ns = 101000 };
	scene_start(&s, 1000);
	for (unsigned i = 0; i < 200; i++, t += 1000) {
		if (i < 100) {
			enter(&s, t, 1, BUSY, 0x1000);
			leave(&s, t + 100 + (i ? 100 : 0), 1, BUSY, 0x1000);
		}
		other(&s, REC_LOST, t + 700, 1, 0, 3, t + 300);
		other(&s, REC_SWITCH_IN, t + 900, 1, 1, 0, 0);
	}
	scene_finish(&s, t);
	assert_true(fabs(scene_block(&s, "busy")->sci - 9900.0 / 40000) < 1e-3);
	vec_release(&s.meta.not_traced);
	scene_release(&s);
}

/* Probes that came on late: the time before does not count. */
static void a_set_that_came_late(void **state)
{
	struct scene s;

	begin(&s);
	scene_start(&s, 1000);
	other(&s, REC_SWITCH_IN, 1500, 1, 1, 0, 0);
	other(&s, REC_SET_ON, 11000, 0, 0, 1, 0);
	for (uint64_t i = 0; i < 100; i++) {
		enter(&s, 11000 + 100 * i, 1, BUSY, 0x1000);
		leave(&s, 11010 + 100 * i + (i ? 10 : 0), 1, BUSY, 0x1000);
	}
	scene_finish(&s, 21000);
	close_to(scene_block(&s, "busy")->sci, 990.0 / 10000);
	scene_release(&s);
}

/* Callees whose ids fall on each other, and more of them than are told apart. */
static void callees_are_told_apart(void **state)
{
	struct sci sci = { 0 };
	struct sci_function *caller;
	uint64_t further = 0;

	for (uint32_t round = 1; round <= 3; round++)
		for (uint32_t i = 0; i < SCI_EDGES_MAX + 4; i++) {
			struct call c = { .id = 5 + i / 2 * SCI_EDGE_SLOTS + i % 2,
					  .duration_ns = 1000 * round + i };

			sci_add_edge(&sci, 3, &c);
			further += i < SCI_EDGES_MAX ? 0 : c.duration_ns;
		}
	caller = sci_function(&sci, 3);
	assert_int_equal(caller->n_edges, SCI_EDGES_MAX);
	for (uint32_t i = 0; i < SCI_EDGES_MAX; i++) {
		const struct sci_edge *e = &caller->edges[1 + i];

		assert_int_equal(e->id, 5 + i / 2 * SCI_EDGE_SLOTS + i % 2);
		assert_int_equal(e->calls, 3);
		assert_int_equal(e->min_ns, 1000 + i);
		assert_int_equal(e->ns, 6000 + 3 * i);
	}
	assert_int_equal(caller->edges[0].calls, 3 * 4);
	assert_int_equal(caller->edges[0].ns, further);
	sci_release(&sci);
}

/* The same of paths; the fastest of the further ones is one for all. */
static void paths_beyond_those_told_apart(void **state)
{
	static struct shapes s;
	const uint32_t n = SHAPES_MAX + 3;

	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < n; i++)
			shapes_add(&s, 7 + i / 2 * SHAPE_SLOTS + i % 2, 100 * (i + 1) + 10 * round);
	assert_int_equal(s.n, SHAPES_MAX);
	for (uint64_t i = 0; i < SHAPES_MAX; i++) {
		assert_int_equal(s.rows[1 + i].hash, 7 + i / 2 * SHAPE_SLOTS + i % 2);
		assert_int_equal(s.rows[1 + i].calls, 2);
		assert_int_equal(s.rows[1 + i].min_ns, 100 * (i + 1));
	}
	assert_int_equal(s.rows[0].calls, 2 * 3);
	assert_int_equal(s.rows[0].min_ns, 100 * (SHAPES_MAX + 1));
	/* 10 of each second call; of the three in one row 100 and 200 more, twice, too */
	close_to(shapes_excess_ns(&s), SHAPES_MAX * 10 + 3 * 10 + 2 * 300);
}

static uint64_t call_outer(struct scene *s, uint64_t t, uint64_t ns, uint64_t without_cpu_ns)
{
	enter(s, t, 1, OUTER, 0x1000);
	if (without_cpu_ns)
		preempt(s, t + ns / 2, without_cpu_ns);
	leave(s, t + ns + without_cpu_ns, 1, OUTER, 0x1000);
	return t + ns + without_cpu_ns + 10;
}

/*
 * All calls take 400 ns, those in the window of --solo 100: these are the fastest, and in no sum.
 * One there that was interrupted is in neither; nor is one that the window's end is in. A call that
 * is much longer than the window is one of the others.
 */
static void undisturbed_calls_are_the_fastest(void **state)
{
	struct meta_solo window = { .begin_ns = 100000, .end_ns = 110000 };
	struct expected e = { 0 };
	const struct block *b;
	struct scene s;
	uint64_t t = 1000;

	(void)state;
	begin(&s);
	*vec_add(&s.meta.solos) = window;
	scene_start(&s, 1000);
	preempt(&s, t, 1);
	for (t = 1010; t < 99000; note(&e, 400))
		t = call_outer(&s, t, 400, 0);
	t = call_outer(&s, 100010, 90, 2000);
	for (unsigned i = 0; i < 40; i++)
		t = call_outer(&s, t, 100, 0);
	call_outer(&s, 109000, 1100, 0);
	for (t = 110200; t < 150000; note(&e, 400))
		t = call_outer(&s, t, 400, 0);
	scene_finish(&s, t);
	b = scene_block(&s, "outer");
	assert_int_equal(b->calls, e.n + 42);
	assert_int_equal(b->timed_calls, e.n);
	assert_int_equal(b->untimed_calls, 0);
	assert_int_equal(b->min_ns, 100);
	assert_int_equal(b->p50_ns, 400);
	assert_int_equal(b->solo.calls, 40);
	assert_int_equal(b->solo.min_without_ns, 400);
	assert_true(b->solo.is_fastest);
	close_to(b->sci, 300 * (double)e.n / (double)b->observed_ns);
	close_to(b->solo.sci_without, 0);
	assert_string_equal(b->causes.data[0].kind, "concurrency");
	assert_true(b->causes.data[0].share > 0.99);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	vec_release(&s.meta.solos);
	scene_release(&s);
}

/* Alone it takes as long: then it is no other thread that makes calls differ. */
static void undisturbed_calls_that_differ_as_well(void **state)
{
	struct meta_solo window = { .begin_ns = 100000, .end_ns = 150000 };
	const struct block *b;
	struct scene s;
	uint64_t t = 1010;

	(void)state;
	begin(&s);
	*vec_add(&s.meta.solos) = window;
	scene_start(&s, 1000);
	for (unsigned i = 0; t < 250000; i++)
		t = call_outer(&s, t, i % 2 ? 100 : 400, 0);
	scene_finish(&s, t);
	b = scene_block(&s, "outer");
	assert_true(b->solo.calls > SOLO_CALLS_MIN);
	assert_false(b->solo.is_fastest);
	close_to(b->solo.sci_without, b->sci);
	vec_for_each (&b->causes, const struct cause, c)
		assert_string_not_equal(c->kind, "concurrency");
	vec_release(&s.meta.solos);
	scene_release(&s);
}

static void a_long_call_is_not_of_a_window(void **state)
{
	struct meta_solo window = { .begin_ns = 5000, .end_ns = 6000 };
	struct call call = { .entry_ns = 1000, .raw_ns = 10000, .duration_ns = 10000 };
	struct meta meta = { 0 };
	struct solo_sums s;

	(void)state;
	*vec_add(&meta.solos) = window;
	solo_init(&s);
	assert_true(solo_is_outside(&s, &meta, &call));
	call.raw_ns = 4000; /* it ends as the window begins */
	assert_true(solo_is_outside(&s, &meta, &call));
	call = (struct call){ .entry_ns = 5900, .raw_ns = 200, .duration_ns = 200 };
	assert_false(solo_is_outside(&s, &meta, &call));
	assert_int_equal(s.left_out, 1);
	assert_int_equal(s.calls, 0);
	call.entry_ns = 5800;
	assert_false(solo_is_outside(&s, &meta, &call));
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.min_ns, 200);
	vec_release(&meta.solos);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_nesting),
		cmocka_unit_test(loss_takes_its_calls_and_its_time),
		cmocka_unit_test(an_open_call_is_a_lower_bound),
		cmocka_unit_test(open_before_the_first_timed_call),
		cmocka_unit_test(sampling_scales_the_excess),
		cmocka_unit_test(sampling_scales_what_was_waited),
		cmocka_unit_test(sampled_recursion),
		cmocka_unit_test(no_estimate_beyond_the_time_there_was),
		cmocka_unit_test(paths_have_their_own_minimum),
		cmocka_unit_test(order_and_nesting_make_paths),
		cmocka_unit_test(sleeps_are_of_the_call_they_are_in),
		cmocka_unit_test(lost_while_the_probes_were_out),
		cmocka_unit_test(a_set_that_came_late),
		cmocka_unit_test(callees_are_told_apart),
		cmocka_unit_test(paths_beyond_those_told_apart),
		cmocka_unit_test(undisturbed_calls_are_the_fastest),
		cmocka_unit_test(undisturbed_calls_that_differ_as_well),
		cmocka_unit_test(a_long_call_is_not_of_a_window),
	};

	return unit_run(tests);
}
