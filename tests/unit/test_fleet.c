/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "analysis/fleet/rows.h"
#include "analysis/fleet/crowd.h"
#include "analysis/fleet/simulate/simulate.h"
#include "analysis/fleet/simulate/world.h"
#include "base/err.h"
#include "base/text.h"
#include "trace/fleet/file.h"

#define BLOCKS 12
#define BUCKET 5000000000ull

static struct fleet_block blocks[BLOCKS];
static const struct fleet_header *header;
static struct machine *machines[2];
static struct world world;
static struct strtab trio_bases; /* every application */

/* Of two machines, alternating. */
static int make_blocks(void **state)
{
	world_init(&world, &(struct world_options){ 3, 30, 5, 2 });
	vec_for_each (&world.apps, const struct world_app, app)
		strtab_add(&trio_bases, app->name);
	for (uint32_t i = 0; i < 2; i++)
		machines[i] = machine_new(&world, 3, i, 8);
	header = machine_header(machines[0]);
	for (int i = 0; i < BLOCKS; i++)
		machine_block(machines[i % 2], &blocks[i]);
	return 0;
}

static int release_blocks(void **state)
{
	for (int i = 0; i < BLOCKS; i++)
		fleet_block_release(&blocks[i]);
	machine_free(machines[0]);
	machine_free(machines[1]);
	world_release(&world);
	strtab_release(&trio_bases);
	return 0;
}

static void a_block_survives_packing(void **state)
{
	struct text bytes = { 0 }, again = { 0 };
	struct fleet_block back = { 0 };

	fleet_block_pack(&blocks[0], 1, &bytes);
	fleet_block_begin(&back, blocks[0].sequence, blocks[0].start_ns);
	assert_int_equal(fleet_block_unpack(&back, 1, bytes.s, bytes.n), 0);
	assert_int_equal(back.samples.n, blocks[0].samples.n);
	assert_int_equal(back.runs.n, blocks[0].runs.n);
	for (size_t k = 0; k < back.samples.n; k++) {
		assert_int_equal(back.samples.data[k].end_ns, blocks[0].samples.data[k].end_ns);
		assert_int_equal(back.samples.data[k].value, blocks[0].samples.data[k].value);
	}
	fleet_block_pack(&back, 1, &again);
	assert_int_equal(again.n, bytes.n);
	assert_memory_equal(again.s, bytes.s, bytes.n);
	text_release(&again);
	text_release(&bytes);
	fleet_block_release(&back);
}

/* Whatever the bytes are, reading them ends, and a body that is cut off is none. */
static void a_damaged_block_is_refused(void **state)
{
	struct fleet_block back = { 0 };
	struct text bytes = { 0 };
	uint64_t seed = 1;

	fleet_block_pack(&blocks[0], 1, &bytes);
	for (size_t n = 0; n < bytes.n; n += 1 + n / 8) {
		fleet_block_begin(&back, 0, 0);
		assert_int_equal(fleet_block_unpack(&back, 1, bytes.s, n), -EBADMSG);
	}
	for (int round = 0; round < 300; round++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		bytes.s[(seed >> 33) % (round % 2 ? 400 : bytes.n)] ^= (char)(seed >> 20 | 1);
		fleet_block_begin(&back, 0, 0);
		fleet_block_unpack(&back, 1, bytes.s, bytes.n);
	}
	fleet_block_release(&back);
	text_release(&bytes);
}

static void names_cannot_steer_a_terminal(void **state)
{
	struct fleet_block b = { 0 }, back = { 0 };
	struct text bytes = { 0 };

	fleet_block_begin(&b, 0, 0);
	fleet_block_app(&b, "a\033[2J");
	fleet_block_pack(&b, 1, &bytes);
	fleet_block_begin(&back, 0, 0);
	assert_int_equal(fleet_block_unpack(&back, 1, bytes.s, bytes.n), 0);
	assert_string_equal(back.apps.strings[0], "a?[2J");
	fleet_block_release(&b);
	fleet_block_release(&back);
	text_release(&bytes);
}

