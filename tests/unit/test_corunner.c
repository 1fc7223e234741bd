/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "analysis/fleet/corunner.h"
#include "base/text.h"
#include "trace/fleet/topology.h"
#include "trace/fleet/block.h"

static struct topology topology = {
	.n = 8,
	/* core, cache, socket: two threads a core, two cores a cache, and a second socket */
	.cpus = { { 0, 0, 0 },
		  { 0, 0, 0 },
		  { 1, 0, 0 },
		  { 1, 0, 0 },
		  { 2, 1, 0 },
		  { 2, 1, 0 },
		  { 3, 2, 1 },
		  { 3, 2, 1 } },
};

/* "A 0 10 14": samples of A that end at 10 and 14, the first begins at 0. */
static void run(struct fleet_block *b, const char *text)
{
	uint64_t at_ns;
	char app[2] = "";
	int n = 0;

	sscanf(text, "%1s %lu%n", app, &at_ns, &n);
	fleet_block_run(b, fleet_block_app(b, app), at_ns);
	for (uint64_t end_ns; sscanf(text += n, "%lu%n", &end_ns, &n) == 1; at_ns = end_ns)
		fleet_block_sample(b, end_ns - at_ns, 1);
}

/* Appends "A1:B " for each sample of A beside which B ran; the samples of a run count from 1. */
struct seen {
	const struct fleet_block *block;
	struct text text;
	bool classes;
};

static void see(void *ctx, const struct fleet_run *base, enum corunner_class class, uint32_t app,
		uint32_t first, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = first; i < first + n; i++)
		text_printf(&s->text, "%s%u:%s%s%s ", s->block->apps.strings[base->app],
			    i - base->first + 1, s->block->apps.strings[app], s->classes ? "/" : "",
			    s->classes ? corunner_class_names[class] : "");
}

/* Releases the block. */
static void expect(struct fleet_block *b, bool classes, const char *table, uint64_t alone)
{
	struct seen s = { .block = b, .classes = classes };
	struct corunners c = { 0 };

	corunners_find(&c, b, &topology, see, &s);
	assert_string_equal(s.text.s ? s.text.s : "", table);
	assert_int_equal(c.alone[0], alone);
	corunners_release(&c);
	text_release(&s.text);
	fleet_block_release(b);
}

static void there(struct fleet_block *b, const char *app, uint64_t from_ns, uint64_t to_ns)
{
	fleet_block_presence(b, fleet_block_app(b, app), from_ns, to_ns);
}

/* A block, at the track of CPU 0. */
static struct fleet_block begin(void)
{
	struct fleet_block b = { 0 };

	fleet_block_begin(&b, 0, 0);
	fleet_block_track(&b, 0);
	return b;
}

/*
 * As the paper's figure 4 is described: two samples of B together ran as long as A1, so it has them
 * as co-runners; C1 is longer than what ran beside it, and has none.
 */
static void figure_4(void **state)
{
	struct fleet_block b = begin();

	run(&b, "A 0 10 14");
	run(&b, "C 14 40");
	fleet_block_track(&b, 2);
	run(&b, "B 0 6 12 20");
	run(&b, "D 20 30");
	run(&b, "E 30 45");
	expect(&b, false, "A1:B A2:B B1:A B2:A D1:C ", 3);
}

static void a_gap_ends_a_corunner(void **state)
{
	struct fleet_block b = begin();

	run(&b, "A 0 10 20 30");
	fleet_block_track(&b, 2);
	run(&b, "B 0 12");
	run(&b, "B 13 30");
	expect(&b, false, "A1:B A3:B B1:A B1:A ", 1);
}

static void the_class_is_what_two_cpus_share(void **state)
{
	struct fleet_block b = begin();

	run(&b, "A 2 4");
	for (uint32_t cpu = 1; cpu < 8; cpu++) {
		fleet_block_track(&b, cpu);
		there(&b, cpu < 6 ? "B" : "C", 0, 9);
	}
	expect(&b, true, "A1:B/core A1:B/cache A1:B/socket A1:C/other ", 0);
}

