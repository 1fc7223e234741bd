/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/diff/diff.h"
#include "base/err.h"
#include "base/text.h"
#include "trace/fixture/fixture.h"

#define PAIRS	 20
#define CALLS	 1500
#define RUNS_MAX 5

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

/* What the machine makes of a program: how its calls spread, and how runs differ. */
struct world {
	const char *name;
	double (*tail)(void); /* of a call, in parts of the fastest */
	double cpu_wait[2];   /* part of the calls that wait for a CPU, before and after */
	double run_spread;    /* of the runs' own factors */
	double moods;	      /* that last for a hundred calls */
	bool by_clock;	      /* calls end when their time is over, on a CPU or not */
};

static double lognormal_tail(void)
{
	return 0.3 * exp(0.8 * normal());
}

/* The variance of these is infinite. */
static double heavy_tail(void)
{
	return 0.1 * (pow(uniform(), -1 / 1.5) - 1);
}

static double two_speeds(void)
{
	return uniform() < 0.3 ? 1.1 + 0.05 * uniform() : 0.05 * uniform();
}

static double hardly_any(void)
{
	return 0.002 * uniform();
}

static const struct world plain = { "moods", lognormal_tail, { 0 }, 0, 1, false };

static uint64_t put_call(struct text *t, uint64_t now, const char *name, double ns, double cpu_wait,
			 bool by_clock)
{
	text_printf(t, "%llu 0 7/7 entry %s\n", (unsigned long long)now, name);
	if (uniform() < cpu_wait) {
		text_printf(t, "%llu 0 7/7 switch-out preempted next=9/9\n",
			    (unsigned long long)now + 5);
		now += (uint64_t)(-4e6 * log(uniform()));
		text_printf(t, "%llu 0 7/7 switch-in\n", (unsigned long long)now + 5);
		ns = by_clock ? 0 : ns;
	}
	now += (uint64_t)ns + 10;
	text_printf(t, "%llu 0 7/7 exit %s\n", (unsigned long long)now, name);
	return now + 2000;
}

/* One run of a program that calls work and other. */
static void make_run(const char *path, const struct world *w, double factor, uint64_t fastest_ns,
		     double cpu_wait)
{
	struct text t = { 0 };
	struct err err = { 0 };
	double mood = 0, run = exp(w->run_spread * normal());
	uint64_t now = 1000000000;

	for (unsigned i = 0; i < CALLS; i++) {
		mood = 0.98 * mood + 0.02 * w->moods * normal();
		for (unsigned f = 0; f < 2; f++) {
			double ns = (double)fastest_ns * run * (1 + w->tail() * exp(mood));

			now = put_call(&t, now, f ? "other" : "work", f ? ns : ns * factor,
				       cpu_wait, w->by_clock);
		}
	}
	if (fixture_write_text(t.s, path, &err))
		fail_msg("%s", err.text);
	text_release(&t);
}

struct pair {
	char before[RUNS_MAX][40], after[RUNS_MAX][40];
};

static void name_pair(struct pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		snprintf(p->before[i], 40, "/tmp/ispot-diff-%d-b%zu", getpid(), i);
		snprintf(p->after[i], 40, "/tmp/ispot-diff-%d-a%zu", getpid(), i);
	}
}

static void make_pair(struct pair *p, const struct world *w, size_t n, double factor)
{
	name_pair(p, n);
	for (size_t i = 0; i < n; i++) {
		make_run(p->before[i], w, 1, 20000, w->cpu_wait[0]);
		make_run(p->after[i], w, factor, 20000, w->cpu_wait[1]);
	}
}

static void read_pair(struct diff *diff, const struct pair *p, size_t n)
{
	const char *before[RUNS_MAX] = { 0 }, *after[RUNS_MAX] = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		before[i] = p->before[i];
		after[i] = p->after[i];
	}
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