/* ---- rows ---- */

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_wide(struct text *out, fleet_i128 v)
{
	text_printf(out, " %llx:%llx", (unsigned long long)((tally_u128)v >> 64),
		    (unsigned long long)v);
}

static void print_row(const struct fleet_rows *r, const struct fleet_row *row, struct text *out)
{
	const struct fleet_stratum *s = &r->strata.data[row->stratum];

	text_printf(out, "%s %s %s %s %s %llu %llu %llu %llu", strtab_get(&r->apps, row->base),
		    strtab_get(&r->apps, row->corunner), strtab_get(&r->apps, row->second),
		    corunner_class_names[row->class], strtab_get(&r->types, s->type),
		    (unsigned long long)s->bucket, (unsigned long long)row->tally.n,
		    (unsigned long long)row->tally.sum, (unsigned long long)row->contrast.blocks);
	print_wide(out, (fleet_i128)row->tally.squares);
	print_wide(out, row->contrast.w);
	print_wide(out, row->contrast.wd);
	print_wide(out, row->contrast.w2);
	print_wide(out, row->contrast.wd_w);
	print_wide(out, row->contrast.wd2);
	for (uint32_t i = 0; i < row->tally.room; i++)
		if (row->tally.counts[i])
			text_printf(out, " %u=%llu", row->tally.first + i,
				    (unsigned long long)row->tally.counts[i]);
}

/* Every row and every time, in the order of their names. */
static void print_rows(const struct fleet_rows *r, struct text *out)
{
	size_t n = r->rows.n + r->crowds.n;
	struct text *lines = calloc(n, sizeof(*lines));
	char **sorted = calloc(n, sizeof(*sorted));

	for (size_t i = 0; i < n; i++) {
		if (i < r->rows.n) {
			print_row(r, &r->rows.data[i], &lines[i]);
		} else {
			const struct fleet_crowd *c = &r->crowds.data[i - r->rows.n];

			text_printf(&lines[i], "crowd %llu %u %u %llu",
				    (unsigned long long)r->strata.data[c->stratum].bucket, c->kind,
				    c->number, (unsigned long long)c->ns);
		}
		sorted[i] = lines[i].s;
	}
	qsort(sorted, n, sizeof(*sorted), by_line);
	for (size_t i = 0; i < n; i++)
		text_printf(out, "%s\n", sorted[i]);
	for (size_t i = 0; i < n; i++)
		text_release(&lines[i]);
	free(lines);
	free(sorted);
}

static void add(struct fleet_rows *r, int block)
{
	const struct fleet_rows_options o = { BUCKET, &trio_bases, NULL };

	fleet_rows_add(r, &blocks[block], &header->topology, header->type, &o, NULL);
}

/* As the database does row by row. */
static uint32_t same_stratum(struct fleet_rows *r, const struct fleet_rows *more, uint32_t stratum)
{
	const struct fleet_stratum *s = &more->strata.data[stratum];

	return fleet_rows_stratum(r, strtab_add(&r->types, strtab_get(&more->types, s->type)),
				  s->bucket);
}

static void merge(struct fleet_rows *r, const struct fleet_rows *more)
{
	vec_for_each (&more->rows, const struct fleet_row, row) {
		uint32_t base = strtab_add(&r->apps, strtab_get(&more->apps, row->base));
		uint32_t corunner = strtab_add(&r->apps, strtab_get(&more->apps, row->corunner));
		uint32_t second = strtab_add(&r->apps, strtab_get(&more->apps, row->second));
		uint32_t stratum = same_stratum(r, more, row->stratum);
		struct fleet_row *into =
			row->class == CORUNNER_TRIO
				? fleet_rows_trio(r, base, corunner, second, stratum)
				: fleet_rows_get(r, base, corunner, row->class, stratum);

		tally_merge(&into->tally, &row->tally);
		fleet_contrast_merge(&into->contrast, &row->contrast);
	}
	vec_for_each (&more->crowds, const struct fleet_crowd, c)
		fleet_rows_crowd(r, same_stratum(r, more, c->stratum), c->kind, c->number, c->ns);
}

