/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, blocks and rows of several indicators. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/fleet/crowd.h"
#include "analysis/fleet/rows.h"
#include "base/crc.h"
#include "base/err.h"
#include "base/text.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"
#include "trace/fleet/topology.h"

#define BUCKET 3600000000000ull

static const struct topology two = { 2, { { 0, 0, 0 }, { 1, 0, 0 } } };
static const uint32_t both[FLEET_INDICATORS] = { 0,
						 1,
						 FLEET_LEFT_OUT,
						 FLEET_LEFT_OUT,
						 FLEET_LEFT_OUT,
						 FLEET_LEFT_OUT,
						 FLEET_LEFT_OUT,
						 FLEET_LEFT_OUT };

/* Eight samples of "a" on CPU 0, by each indicator; "b" is on CPU 1 during the latter four, with
 * these values of a. */
static void make_block(struct fleet_block *b, uint64_t sequence, const uint32_t *alone,
		       const uint32_t *beside, uint32_t indicators)
{
	fleet_block_begin(b, sequence, 1000);
	for (uint32_t i = 0; i < indicators; i++) {
		fleet_block_track_of(b, 0, i);
		fleet_block_run(b, fleet_block_app(b, "a"), 1000);
		for (int k = 0; k < 8; k++)
			fleet_block_sample(b, 100, k < 4 ? alone[i] : beside[i]);
	}
	fleet_block_track(b, 0);
	fleet_block_presence(b, 0, 1000, 1800);
	fleet_block_track(b, 1);
	fleet_block_presence(b, fleet_block_app(b, "b"), 1400, 1800);
}

static uint64_t add(struct fleet_rows *r, const struct fleet_block *b, const uint32_t *indicators,
		    struct fleet_counts *counts)
{
	const struct fleet_rows_options o = { BUCKET, NULL, indicators };

	return fleet_rows_add(r, b, &two, "t", &o, counts);
}

/* Of the pair of a and b. */
static const struct fleet_row *pair_of(struct fleet_rows *r, uint32_t indicator)
{
	uint32_t stratum = fleet_rows_stratum_of(r, indicator, 0, 0);

	return fleet_rows_get(r, strtab_find(&r->apps, "a"), strtab_find(&r->apps, "b"),
			      CORUNNER_CACHE, stratum);
}

static void each_indicator_has_rows_of_its_own(void **state)
{
	struct fleet_block b = { 0 };
	struct fleet_rows r = { 0 };
	struct fleet_counts counts = { 0 };

	make_block(&b, 0, (uint32_t[]){ 1000, 50 }, (uint32_t[]){ 500, 200 }, 2);
	assert_int_equal(add(&r, &b, both, &counts), 4);
	assert_int_equal(counts.samples[0], 8);
	assert_int_equal(counts.samples[1], 8);
	assert_int_equal(counts.alone[1], 4);
	assert_int_equal(pair_of(&r, 0)->tally.n, 4);
	assert_int_equal(pair_of(&r, 0)->tally.sum, 4 * 500);
	assert_int_equal(pair_of(&r, 1)->tally.n, 4);
	assert_int_equal(pair_of(&r, 1)->tally.sum, 4 * 200);
	assert_true(pair_of(&r, 0)->contrast.wd < 0);
	assert_true(pair_of(&r, 1)->contrast.wd > 0);
	fleet_rows_release(&r);
	fleet_block_release(&b);
}

static void what_is_left_out_changes_nothing(void **state)
{
	struct fleet_block one = { 0 }, several = { 0 };
	struct fleet_rows r = { 0 }, only = { 0 };

	make_block(&one, 0, (uint32_t[]){ 1000 }, (uint32_t[]){ 500 }, 1);
	make_block(&several, 0, (uint32_t[]){ 1000, 50 }, (uint32_t[]){ 500, 200 }, 2);
	assert_int_equal(add(&only, &one, NULL, NULL), 4);
	assert_int_equal(add(&r, &several, NULL, NULL), 4);
	assert_int_equal(r.rows.n, only.rows.n);
	assert_int_equal(r.matches.n, 0);
	assert_int_equal(r.crowds.n, only.crowds.n);
	for (size_t i = 0; i < r.crowds.n; i++)
		assert_int_equal(r.crowds.data[i].ns, only.crowds.data[i].ns);
	assert_int_equal(pair_of(&r, 0)->tally.sum, pair_of(&only, 0)->tally.sum);
	fleet_rows_release(&r);
	fleet_rows_release(&only);
	fleet_block_release(&one);
	fleet_block_release(&several);
}

