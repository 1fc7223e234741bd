/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sequences repeat, how often, and how long each took. */
#include "unit.h"
#include "sequence_story.h"

static void paper_example(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	play(&s, 1, "a b c b d a b e a b c");
	read_all(&s);
	assert_int_equal(count(&s, "a b"), 3);
	assert_int_equal(count(&s, "a b c"), 2);
	/* from the first event to the last: two calls of 100 and 10 between them, three likewise */
	assert_int_equal(find(&s, "a b")->min_ns, 210);
	assert_int_equal(find(&s, "a b c")->max_ns, 320);
	/* besides these only the calls themselves */
	assert_int_equal(s.blocks.n, 5);
	end(&s);
}

/* The same on two threads at once: what one does between the calls of the other is not in it. */
static void threads_apart(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	for (int i = 0; i < 50; i++) {
		call(&s, 1, 0, 10);
		call(&s, 2, 2, 10);
		call(&s, 1, 1, 10);
		call(&s, 2, 3, 10);
	}
	read_all(&s);
	assert_int_equal(count(&s, "a b"), 50);
	assert_int_equal(count(&s, "c d"), 50);
	assert_int_equal(s.blocks.n, 6);
	end(&s);
}

static void nested(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	play(&s, 1, "f{g} f{g h} f{g} f{g h h h} f{g h h} f{} f{}");
	read_all(&s);
	assert_int_equal(count(&s, "f { g }"), 2);
	assert_int_equal(count(&s, "f { g h×n }"), 3);
	assert_int_equal(count(&s, "f"), 2);
	/* own fastest executions, though it is one function */
	assert_int_equal(find(&s, "f { g }")->min_ns, 100 + 10 + 100 + 10);
	assert_int_equal(find(&s, "f { g h×n }")->min_ns, 100 + 2 * 110 + 10);
	assert_int_equal(find(&s, "f")->min_ns, 110);
	assert_int_equal(count(&s, "g h×n"), 3);
	end(&s);
}

/* Every sequence of a call that holds itself is one, and inner ones do not count twice. */
static void recursion(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	play(&s, 1, "f{f{f{}}} f{f{f{}}}");
	read_all(&s);
	assert_int_equal(count(&s, "f { f }"), 4);
	assert_int_equal(find(&s, "f { f }")->sums->durations.count, 2);
	assert_int_equal(count(&s, "f"), 2);
	assert_int_equal(find(&s, "f")->sums->durations.count, 2);
	end(&s);
}

/* A loop is one sequence whatever the number of its iterations, once included. */
static void varying_loop(void **state)
{
	struct story s;
	unsigned iterations = 0;

	begin(&s, letters, 8);
	for (unsigned i = 0; i < 40; i++) {
		unsigned n = 1 + i * 7 % 20;

		play(&s, 1, "a");
		for (unsigned k = 0; k < n; k++)
			play(&s, 1, "b c");
		iterations += n;
		play(&s, 1, "d");
	}
	read_all(&s);
	assert_int_equal(count(&s, "b c"), iterations);
	assert_int_equal(count(&s, "a (b c)×n d"), 40);
	/* these and the four calls: no iteration became a sequence of its own */
	assert_int_equal(s.blocks.n, 6);
	end(&s);
}

/* A loop at the end of a row belongs to the row up to its last iteration. */
static void loop_at_end(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	play(&s, 1, "abcbc abcbcbc abc abcbc abcbcbcbc");
	read_all(&s);
	assert_int_equal(count(&s, "b c"), 12);
	assert_int_equal(count(&s, "a (b c)×n"), 5);
	assert_int_equal(find(&s, "a (b c)×n")->min_ns, 3 * 100 + 2 * 10);
	assert_int_equal(find(&s, "a (b c)×n")->max_ns, 9 * 100 + 8 * 10);
	assert_int_equal(find(&s, "b c")->max_ns, 210);
	end(&s);
}

/* What a loss parts is no sequence. */
static void loss_parts(void **state)
{
	struct story s;
	static const uint64_t lost[RECORD_VALUES_MIN] = { 5, 0 };
	const struct block *b;

	begin(&s, letters, 8);
	for (int i = 0; i < 10; i++) {
		play(&s, 1, "a");
		if (i == 5)
			*vec_add(&s.records) = (struct record){ .time_ns = s.now,
								.kind = REC_LOST,
								.cpu = 1,
								.n_values = 2,
								.values = lost };
		play(&s, 1, "b");
	}
	read_all(&s);
	b = find(&s, "a b");
	assert_non_null(b);
	assert_int_equal(b->calls, 9);
	end(&s);
}