/* A change is larger than the noise beside it, which is of the same measure. */
static void assert_noise_is_smaller(const struct diff *diff)
{
	vec_for_each (&diff->blocks, const struct diff_block, b) {
		const struct diff_change *c = b->by_typical ? &b->typical
					      : b->by_whole ? &b->whole
							    : &b->mean;

		if (b->verdict > DIFF_FASTER)
			continue;
		if (!(b->noise < fabs(c->ratio)))
			fail_msg("%s changes by %g, the noise is %g", b->name, c->ratio, b->noise);
	}
}

/* Of PAIRS pairs: those that show any change, and those that show one of work. */
static unsigned changed_pairs(const struct world *w, double factor, size_t n, unsigned *of_work)
{
	unsigned any = 0;

	*of_work = 0;
	for (unsigned i = 0; i < PAIRS; i++) {
		struct diff diff;
		struct pair p;
		bool work, other;

		make_pair(&p, w, n, factor);
		read_pair(&diff, &p, n);
		assert_noise_is_smaller(&diff);
		work = block(&diff, "work")->verdict <= DIFF_FASTER;
		other = block(&diff, "other")->verdict <= DIFF_FASTER;
		*of_work += work;
		any += work || other;
		diff_release(&diff);
	}
	return any;
}

/* Equal runs show no change, a planted tenth is found, with n recordings a side. */
static void assert_told_apart(const struct world *w, size_t n)
{
	unsigned work, changed = changed_pairs(w, 1, n, &work);

	if (changed > 1)
		fail_msg("%s, %zu a side: %u of %d equal pairs show a change", w->name, n, changed,
			 PAIRS);
	changed_pairs(w, 1.1, n, &work);
	if (work < 18)
		fail_msg("%s, %zu a side: a tenth more is seen in %u of %d", w->name, n, work,
			 PAIRS);
}

static void changes_are_told_from_noise(void **unused)
{
	static const struct world worlds[] = {
		{ "hardly any noise", hardly_any, { 0 }, 0, 0, false },
		{ "heavy tails", heavy_tail, { 0 }, 0, 1, false },
		{ "two speeds", two_speeds, { 0 }, 0, 0, false },
	};
	unsigned work;

	(void)unused;
	assert_told_apart(&plain, 1);
	changed_pairs(&plain, 1 / 1.1, 1, &work);
	assert_in_range(work, 18, PAIRS);
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		assert_told_apart(&worlds[i], 1);
}