/* Without presences, samples tell who had a CPU; those of two indicators are no two applications.
 */
static void samples_of_two_indicators_tell_of_one_cpu(void **state)
{
	struct fleet_crowd_summary busy;
	struct fleet_block b = { 0 };
	struct fleet_rows r = { 0 };

	fleet_block_begin(&b, 0, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		fleet_block_track_of(&b, 0, 1 - i);
		fleet_block_run(&b, fleet_block_app(&b, "a"), 1000);
		fleet_block_sample(&b, 100, 7);
	}
	assert_int_equal(fleet_block_tellers(&b, NULL), 1);
	add(&r, &b, both, NULL);
	busy = fleet_crowd_sum(&r, FLEET_BUSY_CPUS);
	assert_int_equal(busy.most, 1);
	assert_int_equal(busy.ns, 100);
	fleet_rows_release(&r);
	fleet_block_release(&b);
}

/* Both contrasts of a block: in blocks where one is deeper, the other is higher. */
static void single_occurrences_are_matched(void **state)
{
	static const uint32_t beside[][2] = { { 500, 200 }, { 700, 120 }, { 900, 60 } };
	struct fleet_block b = { 0 };
	struct fleet_rows r = { 0 };
	const struct fleet_match *m;
	double xy;

	for (uint64_t i = 0; i < 3; i++) {
		make_block(&b, i, (uint32_t[]){ 1000, 50 }, beside[i], 2);
		add(&r, &b, both, NULL);
	}
	/* A block that has the pair by one of them is no occurrence of both. */
	make_block(&b, 3, (uint32_t[]){ 1000 }, (uint32_t[]){ 10 }, 1);
	add(&r, &b, both, NULL);
	assert_int_equal(r.matches.n, 1);
	m = &r.matches.data[0];
	assert_int_equal(m->blocks, 3);
	assert_ptr_equal(&r.rows.data[m->row], pair_of(&r, 0));
	assert_ptr_equal(&r.rows.data[m->other], pair_of(&r, 1));
	assert_int_equal(pair_of(&r, 0)->contrast.blocks, 4);
	assert_true(m->wx < 0 && m->wy > 0);
	xy = (double)m->wxy / (double)m->w -
	     (double)m->wx / (double)m->w * ((double)m->wy / (double)m->w);
	assert_true(xy < 0);
	fleet_rows_release(&r);
	fleet_block_release(&b);
}

/* ---- as bytes ---- */

static void blocks_come_back_as_they_were(void **state)
{
	struct fleet_block b = { 0 }, back = { 0 };
	struct text bytes = { 0 };

	make_block(&b, 0, (uint32_t[]){ 1000, 50 }, (uint32_t[]){ 500, 200 }, 2);
	fleet_block_pack(&b, 2, &bytes);
	fleet_block_begin(&back, 0, b.start_ns);
	assert_int_equal(fleet_block_unpack(&back, 2, bytes.s, bytes.n), 0);
	assert_int_equal(back.tracks.n, b.tracks.n);
	for (size_t i = 0; i < b.tracks.n; i++)
		assert_int_equal(back.tracks.data[i].indicator, b.tracks.data[i].indicator);
	assert_int_equal(fleet_block_count(&back, 1), 8);
	/* Whatever is made of it by a reader of one indicator, or of none that there is. */
	fleet_block_begin(&back, 0, b.start_ns);
	fleet_block_unpack(&back, 1, bytes.s, bytes.n);
	bytes.n = 0;
	b.tracks.data[1].indicator = 3;
	fleet_block_pack(&b, 2, &bytes);
	fleet_block_begin(&back, 0, b.start_ns);
	assert_int_equal(fleet_block_unpack(&back, 2, bytes.s, bytes.n), -EBADMSG);
	fleet_block_begin(&back, 0, b.start_ns);
	assert_int_equal(fleet_block_unpack(&back, 4, bytes.s, bytes.n), 0);
	bytes.n = 0;
	b.tracks.data[1].indicator = 1;
	fleet_block_pack(&b, 1, &bytes); /* a body of version 1 */
	fleet_block_begin(&back, 0, b.start_ns);
	assert_int_equal(fleet_block_unpack(&back, 2, bytes.s, bytes.n), -EBADMSG);
	text_release(&bytes);
	fleet_block_release(&b);
	fleet_block_release(&back);
}

