/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines, bounds, and what is kept of ever so many executions. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/outlier/behaviour.h"
#include "analysis/outlier/fit.h"
#include "analysis/outlier/outlier.h"
#include "analysis/result/result.h"
#include "base/err.h"
#include "base/text.h"
#include "trace/fixture/fixture.h"
#include "trace/read/reader.h"

#define MANY 1000000

static void judge_all(struct outliers *o, struct outlier_block *b, uint64_t n,
		      uint64_t (*ns_of)(uint64_t i), double jitter_ns)
{
	for (uint64_t i = 0; i < n; i++)
		outlier_fit_add(b, i, ns_of(i));
	b->begun = n;
	outlier_fit(b, o->rule, jitter_ns);
	for (uint64_t i = 0; i < n; i++) {
		struct outlier x = { .index = i, .duration_ns = ns_of(i) };

		outlier_judge(o, b, &x);
	}
}

static void release(struct outlier_block *b)
{
	hist_release(&b->durations);
	vec_release(&b->sample);
	vec_release(&b->kept);
	vec_release(&b->typical.callees);
}

static uint64_t growing_ns(uint64_t i)
{
	return 1000 + 3 * i;
}

/* What is on the line diverges by neither rule, however steep it is. */
static void test_line(void **state)
{
	for (int rule = OUTLIER_PAPER; rule <= OUTLIER_ROBUST; rule++) {
		struct outliers o = { .rule = rule };
		struct outlier_block b = { 0 };

		judge_all(&o, &b, 5000, growing_ns, 0);
		assert_in_range((uint64_t)(b.line.slope * 1000 + 0.5), 2999, 3001);
		assert_in_range((uint64_t)(b.line.intercept + 0.5), 999, 1001);
		assert_int_equal(b.divergent, 0);
		release(&b);
	}
}

/* 40 of 100 us, one of 1 s, among a thousand of 1 us. */
static uint64_t masked_ns(uint64_t i)
{
	return i == 500 ? 1000000000 : i % 25 == 24 ? 100000 : 1000 + i % 7;
}

static void test_one_hides_others(void **state)
{
	struct outliers paper = { .rule = OUTLIER_PAPER }, robust = { .rule = OUTLIER_ROBUST };
	struct outlier_block p = { 0 }, r = { 0 };

	judge_all(&paper, &p, 1000, masked_ns, 0);
	judge_all(&robust, &r, 1000, masked_ns, 0);
	assert_int_equal(p.divergent, 1);
	assert_int_equal(r.divergent, 41);
	assert_int_equal(r.divergent_ns, 1000000000 + 40 * 100000);
	release(&p);
	release(&r);
}

static uint64_t noisy_ns(uint64_t i)
{
	return 1000 + hash_u64(i) % 300;
}

/* What the probes themselves may add diverges by neither. */
static void test_jitter(void **state)
{
	for (int rule = OUTLIER_PAPER; rule <= OUTLIER_ROBUST; rule++) {
		struct outliers o = { .rule = rule };
		struct outlier_block b = { 0 };

		judge_all(&o, &b, 2000, noisy_ns, 400);
		assert_int_equal(b.divergent, 0);
		release(&b);
	}
}

static uint64_t rare_ns(uint64_t i)
{
	return i % 1000 == 999 ? 100000 + i : 1000 + hash_u64(i) % 50;
}

static void test_bounded(void **state)
{
	struct outliers o = { .rule = OUTLIER_ROBUST };
	struct outlier_block b = { 0 };
	uint64_t least = UINT64_MAX;

	judge_all(&o, &b, MANY, rare_ns, 0);
	assert_true(b.sample.n <= OUTLIER_SAMPLE && b.sample.n >= OUTLIER_SAMPLE / 4);
	assert_int_equal(b.divergent, MANY / 1000);
	assert_int_equal(b.kept.n, OUTLIER_KEPT);
	assert_int_equal(b.typical.n, MANY - MANY / 1000);
	vec_for_each (&b.kept, struct outlier, x)
		least = x->index < least ? x->index : least;
	/* later ones are longer: the last are kept, wherever they came in the heap */
	assert_int_equal(least, MANY - 1 - 1000 * (OUTLIER_KEPT - 1));
	release(&b);
}

static void test_few(void **state)
{
	for (uint64_t n = 0; n <= 2; n++) {
		struct outliers o = { .rule = OUTLIER_ROBUST };
		struct outlier_block b = { 0 };

		judge_all(&o, &b, n, growing_ns, 0);
		assert_int_equal(b.divergent, 0);
		assert_true(b.stddev_ns >= 0 && b.line.bound_ns >= 0);
		release(&b);
	}
}