static void switch_probes(struct story *s, uint32_t kind)
{
	static const uint64_t set[RECORD_VALUES_MIN] = { 1, 0 };

	note(s, kind, 0, 0, 0);
	vec_last(&s->records)->n_values = 2;
	vec_last(&s->records)->values = set;
}

/* What ran while the probes were out is in no row: the call behind does not follow the one before.
 */
static void bursts_part(void **state)
{
	struct story s;
	const struct block *b;

	begin(&s, letters, 8);
	for (int i = 0; i < 10; i++) {
		play(&s, 1, "a");
		if (i == 5) {
			switch_probes(&s, REC_SET_OFF);
			s.now += 1000000;
			switch_probes(&s, REC_SET_ON);
		}
		play(&s, 1, "b");
	}
	read_all(&s);
	b = find(&s, "a b");
	assert_non_null(b);
	assert_int_equal(b->calls, 9);
	assert_int_equal(b->max_ns, 210);
	end(&s);
}

static void calibrate(struct story *s, enum probe_class class, uint64_t full, uint64_t inner)
{
	*vec_add(&s->meta.calibrations) = (struct meta_calibration){
		.class = class,
		.exit = EXIT_RETURN,
		.threads = 1,
		.when = "before",
		.inner_min_ns = inner,
		.inner_p50_ns = inner,
		.inner_p99_ns = inner,
		.inner_mean_ns = (double)inner,
		.full_p50_ns = (double)full,
		.calls = 1000,
	};
}

/*
 * Calls that are faster than an empty one was when the cost was measured: that cost is not what
 * they took, and a row of them lasts longer than nothing.
 */
static void row_faster_than_calibrated(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	calibrate(&s, CLASS_NOP5, 800, 520);
	play(&s, 1, "a b c d a b e a b c");
	read_all(&s);
	/* of two calls of 100 and 10 between them only the first is certainly no probe's */
	assert_int_equal(find(&s, "a b")->min_ns, 100);
	assert_int_equal(find(&s, "a b c")->min_ns, 100);
	end(&s);
}

/* Of the cost beside calls that of the first is behind it, that of the last before it. */
static void row_of_unlike_probes(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	calibrate(&s, CLASS_NOP5, 60, 20);
	calibrate(&s, CLASS_SINGLE_STEP, 460, 20);
	s.meta.functions.data[1].class = CLASS_SINGLE_STEP;
	for (int i = 0; i < 2; i++) {
		call(&s, 1, 0, 30);
		s.now += 300;
		call(&s, 1, 1, 30);
		call(&s, 1, 2 + (uint32_t)i, 30);
	}
	read_all(&s);
	/* 370: less 20 inside of the second, less half of 40 and half of 440 between them */
	assert_int_equal(find(&s, "a b")->min_ns, 370 - 20 - 20 - 220);
	end(&s);
}

static void values(struct story *s, uint32_t kind, uint32_t tid, uint64_t v0, uint64_t v1)
{
	uint64_t *v = vec_add(&s->values)->v;

	v[0] = v0;
	v[1] = v1;
	note(s, kind, tid, 0, 0);
	vec_last(&s->records)->n_values = 2;
	vec_last(&s->records)->values = v;
}

/* The thread sleeps between two calls until another program wakes it. */
static void sleep_until_woken(struct story *s, uint32_t tid, uint64_t ns, uint32_t waker)
{
	values(s, REC_SWITCH_OUT, tid, SWITCH_SLEEPING, 0);
	values(s, REC_WAIT, tid, WAIT_PIPE, 1);
	s->now += ns;
	values(s, REC_WAKING, waker, tid, 0);
	s->now += 10;
	values(s, REC_SWITCH_IN, tid, 0, 0);
}

/*
 * A server: in each f a request is read, and its answer is written. In every fourth the thread
 * waits in between, for the outside (idle) or for another thread of the program (lost).
 */
static const struct block *waits_between(struct story *s, uint32_t waker)
{
	begin(s, letters, 8);
	vec_reserve(&s->values, 4 * 100);
	for (uint32_t i = 0; i < 400; i++) {
		note(s, REC_ENTRY, 1, 5, 0x2000);
		call(s, 1, 0, 100);
		if (i % 4 == 3)
			sleep_until_woken(s, 1, 100000, waker);
		call(s, 1, 1, 100);
		s->now += 10;
		note(s, REC_EXIT, 1, 5, 0x2000);
		call(s, 2, 2, 10);
	}
	read_all(s);
	return find(s, "a b");
}

