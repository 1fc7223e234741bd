/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of what a machine was seen to do. */
#include "unit.h"

#include "analysis/fleet/live.h"
#include "base/hash.h"
#include "base/text.h"
#include "trace/fleet/block.h"

#define SECOND 1000000000ull

struct sums {
	uint64_t blocks, samples, longest_ns, present_ns, latest_ns;
};

/* All blocks up to to_ns, each of which a reader takes. */
static struct sums read_all(struct fleet_live *l, uint64_t to_ns)
{
	struct fleet_block b = { 0 }, back = { 0 };
	struct text bytes = { 0 };
	struct sums s = { 0 };

	fleet_live_begin(l);
	for (uint64_t at_ns = 0, next_ns; at_ns < to_ns; at_ns = next_ns) {
		next_ns = fleet_live_block(l, s.blocks, at_ns, to_ns, 0, &b);
		assert_true(next_ns > at_ns);
		assert_true(b.samples.n <= FLEET_BLOCK_SAMPLES);
		s.blocks += b.samples.n > 0;
		s.samples += b.samples.n;
		if (b.samples.n && next_ns - at_ns > s.longest_ns)
			s.longest_ns = next_ns - at_ns;
		vec_for_each (&b.runs, const struct fleet_run, run) {
			s.present_ns += run->n ? 0 : run->end_ns - run->start_ns;
			s.latest_ns = run->end_ns > s.latest_ns ? run->end_ns : s.latest_ns;
			assert_true(run->start_ns >= at_ns && run->end_ns <= next_ns);
		}
		bytes.n = 0;
		fleet_block_pack(&b, 1, &bytes);
		assert_true(bytes.n <= FLEET_BLOCK_BYTES);
		fleet_block_begin(&back, 0, b.start_ns);
		assert_int_equal(fleet_block_unpack(&back, 1, bytes.s, bytes.n), 0);
	}
	fleet_block_release(&b);
	fleet_block_release(&back);
	text_release(&bytes);
	return s;
}

static void took(struct fleet_live *l, uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	fleet_live_took(l, &(struct fleet_span){ tid % 4, 0, tid, 0, (uint32_t)(end_ns - start_ns),
						 start_ns, end_ns });
}

static void ran(struct fleet_live *l, uint32_t cpu, uint64_t start_ns, uint64_t end_ns)
{
	fleet_live_ran(l, &(struct fleet_span){ cpu, 0, 0, 0, 0, start_ns, end_ns });
}

/* Runs that last longer than a block, and calls; each is where it was. */
static void everything_is_in_one_block(void **state)
{
	struct strtab apps = { 0 };
	struct fleet_live l = { .apps = &apps };
	struct sums s;

	strtab_add(&apps, "a");
	ran(&l, 0, 0, SECOND);
	ran(&l, 1, SECOND / 4, SECOND / 2);
	ran(&l, 1, SECOND * 3 / 4, SECOND);
	for (uint64_t i = 0; i < 1000; i++)
		took(&l, 7, i * 1000000, i * 1000000 + 300000);
	took(&l, 8, SECOND / 10, SECOND / 2); /* from one block to another */
	s = read_all(&l, SECOND);
	assert_int_equal(s.blocks, 5);
	assert_int_equal(s.samples, 1000);
	assert_int_equal(s.present_ns, SECOND + SECOND / 2);
	assert_int_equal(l.left_out, 1);
	fleet_live_clear(&l);
	assert_int_equal(read_all(&l, SECOND).blocks, 0);
	fleet_live_release(&l);
	strtab_release(&apps);
}

/* Threads that make a call each microsecond: more than a block takes in its fifth of a second. */
static void blocks_are_shorter_where_much_happens(void **state)
{
	struct strtab apps = { 0 };
	struct fleet_live l = { .apps = &apps };
	struct sums s;

	strtab_add(&apps, "a");
	ran(&l, 0, 0, SECOND / 2);
	for (uint64_t i = 0; i < 200000; i++)
		for (uint32_t tid = 0; tid < 4; tid++)
			took(&l, tid, i * 1000, i * 1000 + 400);
	took(&l, 4, SECOND / 2, SECOND / 2 + 10);
	s = read_all(&l, SECOND);
	assert_int_equal(s.samples + l.left_out, 800001);
	assert_true(l.left_out <= 4 * s.blocks);
	assert_true(s.blocks > 800000 / FLEET_BLOCK_SAMPLES);
	assert_true(s.blocks < 800000 / FLEET_BLOCK_SAMPLES + 5);
	assert_int_equal(s.longest_ns, FLEET_LIVE_BLOCK_NS); /* the last */
	fleet_live_release(&l);
	strtab_release(&apps);
}

/* Nobody is said to be alone where it is not known who ran. */
static void it_ends_where_no_more_is_kept(void **state)
{
	struct strtab apps = { 0 };
	struct fleet_live l = { .apps = &apps, .most = 100 };
	struct sums s;

	strtab_add(&apps, "a");
	for (uint64_t i = 0; i < 150; i++) {
		ran(&l, 0, i * 1000000, i * 1000000 + 500000);
		took(&l, 5, i * 1000, i * 1000 + 10);
	}
	s = read_all(&l, SECOND);
	assert_int_equal(l.full_ns, 100 * 1000 + 10);
	assert_int_equal(s.samples, 100);
	assert_true(s.latest_ns <= l.full_ns);
	fleet_live_clear(&l);
	for (uint64_t i = 0; i < 150; i++)
		ran(&l, 0, i * 1000, i * 1000 + 10);
	assert_int_equal(l.full_ns, 100 * 1000 + 10);
	ran(&l, 1, 0, SECOND); /* all the while, which is heard of at the end */
	assert_int_equal(l.full_ns, 100 * 1000 + 10);
	assert_int_equal(l.presences.n, 102);
	fleet_live_release(&l);
	strtab_release(&apps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_in_one_block),
		cmocka_unit_test(blocks_are_shorter_where_much_happens),
		cmocka_unit_test(it_ends_where_no_more_is_kept),
	};

	return unit_run(tests);
}