/* A table that is made anew at 12, 24, 48, …, and others that the machine made a little longer. */
static uint64_t table_ns(uint64_t i)
{
	for (uint64_t at = 12; at <= i; at *= 2)
		if (i == at)
			return 2000 * i;
	return i == 45 || i == 88 || i == 185 ? 5000 : 1000 + i % 7;
}

/* stopped: all threads were, in those that diverge. */
static bool grows(uint64_t n, uint64_t (*ns)(uint64_t), size_t divergent, bool stopped)
{
	struct outliers o = { .rule = OUTLIER_ROBUST };
	struct outlier_block b = { .kind = BLOCK_LOCK };
	static char none[] = "";
	bool found = false;

	judge_all(&o, &b, n, ns, 0);
	assert_int_equal(b.kept.n, divergent);
	vec_for_each (&b.kept, struct outlier, x) {
		x->cause = stopped ? "pause" : "unknown";
		x->paused_ns = stopped ? x->duration_ns : 0;
		x->evidence = none;
	}
	outlier_find_behaviours(&o, &b);
	vec_for_each (&b.hints, struct outlier_hint, hint) {
		found |= hint->behaviour == 'C';
		free(hint->evidence);
	}
	vec_release(&b.hints);
	release(&b);
	return found;
}

static void test_growth_among_others(void **state)
{
	assert_true(grows(300, table_ns, 8, false));
	assert_false(grows(300, table_ns, 8, true));
}

/* The same on a machine that makes one execution in twelve a little longer: shorter ones than those
 * of the chain are no chains by chance. */
static uint64_t table_among_many_ns(uint64_t i)
{
	for (uint64_t at = 12; at <= i; at *= 2)
		if (i == at)
			return 200000 * i;
	return i % 12 == 7 ? 50000 + i : 1000 + i % 7;
}

static void test_growth_among_many(void **state)
{
	assert_true(grows(300, table_among_many_ns, 5 + 25, false));
}

/* Nine anywhere, as a busy machine makes them; the three that took most are nearly as far from each
 * other as in a structure that grows. */
static uint64_t anywhere_ns(uint64_t i)
{
	static const uint64_t few[][2] = {
		{ 10, 9 },     { 73, 11 },    { 5774, 12 },  { 11147, 60 }, { 14628, 20 },
		{ 15252, 70 }, { 18286, 22 }, { 19329, 50 }, { 22706, 25 },
	};

	for (size_t k = 0; k < sizeof(few) / sizeof(few[0]); k++)
		if (few[k][0] == i)
			return few[k][1] * 1000000;
	return 1000 + i % 7;
}

static void test_no_growth_by_chance(void **state)
{
	assert_false(grows(24000, anywhere_ns, 9, false));
}

/* A hundred calls of a Java method that take 100 ns, but for the first, which takes longer. Returns
 * the calls that are outliers because they waited for their monitor. */
static size_t n_contended(const char *before_first)
{
	char path[] = "/tmp/ispot-test-XXXXXX";
	struct result_options ro = { .to_ns = UINT64_MAX };
	struct outliers o = { 0 };
	struct trace_reader *reader = NULL;
	struct text t = { 0 };
	struct err err = { 0 };
	size_t divergent = 0, contended = 0;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path); /* the writer would keep an existing file as .old */
	text_printf(&t, "{\"kind\":\"session\",\"version\":1,\"producer\":\"java\"}\n%s",
		    before_first);
	for (unsigned i = 0; i < 100; i++) {
		unsigned start = i ? 100000 + i * 1000 : 0;

		text_printf(&t, "%u 0 1/1 entry get sp=0x7000\n", start);
		text_printf(&t, "%u 0 1/1 exit get sp=0x7000\n", start + (i ? 100 + i % 3 : 90000));
	}
	assert_int_equal(fixture_write_text(t.s, path, &err), 0);
	assert_int_equal(trace_reader_open(&reader, path, &err), 0);
	assert_int_equal(outliers_read(&o, reader, &ro, OUTLIER_ROBUST, &err), 0);
	vec_for_each (&o.blocks, const struct outlier_block, b)
		vec_for_each (&b->kept, const struct outlier, x) {
			divergent++;
			contended += x->contended;
		}
	assert_int_equal(divergent, 1);
	outliers_release(&o);
	trace_reader_free(reader);
	text_release(&t);
	unlink(path);
	return contended;
}

static void test_first_call_at_zero(void **state)
{
	assert_int_equal(n_contended(""), 0);
	assert_int_equal(n_contended("0 0 1/1 contended 80000\n"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_one_hides_others),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_growth_among_others),
		cmocka_unit_test(test_growth_among_many),
		cmocka_unit_test(test_no_growth_by_chance),
		cmocka_unit_test(test_first_call_at_zero),
	};

	return unit_run(tests);
}