/* Other programs: waiting for a CPU makes calls of the same work many times as long. */
static void load_is_no_change(void **unused)
{
	static const struct world worlds[] = {
		{ "as loaded", lognormal_tail, { 0.03, 0.03 }, 0, 1, false },
		{ "more load later", lognormal_tail, { 0.01, 0.1 }, 0, 1, false },
		{ "less load later", hardly_any, { 0.1, 0.005 }, 0, 0, false },
		{ "by the clock", hardly_any, { 0.05, 0.08 }, 0, 0, true },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		assert_told_apart(&worlds[i], 1);
}

/*
 * Half of the calls queue for a lock, and wait a little for a CPU when they are woken: those are
 * not left out for that, else calls that never queued would be compared with such.
 */
static void make_queue(const char *path, uint64_t asleep_ns)
{
	struct text t = { 0 };
	struct err err = { 0 };
	uint64_t now = 1000000000;

	for (unsigned i = 0; i < CALLS; i++) {
		text_printf(&t, "%llu 0 7/7 entry work\n", (unsigned long long)now);
		if (i % 2) {
			now += 100;
			text_printf(&t, "%llu 0 7/7 switch-out sleeping\n",
				    (unsigned long long)now);
			now += (uint64_t)((double)asleep_ns * (0.8 + 0.4 * uniform()));
			text_printf(&t, "%llu 1 8/7 waking tid=7\n", (unsigned long long)now);
			now += 5000;
			text_printf(&t, "%llu 0 7/7 switch-in\n", (unsigned long long)now);
		}
		now += 600 + (uint64_t)(50 * uniform());
		text_printf(&t, "%llu 0 7/7 exit work\n", (unsigned long long)now);
		now += 2000;
	}
	if (fixture_write_text(t.s, path, &err))
		fail_msg("%s", err.text);
	text_release(&t);
}

static void shorter_queues_are_a_change(void **unused)
{
	struct diff diff;
	struct pair p;
	const struct diff_block *b;

	(void)unused;
	name_pair(&p, 1);
	make_queue(p.before[0], 60000);
	make_queue(p.after[0], 30000);
	read_pair(&diff, &p, 1);
	b = block(&diff, "work");
	assert_string_equal(diff_verdict_name(b->verdict), "faster");
	assert_true(b->mean.ratio < -0.35 && b->mean.ratio > -0.6);
	assert_true(b->mean.low >= -1);
	diff_release(&diff);
}

/* What one recording a side cannot know, three do, or five where there is more noise besides. */
static void runs_that_differ_as_a_whole(void **unused)
{
	static const struct world worlds[] = {
		{ "runs a hundredth apart", hardly_any, { 0 }, 0.01, 0, false },
		{ "and loaded", lognormal_tail, { 0.03, 0.03 }, 0.008, 1, false },
	};

	(void)unused;
	assert_told_apart(&worlds[0], 3);
	assert_told_apart(&worlds[1], 5);
}

/* With enough recordings the wait for a CPU counts too: it is known how much runs differ in it. */
static void waiting_for_a_cpu_is_told_by_several_runs(void **unused)
{
	static const struct world w = { "", hardly_any, { 0.2, 0.6 }, 0, 0, false };
	struct diff diff;
	struct pair p;
	const struct diff_block *b;

	(void)unused;
	make_pair(&p, &w, 5, 1);
	read_pair(&diff, &p, 5);
	b = block(&diff, "work");
	assert_int_equal(b->verdict, DIFF_SLOWER);
	assert_true(b->by_whole);
	assert_true(b->half[DIFF_AFTER].cpu_wait_ns > 2 * b->half[DIFF_BEFORE].cpu_wait_ns);
	assert_in_range(100 * b->half[DIFF_AFTER].seen_ns, 99 * b->half[DIFF_BEFORE].seen_ns,
			101 * b->half[DIFF_BEFORE].seen_ns);
	diff_release(&diff);
}

/* Runs that differ by several times: whether twice the work is a change cannot be told, and is not
 * said to be none. */
static void noise_that_hides_changes(void **unused)
{
	static const struct world w = { "", hardly_any, { 0 }, 1.5, 0, false };
	const struct diff_block *b;
	struct diff diff;
	struct pair p;

	(void)unused;
	make_pair(&p, &w, 3, 3);
	read_pair(&diff, &p, 3);
	b = block(&diff, "work");
	assert_true(b->noise > 0.5);
	assert_int_equal(b->verdict, DIFF_CANNOT_TELL);
	assert_false(diff_changed(b));
	diff_release(&diff);
}

/* Every call slower by the same: against its own fastest call each run would score alike. */
static void slowing_every_call_is_no_progress(void **unused)
{
	struct diff diff;
	struct pair p;
	const struct diff_block *b;

	(void)unused;
	make_pair(&p, &plain, 1, 1.5);
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
		cmocka_unit_test(changes_are_told_from_noise),
		cmocka_unit_test(load_is_no_change),
		cmocka_unit_test(runs_that_differ_as_a_whole),
		cmocka_unit_test(waiting_for_a_cpu_is_told_by_several_runs),
		cmocka_unit_test(noise_that_hides_changes),
		cmocka_unit_test(slowing_every_call_is_no_progress),
		cmocka_unit_test(unlike_sampling_is_refused),
		cmocka_unit_test(shorter_queues_are_a_change),
	};

	return unit_run(tests);
}