/* One after the other; then in parts, merged from the last to the first, two by two. */
static void any_tree_of_merges_gives_the_same_rows(void **state)
{
	static struct fleet_rows parts[8];
	struct fleet_rows all = { 0 };
	struct text whole = { 0 }, merged = { 0 };

	for (int i = 0; i < BLOCKS; i++)
		add(&all, i);
	print_rows(&all, &whole);
	assert_true(whole.n > 10000);
	for (int i = 0; i < BLOCKS; i++)
		add(&parts[i * 5 % 8], BLOCKS - 1 - i);
	for (int left = 8; left > 1; left = (left + 1) / 2)
		for (int i = 0; i < left / 2; i++) {
			merge(&parts[left - 1 - i], &parts[i]);
			fleet_rows_release(&parts[i]);
			parts[i] = parts[left - 1 - i];
			parts[left - 1 - i] = (struct fleet_rows){ 0 };
		}
	print_rows(&parts[0], &merged);
	assert_string_equal(merged.s, whole.s);
	fleet_rows_release(&parts[0]);
	fleet_rows_release(&all);
	text_release(&whole);
	text_release(&merged);
}

static void every_sample_counts_once(void **state)
{
	struct fleet_rows rows = { 0 };
	uint64_t samples = 0, counted = 0;

	for (int i = 0; i < BLOCKS; i++) {
		add(&rows, i);
		samples += blocks[i].samples.n;
	}
	vec_for_each (&rows.rows, const struct fleet_row, row)
		counted += row->class == CORUNNER_ALL ? row->tally.n : 0;
	assert_int_equal(counted, samples);
	fleet_rows_release(&rows);
}

static void add_crowd(void *ctx, uint32_t kind, uint32_t number, uint64_t ns)
{
	uint64_t(*sums)[3] = ctx;

	assert_in_range(number, 0, 2);
	sums[kind][number] += ns;
}

/* A's call lasts from 0 to 100, of which A has the CPU for 60, and B for 20 meanwhile. */
static void a_cpu_is_idle_while_a_call_sleeps(void **state)
{
	uint64_t sums[FLEET_CROWD_KINDS][3] = { 0 };
	struct fleet_block b = { 0 };
	uint32_t a, other;

	fleet_block_begin(&b, 0, 0);
	a = fleet_block_app(&b, "A");
	other = fleet_block_app(&b, "B");
	fleet_block_track(&b, 0);
	fleet_block_presence(&b, a, 0, 40);
	fleet_block_presence(&b, other, 40, 60);
	fleet_block_presence(&b, a, 80, 100);
	fleet_block_track(&b, 0);
	fleet_block_run(&b, a, 0);
	fleet_block_sample(&b, 100, 100);
	fleet_crowd_find(&b, add_crowd, sums);
	assert_int_equal(sums[FLEET_BUSY_CPUS][0], 20);
	assert_int_equal(sums[FLEET_BUSY_CPUS][1], 80);
	assert_int_equal(sums[FLEET_APPS][0], 20);
	assert_int_equal(sums[FLEET_APPS][1], 80);
	assert_int_equal(sums[FLEET_BUSY_CPUS][2] + sums[FLEET_APPS][2], 0);
	fleet_block_release(&b);
}

/* More applications and hours than one has, and times that differ by 2^48 buckets. */
static void rows_are_never_mistaken_for_others(void **state)
{
	const uint32_t big[] = { 0, 1, 16, 1u << 20, 1u << 24, UINT32_MAX };
	const uint64_t buckets[] = { 0, 1, 1ull << 48, UINT64_MAX };
	struct fleet_rows r = { 0 };
	size_t n = 0;

	for (int base = 0; base < 6; base++)
		for (int corunner = 0; corunner < 6; corunner++)
			for (int stratum = 0; stratum < 6; stratum++)
				for (int i = 0; i < CORUNNER_CLASSES; i++) {
					fleet_rows_get(&r, big[base], big[corunner], i,
						       big[stratum]);
					assert_int_equal(r.rows.n, ++n);
				}
	fleet_rows_get(&r, big[3], big[4], CORUNNER_CORE, big[5]);
	assert_int_equal(r.rows.n, n);
	for (uint32_t type = 0; type < 3; type++)
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(fleet_rows_stratum(&r, type, buckets[i]), type * 4 + i);
	assert_int_equal(fleet_rows_stratum(&r, 1, buckets[2]), 6);
	fleet_rows_release(&r);
}

