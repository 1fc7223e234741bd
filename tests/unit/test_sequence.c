/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sequences repeat, how often, and how long each took. */
#include "unit.h"

#include <stdio.h>

#include "scene.h"

#include "analysis/keyed.h"
#include "analysis/sequence.h"
#include "base/text.h"

#define FUNCTIONS 64

/* A recording in memory: read three times, as report reads a file. */
struct story {
	struct meta meta;
	struct {
		VEC(struct record)
	} records;
	struct {
		VEC(struct values { uint64_t v[RECORD_VALUES_MIN]; })
	} values; /* of records; room for all is made before the first */
	uint64_t now;
	char names[FUNCTIONS][16];
	struct calls calls;
	struct sequences sequences;
	struct keyed keyed;
	struct blocks blocks;
};

static void begin(struct story *s, const char *const *names, unsigned n)
{
	*s = (struct story){ .now = 1000 };
	s->meta.session.clock = "monotonic";
	for (unsigned i = 0; i < n; i++) {
		struct meta_function *f = vec_add(&s->meta.functions);

		snprintf(s->names[i], sizeof(s->names[i]), "%s", names ? names[i] : "");
		if (!names)
			snprintf(s->names[i], sizeof(s->names[i]), "f%u", i);
		*f = (struct meta_function){ .id = i, .set = 1, .name = s->names[i] };
		f->symbol = s->names[i];
		f->block = "function";
		f->object = UINT32_MAX;
		f->exit = EXIT_RETURN;
	}
}

static void note(struct story *s, uint32_t kind, uint32_t tid, uint32_t id, uint64_t sp)
{
	*vec_add(&s->records) = (struct record){ .time_ns = s->now,
						 .kind = kind,
						 .cpu = tid,
						 .tid = tid,
						 .tgid = 1,
						 .id = id,
						 .sp = sp };
}

static void call(struct story *s, uint32_t tid, uint32_t id, uint64_t ns)
{
	s->now += 10;
	note(s, REC_ENTRY, tid, id, 0x1000);
	s->now += ns;
	note(s, REC_EXIT, tid, id, 0x1000);
}

static void feed(struct story *s, const struct call_visitor *v)
{
	calls_init(&s->calls, &s->meta, 1000);
	calls_add_visitor(&s->calls, v);
	vec_for_each (&s->records, struct record, r)
		calls_record(&s->calls, r);
	calls_end(&s->calls, s->now);
}

static void read_all(struct story *s)
{
	struct block_options o = { .duration_ns = s->now - 1000, .period = 1 };
	struct keyed_rule rule;
	struct call_visitor v;

	sequences_init(&s->sequences, &s->meta);
	for (enum sequence_stage stage = SEQUENCE_LOOPS; stage < SEQUENCE_MEASURE; stage++) {
		sequences_begin(&s->sequences, stage, &s->calls, NULL);
		v = sequences_visitor(&s->sequences);
		feed(s, &v);
		calls_release(&s->calls);
	}
	rule = sequences_rule(&s->sequences);
	keyed_init(&s->keyed, &rule, &s->calls, &s->meta);
	sequences_begin(&s->sequences, SEQUENCE_MEASURE, &s->calls, &s->keyed);
	v = sequences_visitor(&s->sequences);
	feed(s, &v);
	keyed_build(&s->keyed, NULL, &o, &s->blocks);
	sequences_finish(&s->sequences, &s->blocks);
}

static void end(struct story *s)
{
	blocks_release(&s->blocks);
	keyed_release(&s->keyed);
	sequences_release(&s->sequences);
	calls_release(&s->calls);
	vec_release(&s->records);
	vec_release(&s->values);
	vec_release(&s->meta.calibrations);
	vec_release(&s->meta.functions);
}