static void idle_between_calls_is_not_lost(void **state)
{
	struct story s;
	const struct block *b;

	b = waits_between(&s, 0);
	assert_non_null(b);
	assert_int_equal(b->calls, 400);
	assert_int_equal(b->verdict, VERDICT_IDLE);
	assert_true(b->sci > 0.9);
	assert_true(b->lost_threads < 0.01);
	assert_true(b->idle_threads > 0.9);
	end(&s);
	b = waits_between(&s, 2);
	assert_int_equal(b->verdict, VERDICT_INTERFERENCE);
	assert_true(b->lost_threads > 0.9);
	/* what the row waited for between its calls is its cause */
	assert_string_equal(b->causes.data[0].kind, "pipe");
	assert_true(b->causes.data[0].share > 0.9);
	end(&s);
}

static double lost_ns(struct story *s, const char *name)
{
	return find(s, name)->lost_threads * (double)(s->now - 1000);
}

static double all_lost_ns(struct story *s)
{
	double sum = 0;

	vec_for_each (&s->blocks, const struct block, b)
		sum += b->lost_threads * (double)(s->now - 1000);
	return sum;
}

/* The lost time of a call is counted in the longest sequence that contains the call, and nowhere
 * else. */
static void lost_time_counts_once(void **state)
{
	static const struct sequence_loss losses[8] = { [1] = { 1, 100 }, [2] = { 0.5, 100 } };
	struct story s;

	begin(&s, letters, 8);
	s.losses = losses;
	for (int i = 0; i < 400; i++) {
		call(&s, 1, 0, 100);
		call(&s, 1, 1, i % 10 ? 100 : 20100);
		call(&s, 1, 2, i % 20 ? 100 : 10100);
	}
	read_all(&s);
	assert_int_equal(find(&s, "b")->verdict, VERDICT_INTERFERENCE);
	assert_float_equal(lost_ns(&s, "a b c"), 40 * 20000 + 20 * 10000 / 2, 1);
	assert_float_equal(all_lost_ns(&s), 40 * 20000 + 20 * 10000 / 2, 1);
	end(&s);
}

/* If that sequence occurs too seldom for a verdict, the lost time is counted in the sequences that
 * it consists of. */
static void seldom_sequences_own_nothing(void **state)
{
	static const struct sequence_loss losses[8] = { [1] = { 1, 100 } };
	struct story s;

	begin(&s, letters, 8);
	s.losses = losses;
	for (int i = 0; i < 40; i++) {
		call(&s, 1, 0, 100);
		for (int k = 0; k < 10 + i % 3; k++) {
			call(&s, 1, 1, k == i % 10 ? 20100 : 100);
			call(&s, 1, 2, 100);
		}
		call(&s, 1, 3, 100);
	}
	read_all(&s);
	assert_int_equal(find(&s, "a (b c)×n d")->verdict, VERDICT_TOO_FEW_CALLS);
	assert_float_equal(lost_ns(&s, "a (b c)×n d"), 0, 1);
	assert_float_equal(lost_ns(&s, "b c"), 40 * 20000, 1);
	assert_float_equal(all_lost_ns(&s), 40 * 20000, 1);
	end(&s);
}

/* Calls inside of a call are in another row of calls than the call itself. */
static void rows_inside_own_their_calls(void **state)
{
	static const struct sequence_loss losses[8] = { [5] = { 1, 100 }, [6] = { 1, 100 } };
	struct story s;

	begin(&s, letters, 8);
	s.losses = losses;
	for (int i = 0; i < 300; i++) {
		s.now += 10;
		note(&s, REC_ENTRY, 1, 5, 0x2000);
		s.now += i % 10 ? 90 : 8090;
		call(&s, 1, 6, i % 6 ? 100 : 12100);
		note(&s, REC_EXIT, 1, 5, 0x2000);
	}
	read_all(&s);
	assert_float_equal(lost_ns(&s, "g"), 50 * 12000, 1);
	assert_float_equal(lost_ns(&s, "f { g }"), 30 * 8000, 1);
	assert_float_equal(all_lost_ns(&s), 50 * 12000 + 30 * 8000, 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paper_example),
		cmocka_unit_test(threads_apart),
		cmocka_unit_test(nested),
		cmocka_unit_test(recursion),
		cmocka_unit_test(varying_loop),
		cmocka_unit_test(loop_at_end),
		cmocka_unit_test(loss_parts),
		cmocka_unit_test(bursts_part),
		cmocka_unit_test(row_faster_than_calibrated),
		cmocka_unit_test(row_of_unlike_probes),
		cmocka_unit_test(idle_between_calls_is_not_lost),
		cmocka_unit_test(lost_time_counts_once),
		cmocka_unit_test(seldom_sequences_own_nothing),
		cmocka_unit_test(rows_inside_own_their_calls),
	};

	return unit_run(tests);
}
