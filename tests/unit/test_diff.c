/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/diff.h"
#include "base/err.h"
#include "base/text.h"
#include "trace/fixture.h"

#define PAIRS 20
#define CALLS 1500

static uint64_t state = 1;

/* In (0, 1). */
static double uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* One run of a program that calls work and other: durations with a tail, and moods of the machine
 * that last for a hundred calls. */
static void make_run(const char *path, double factor, uint64_t fastest_ns)
{
	struct text t = { 0 };
	struct err err = { 0 };
	double mood = 0;
	uint64_t now = 1000000000;

	for (unsigned i = 0; i < CALLS; i++) {
		double d[2];

		mood = 0.98 * mood + 0.02 * normal();
		for (unsigned f = 0; f < 2; f++) {
			d[f] = (double)fastest_ns * (1 + 0.3 * exp(0.8 * normal() + mood));
			d[f] *= f ? 1 : factor;
			text_printf(&t, "%llu 0 7/7 entry %s\n", (unsigned long long)now,
				    f ? "other" : "work");
			now += (uint64_t)d[f];
			text_printf(&t, "%llu 0 7/7 exit %s\n", (unsigned long long)now,
				    f ? "other" : "work");
			now += 2000;
		}
	}
	if (fixture_write_text(t.s, path, &err))
		fail_msg("%s", err.text);
	text_release(&t);
}

struct pair {
	char before[2][40], after[2][40];
};

static void make_pair(struct pair *p, size_t n, double factor)
{
	for (size_t i = 0; i < n; i++) {
		snprintf(p->before[i], 40, "/tmp/ispot-diff-%d-b%zu", getpid(), i);
		snprintf(p->after[i], 40, "/tmp/ispot-diff-%d-a%zu", getpid(), i);
		make_run(p->before[i], 1, 20000);
		make_run(p->after[i], factor, 20000);
	}
}

static void read_pair(struct diff *diff, const struct pair *p, size_t n)
{
	const char *before[2] = { p->before[0], p->before[1] };
	const char *after[2] = { p->after[0], p->after[1] };
	struct err err = { 0 };

	if (diff_read(diff, before, n, after, n, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		unlink(p->before[i]);
		unlink(p->after[i]);
	}
}

static const struct diff_block *block(const struct diff *diff, const char *name)
{
	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (!strcmp(b->name, name))
			return b;
	fail_msg("no block %s", name);
	return NULL;
}

/* Of PAIRS pairs: those that show any change, and those that show one of work. */
static unsigned changed_pairs(double factor, size_t n, unsigned *of_work)
{
	unsigned any = 0;

	*of_work = 0;
	for (unsigned i = 0; i < PAIRS; i++) {
		struct diff diff;
		struct pair p;
		bool work, other;

		make_pair(&p, n, factor);
		read_pair(&diff, &p, n);
		work = block(&diff, "work")->verdict <= DIFF_FASTER;
		other = block(&diff, "other")->verdict <= DIFF_FASTER;
		*of_work += work;
		any += work || other;
		diff_release(&diff);
	}
	return any;
}

static void equal_runs_show_no_change(void **unused)
{
	unsigned work;

	(void)unused;
	assert_in_range(changed_pairs(1, 1, &work), 0, 1);
	assert_in_range(changed_pairs(1, 2, &work), 0, 1);
}

static void a_planted_tenth_is_found(void **unused)
{
	unsigned work;

	(void)unused;
	changed_pairs(1.1, 1, &work);
	assert_in_range(work, 18, PAIRS);
	changed_pairs(1 / 1.1, 1, &work);
	assert_in_range(work, 18, PAIRS);
}

/* Every call slower by the same: against its own fastest call each run would score alike. */
static void slowing_every_call_is_no_progress(void **unused)
{
	struct diff diff;
	struct pair p;
	const struct diff_block *b;

	(void)unused;
	make_pair(&p, 1, 1.5);
	read_pair(&diff, &p, 1);
	b = block(&diff, "work");
	assert_int_equal(b->verdict, DIFF_SLOWER);
	assert_int_equal(b->min_ns, b->half[DIFF_BEFORE].min_ns);
	assert_true(b->half[DIFF_AFTER].sci > b->half[DIFF_BEFORE].sci + 0.1);
	assert_true(diff_growth(b) > 0.1);
	assert_ptr_equal(b, diff.blocks.data);
	diff_release(&diff);
}

static void unlike_sampling_is_refused(void **unused)
{
	static const char sampled[] =
		"{\"kind\":\"session\",\"version\":1,\"period\":10,\"start_ns\":1}\n"
		"1us 0 7/7 entry f\n2us 0 7/7 exit f\n";
	static const char all[] = "1us 0 7/7 entry f\n2us 0 7/7 exit f\n";
	const char *before[] = { "/tmp/ispot-diff-s" }, *after[] = { "/tmp/ispot-diff-t" };
	struct err err = { 0 };
	struct diff diff;

	(void)unused;
	assert_int_equal(fixture_write_text(sampled, before[0], &err), 0);
	assert_int_equal(fixture_write_text(all, after[0], &err), 0);
	assert_int_not_equal(diff_read(&diff, before, 1, after, 1, &err), 0);
	assert_non_null(strstr(err.text, "one call in 10"));
	diff_release(&diff);
	unlink(before[0]);
	unlink(after[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_runs_show_no_change),
		cmocka_unit_test(a_planted_tenth_is_found),
		cmocka_unit_test(slowing_every_call_is_no_progress),
		cmocka_unit_test(unlike_sampling_is_refused),
	};

	return unit_run(tests);
}