static const struct block *find(const struct story *s, const char *name)
{
	vec_for_each (&s->blocks, const struct block, b)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

static uint64_t count(const struct story *s, const char *name)
{
	const struct block *b = find(s, name);

	return b ? b->calls : 0;
}

/* One call a letter, of the functions a to e; 'f' holds those in brackets after it. */
static void play(struct story *s, uint32_t tid, const char *text)
{
	uint64_t sp = 0x10000;
	char open[32];
	unsigned n = 0;

	for (; *text; text++) {
		s->now += *text == ' ' ? 0 : 10;
		if (*text == '}') {
			sp += 0x100;
			n--;
			note(s, REC_EXIT, tid, (uint32_t)(open[n] - 'a'), sp);
		} else if (*text != ' ') {
			note(s, REC_ENTRY, tid, (uint32_t)(*text - 'a'), sp);
			s->now += 100;
			if (text[1] == '{') {
				open[n++] = *text++;
				sp -= 0x100;
			} else {
				note(s, REC_EXIT, tid, (uint32_t)(*text - 'a'), sp);
			}
		}
	}
}

static const char *const letters[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

static void paper_example(void **state)
{
	struct story s;

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

/* ---- random nested loops, and what they must be found as ---- */

struct node {
	bool loop;
	uint32_t function; /* of a call */
	unsigned n;
	struct node *items[6];
	uint64_t iterations;
};

struct program {
	struct node nodes[128];
	unsigned n_nodes;
	uint32_t n_functions;
};

static uint64_t random_state;

static unsigned below(unsigned n)
{
	return (unsigned)(dice(&random_state) >> 11) % n;
}

static struct node *make_call(struct program *p)
{
	struct node *n = &p->nodes[p->n_nodes++];

	n->function = p->n_functions++;
	return n;
}

/* Calls, and in each loop but the innermost one or two loops at any place. */
static struct node *make_loop(struct program *p, unsigned depth)
{
	struct node *n = &p->nodes[p->n_nodes++];
	unsigned loops = depth < 3 ? 1 + below(2) : 0, calls = 2 + below(2);

	n->loop = true;
	while (loops + calls) {
		bool loop = below(loops + calls) < loops;

		if (loop && n->n && n->items[n->n - 1]->loop)
			loop = !calls;
		if (loop)
			loops--;
		else
			calls--;
		n->items[n->n++] = loop ? make_loop(p, depth + 1) : make_call(p);
	}
	return n;
}

struct row {
	VEC(uint32_t)
};

static void run_loop(struct node *n, struct row *out)
{
	for (unsigned times = 1 + below(20); times; times--) {
		n->iterations++;
		for (unsigned i = 0; i < n->n; i++)
			if (n->items[i]->loop)
				run_loop(n->items[i], out);
			else
				*vec_add(out) = n->items[i]->function;
	}
}

static void name_loop(const struct node *n, struct text *out)
{
	for (unsigned i = 0; i < n->n; i++) {
		text_add(out, i ? " " : "");
		if (!n->items[i]->loop) {
			text_printf(out, "f%u", n->items[i]->function);
			continue;
		}
		text_add(out, "(");
		name_loop(n->items[i], out);
		text_add(out, ")×n");
	}
}

static void check_loops(const struct story *s, const struct program *p, uint64_t seed)
{
	for (unsigned i = 0; i < p->n_nodes; i++) {
		const struct node *n = &p->nodes[i];
		struct text name = { 0 };

		if (!n->loop)
			continue;
		name_loop(n, &name);
		if (count(s, name.s) != n->iterations)
			fail_msg("seed %llu: '%s' ran %llu times, found %llu",
				 (unsigned long long)seed, name.s,
				 (unsigned long long)n->iterations,
				 (unsigned long long)count(s, name.s));
		text_release(&name);
	}
}

#define THREADS 8

static void random_program(uint64_t seed)
{
	struct program p = { 0 };
	struct row rows[THREADS] = { 0 };
	size_t at[THREADS] = { 0 };
	struct story s;
	struct node *main_loop;
	unsigned left = THREADS;

	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	main_loop = make_loop(&p, 1);
	for (unsigned t = 0; t < THREADS; t++)
		run_loop(main_loop, &rows[t]);
	begin(&s, NULL, p.n_functions);
	while (left) {
		unsigned t = below(THREADS);

		if (at[t] == rows[t].n)
			continue;
		call(&s, t + 1, rows[t].data[at[t]], 10 + below(5));
		left -= ++at[t] == rows[t].n;
	}
	read_all(&s);
	check_loops(&s, &p, seed);
	end(&s);
	for (unsigned t = 0; t < THREADS; t++)
		vec_release(&rows[t]);
}

static void random_programs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		random_program(seed);
}

/* Calls in no order: no sequence is worth more than its bound of memory. */
static void no_order(void **state)
{
	struct story s;

	(void)state;
	begin(&s, NULL, 50);
	random_state = 4711;
	for (int i = 0; i < 200000; i++)
		call(&s, 1, below(50), 10);
	read_all(&s);
	assert_true(s.sequences.patterns.all.n <= PATTERN_LOOPS + PATTERN_PAIRS);
	assert_true(s.keyed.groups.n <= KEYED_MAX + 50);
	assert_true(s.sequences.patterns.refused > 0);
	assert_int_equal(count(&s, "f7") > 1000, 1);
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
		cmocka_unit_test(random_programs),
		cmocka_unit_test(no_order),
		cmocka_unit_test(row_faster_than_calibrated),
		cmocka_unit_test(row_of_unlike_probes),
		cmocka_unit_test(idle_between_calls_is_not_lost),
	};

	return unit_run(tests);
}