/* ---- what no writer makes ---- */

static int unpack(uint64_t start_ns, const struct text *body)
{
	struct fleet_block b = { 0 };
	int rc;

	fleet_block_begin(&b, 0, start_ns);
	rc = fleet_block_unpack(&b, 1, body->s, body->n);
	if (!rc)
		assert_true(b.tracks.n <= FLEET_BLOCK_TRACKS);
	fleet_block_release(&b);
	return rc;
}

static void pack_n(struct text *out, uint64_t n)
{
	for (; n > 127; n >>= 7)
		text_addn(out, &(char){ (char)(n | 128) }, 1);
	text_addn(out, &(char){ (char)n }, 1);
}

/* n tracks of CPUs in turn, each with a run without samples, or with one: of length 1. */
static void tracks_of(struct text *out, uint32_t n, uint32_t runs, uint32_t samples)
{
	out->n = 0;
	pack_n(out, 1);
	pack_n(out, 1);
	text_add(out, "a");
	pack_n(out, n);
	for (uint32_t i = 0; i < n; i++) {
		pack_n(out, i % 64);
		pack_n(out, runs);
		for (uint32_t j = 0; j < runs; j++) {
			pack_n(out, 0);
			pack_n(out, 1);
			pack_n(out, samples);
			pack_n(out, 1);
			if (samples)
				pack_n(out, 1);
		}
	}
}

/* Whatever is in a block of some MB, it is analysed in seconds or refused. */
static void blocks_that_would_take_hours_are_refused(void **state)
{
	struct text body = { 0 };

	tracks_of(&body, 500, 2, 1);
	assert_int_equal(unpack(0, &body), 0);
	assert_int_equal(unpack(UINT64_MAX, &body), -EBADMSG);
	assert_int_equal(unpack(UINT64_MAX - 5, &body), -EBADMSG);
	tracks_of(&body, 1000000, 0, 0); /* nothing at all */
	assert_int_equal(unpack(0, &body), 0);
	tracks_of(&body, 500000, 1, 0);
	assert_int_equal(unpack(0, &body), -EBADMSG);
	tracks_of(&body, 60000, 10, 1);
	assert_int_equal(unpack(0, &body), -EBADMSG);
	text_release(&body);
}

/* What a reader takes for damage is not written. */
static void a_block_that_is_too_large_is_not_written(void **state)
{
	struct fleet_writer w;
	struct fleet_block b = { 0 };
	struct err err = { 0 };

	assert_int_equal(fleet_writer_open(&w, "/dev/null", header, &err), 0);
	assert_int_equal(fleet_writer_block(&w, &blocks[0], &err), 0);
	fleet_block_begin(&b, 0, 0);
	fleet_block_track(&b, 0);
	fleet_block_run(&b, fleet_block_app(&b, "a"), 0);
	for (int i = 0; i < 600000; i++)
		fleet_block_sample(&b, 1u << 30, 1u << 30);
	assert_int_equal(fleet_writer_block(&w, &b, &err), -EFBIG);
	assert_non_null(strstr(err.text, "shorter"));
	assert_int_equal(fleet_writer_close(&w, &err), 0);
	fleet_block_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_survives_packing),
		cmocka_unit_test(a_damaged_block_is_refused),
		cmocka_unit_test(names_cannot_steer_a_terminal),
		cmocka_unit_test(any_tree_of_merges_gives_the_same_rows),
		cmocka_unit_test(every_sample_counts_once),
		cmocka_unit_test(a_cpu_is_idle_while_a_call_sleeps),
		cmocka_unit_test(rows_are_never_mistaken_for_others),
		cmocka_unit_test(blocks_that_would_take_hours_are_refused),
		cmocka_unit_test(a_block_that_is_too_large_is_not_written),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_blocks, release_blocks);
}