static void several_cpus_of_one_application_count_once(void **state)
{
	struct fleet_block b = begin();

	run(&b, "A 0 2 4 6 8");
	fleet_block_track(&b, 2);
	there(&b, "B", 0, 5);
	fleet_block_track(&b, 3);
	there(&b, "B", 1, 9);
	expect(&b, true, "A1:B/cache A2:B/cache A3:B/cache A4:B/cache ", 0);
}

/* On one CPU: who had it for most of what the sample had not; the application itself does not
 * count.
 */
static void turns_on_one_cpu(void **state)
{
	struct fleet_block b = begin();

	run(&b, "A 0 10 20 30 40");
	fleet_block_track(&b, 0);
	there(&b, "A", 0, 12);
	there(&b, "B", 12, 15);
	there(&b, "C", 15, 16);
	there(&b, "A", 16, 31);
	there(&b, "B", 31, 34);
	there(&b, "C", 35, 38);
	/* neither of the two in A4 had most of it */
	expect(&b, true, "A2:B/cpu ", 3);
}

/* Every pair of samples and runs, one by one. */
static bool ran_beside(const struct fleet_block *b, uint32_t cpu, uint64_t start_ns,
		       uint64_t end_ns, uint32_t app)
{
	vec_for_each (&b->tracks, const struct fleet_track, t)
		for (uint32_t i = t->first_run; i < t->first_run + t->n_runs; i++)
			if (t->cpu != cpu && b->runs.data[i].app == app &&
			    b->runs.data[i].start_ns <= start_ns &&
			    b->runs.data[i].end_ns >= end_ns)
				return true;
	return false;
}

static uint64_t count_slowly(const struct fleet_block *b)
{
	uint64_t n = 0;

	vec_for_each (&b->tracks, const struct fleet_track, t)
		for (uint32_t i = t->first_run; i < t->first_run + t->n_runs; i++) {
			const struct fleet_run *r = &b->runs.data[i];

			for (uint32_t s = r->first; s < r->first + r->n; s++)
				for (uint32_t app = 0; app < b->apps.n; app++)
					n += ran_beside(b, t->cpu, fleet_sample_start(b, r, s),
							b->samples.data[s].end_ns, app);
		}
	return n;
}

static void count(void *ctx, const struct fleet_run *base, enum corunner_class class, uint32_t app,
		  uint32_t first, uint32_t n)
{
	(void)base;
	(void)class;
	(void)app;
	(void)first;
	*(uint64_t *)ctx += n;
}

static uint32_t roll(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % n;
}

static void the_sweep_finds_what_looking_at_all_finds(void **state)
{
	static struct topology flat = {
		.n = 4, .cpus = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } }
	};
	struct fleet_block b = { 0 };
	struct corunners c = { 0 };
	uint64_t seed = 5;

	for (int round = 0; round < 50; round++) {
		uint64_t found = 0;

		fleet_block_begin(&b, 0, 0);
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			uint64_t at_ns = 0;

			fleet_block_track(&b, cpu);
			while (at_ns < 500) {
				char app[2] = { (char)('A' + roll(&seed, 3)), 0 };

				at_ns += roll(&seed, 3) ? 0 : roll(&seed, 20);
				fleet_block_run(&b, fleet_block_app(&b, app), at_ns);
				for (uint32_t n = 1 + roll(&seed, 9); n; n--)
					fleet_block_sample(&b, 1 + roll(&seed, 12), 1);
				at_ns = vec_last(&b.runs)->end_ns;
			}
		}
		corunners_find(&c, &b, &flat, count, &found);
		assert_int_equal(found, count_slowly(&b));
	}
	corunners_release(&c);
	fleet_block_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_4),
		cmocka_unit_test(a_gap_ends_a_corunner),
		cmocka_unit_test(the_class_is_what_two_cpus_share),
		cmocka_unit_test(several_cpus_of_one_application_count_once),
		cmocka_unit_test(turns_on_one_cpu),
		cmocka_unit_test(the_sweep_finds_what_looking_at_all_finds),
	};

	return unit_run(tests);
}