/* Opens a file that has only this header. */
static int open_with(const char *json, struct fleet_reader *r)
{
	uint32_t head[2] = { (uint32_t)strlen(json), crc32_of(json, strlen(json)) };
	struct text file = { 0 };
	struct err err = { 0 };
	int rc, fd;

	text_addn(&file, FLEET_MAGIC, 8);
	text_addn(&file, (char *)head, sizeof(head));
	text_add(&file, json);
	fd = memfd_create("header", MFD_CLOEXEC);
	assert_int_equal(pwrite(fd, file.s, file.n, 0), file.n);
	rc = fleet_reader_open_fd(r, fd, "header", &err);
	close(fd);
	text_release(&file);
	return rc;
}

static void headers_say_what_there_is(void **state)
{
	struct fleet_reader r;
	struct text many = { 0 };

#define BEGIN \
	"{\"version\":2,\"machine\":\"m\",\"indicator\":\"i\",\"unit\":\"ns\",\"indicators\":["
#define FIRST "{\"name\":\"i\",\"unit\":\"ns\"}"
	assert_int_equal(open_with(BEGIN FIRST ",{\"name\":\"k\",\"higher_is_better\":true}]}", &r),
			 0);
	assert_int_equal(r.header.n_more, 1);
	assert_string_equal(fleet_header_indicator(&r.header, 0).unit, "ns");
	assert_string_equal(fleet_header_indicator(&r.header, 1).name, "k");
	assert_true(fleet_header_indicator(&r.header, 1).higher_is_better);
	assert_int_equal(fleet_header_find(&r.header, "k"), 1);
	assert_int_equal(fleet_header_find(&r.header, "z"), UINT32_MAX);
	fleet_reader_close(&r);
	/* Version 1 has one, whatever else it says. */
	assert_int_equal(open_with("{\"version\":1,\"machine\":\"m\",\"indicator\":\"i\","
				   "\"indicators\":[{\"name\":\"i\"},{\"name\":\"k\"}]}",
				   &r),
			 0);
	assert_int_equal(r.header.n_more, 0);
	fleet_reader_close(&r);
	assert_int_equal(open_with(BEGIN "]}", &r), -EBADMSG);
	assert_int_equal(open_with(BEGIN FIRST "]}", &r), -EBADMSG);
	assert_int_equal(open_with(BEGIN FIRST "," FIRST "]}", &r), -EBADMSG); /* twice */
	assert_int_equal(open_with(BEGIN "{\"name\":\"k\"}," FIRST "]}", &r), -EBADMSG);
	assert_int_equal(open_with(BEGIN FIRST ",7]}", &r), -EBADMSG);
	assert_int_equal(open_with(BEGIN FIRST ",{\"name\":\"\"}]}", &r), -EBADMSG);
	assert_int_equal(open_with("{\"version\":2,\"machine\":\"m\",\"indicator\":\"i\"}", &r),
			 -EBADMSG);
	assert_int_equal(open_with("{\"version\":3,\"machine\":\"m\",\"indicator\":\"i\"}", &r),
			 -EBADMSG);
	text_add(&many, BEGIN FIRST);
	for (int i = 0; i < 300000; i++)
		text_add(&many, ",7");
	text_add(&many, "]}");
	assert_int_equal(open_with(many.s, &r), -EBADMSG);
	text_release(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_indicator_has_rows_of_its_own),
		cmocka_unit_test(what_is_left_out_changes_nothing),
		cmocka_unit_test(samples_of_two_indicators_tell_of_one_cpu),
		cmocka_unit_test(single_occurrences_are_matched),
		cmocka_unit_test(blocks_come_back_as_they_were),
		cmocka_unit_test(headers_say_what_there_is),
	};

	return unit_run(tests);
}
