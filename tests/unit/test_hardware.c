/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of the hardware: records as the kernel writes them (perf_event_open(2)), made by hand,
 * and what is estimated from the branch records of a program whose turns are known.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/imbalance/count/branch_samples.h"
#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/imbalance.h"
#include "analysis/imbalance/lime.h"
#include "base/mem.h"
#include "dice.h"
#include "probes/process/spaces.h"
#include "probes/sample/hardware.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "unit.h"

/* ---- records ---- */

struct made {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns, period, n;
	struct perf_branch_entry branches[HARDWARE_TURNS];
};

static struct made make(uint64_t n)
{
	struct made m = {
		.ip = 0x401000, .pid = 7, .tid = 9, .time_ns = 1234, .period = 200003, .n = n
	};

	m.header = (struct perf_event_header){
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.size = (uint16_t)(offsetof(struct made, branches) + n * sizeof(m.branches[0])),
	};
	for (uint64_t i = 0; i < n; i++)
		m.branches[i] = (struct perf_branch_entry){
			.from = 0x1000 + 16 * i, .to = 0x2000 + 16 * i, .predicted = 1, .cycles = 3
		};
	return m;
}

static void a_branch_record_is_read(void **state)
{
	struct made m = make(32);
	struct hardware_record r;

	assert_true(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
	assert_int_equal(r.ip, 0x401000);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.tid, 9);
	assert_int_equal(r.time_ns, 1234);
	assert_int_equal(r.period, 200003);
	assert_int_equal(r.n_branches, 32);
	assert_int_equal(r.branches[0].from, 0x1000);
	assert_int_equal(r.branches[31].to, 0x2000 + 16 * 31);
}

/* A count larger than the record, up to one whose bytes overflow; a record cut off anywhere. */
static void a_record_too_short_for_its_branches_is_refused(void **state)
{
	struct made m = make(5);
	struct hardware_record r;
	uint16_t whole = m.header.size;

	m.n = 6;
	assert_false(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
	m.n = UINT64_MAX / sizeof(m.branches[0]) + 2;
	assert_false(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
	m.n = 5;
	for (m.header.size = 8; m.header.size < whole; m.header.size += 8)
		assert_false(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
	assert_true(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
	m.header.type = PERF_RECORD_LOST;
	assert_false(hardware_decode(&m.header, HARDWARE_BRANCHES, &r));
}

static void an_event_record_has_its_instruction(void **state)
{
	struct made m = make(0);
	struct hardware_record r;

	m.header.size = offsetof(struct made, n);
	assert_true(hardware_decode(&m.header, HARDWARE_NOTHING, &r));
	assert_int_equal(r.ip, 0x401000);
	assert_int_equal(r.n_branches, 0);
	assert_false(hardware_decode(&m.header, HARDWARE_SOURCE, &r));
}

static uint64_t source(uint64_t op, uint64_t level)
{
	const union perf_mem_data_src s = { .mem_op = op, .mem_lvl = level };

	return s.val;
}

/* IBS samples all operations: those that missed are told by what they have behind. */
static void ibs_tells_misses_from_hits(void **state)
{
	assert_true(hardware_missed(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2)));
	assert_true(
		hardware_missed(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM)));
	assert_false(hardware_missed(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1)));
	assert_false(
		hardware_missed(source(PERF_MEM_OP_STORE, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2)));
	assert_false(hardware_missed(source(PERF_MEM_OP_NA, PERF_MEM_LVL_NA)));
	assert_false(hardware_missed(0));
}

/* ---- a ring ---- */

#define RING_BYTES 65536

static struct ring ring_with(const struct made *records, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring r = { .fd = -1,
			  .map = xcalloc(1, page + RING_BYTES),
			  .data_bytes = RING_BYTES,
			  .bounce = xmalloc(RING_RECORD_MAX) };
	struct perf_event_mmap_page *control = r.map;

	for (size_t i = 0; i < n; i++) {
		memcpy((char *)r.map + page + control->data_head, &records[i],
		       records[i].header.size);
		control->data_head += records[i].header.size;
	}
	return r;
}

struct seen {
	size_t n, turns;
	struct hardware_turn first;
	uint64_t period;
};

static void on_sample(void *ctx, const struct hardware_sample *s)
{
	struct seen *seen = ctx;

	if (!seen->n++)
		seen->first = s->turns[0];
	seen->turns += s->n_turns;
	seen->period += s->period;
}

/* The kernel's bytes to places in files: of this process, whose code is known. */
static void samples_of_a_ring_have_places(void **state)
{
	struct made m[2] = { make(32), make(3) };
	struct hardware h = { .has_branches = true };
	struct seen seen = { 0 };
	const struct dso_function *f;
	struct ring ring;

	for (size_t k = 0; k < 2; k++) {
		m[k].pid = m[k].tid = (uint32_t)getpid();
		for (uint64_t i = 0; i < m[k].n; i++) {
			m[k].branches[i].from = (uint64_t)(uintptr_t)&make + 4;
			m[k].branches[i].to = (uint64_t)(uintptr_t)&on_sample;
		}
	}
	m[0].branches[20].from = 8; /* no code: those before it are not next to those behind */
	ring = ring_with(m, 2);
	h.branches = (struct rings){ &ring, 1 };
	h.dsos = dso_cache_new();
	h.spaces = xcalloc(1, sizeof(*h.spaces));
	spaces_init(h.spaces, h.dsos);
	hardware_read(&h, on_sample, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.turns, 20 + 3);
	assert_int_equal(seen.period, 2 * 200003);
	f = dso_function_at((struct dso *)(uintptr_t)seen.first.from.dso, seen.first.from.address);
	assert_string_equal(f->symbol, "make");
	f = dso_function_at((struct dso *)(uintptr_t)seen.first.to.dso, seen.first.to.address);
	assert_string_equal(f->symbol, "on_sample");
	free(ring.map);
	free(ring.bounce);
	h.branches = (struct rings){ 0 };
	hardware_release(&h);
}

/* ---- a program whose turns are known ---- */

/*
 * for (1000 rounds) {			0x100: if (cond) goto 0x200
 *	if (cond)			0x108: …
 *		for (20) work;		0x110: goto 0x300
 * }					0x204: work; 0x220: if (more) goto 0x204; 0x230: goto 0x300
 *					0x340: if (more) goto 0x100
 */
struct cpu {
	struct branch_samples *s;
	uint64_t time_ns, turns;
	uint32_t tid;
	struct branch_sample_turn last[32]; /* the newest at turns % 32 */
};

#define PERIOD 211

static uint64_t seed;

static const int a_file;

static struct branch_sample_place at(uint64_t address)
{
	return (struct branch_sample_place){ &a_file, "/nowhere/app", address };
}

static void turn(struct cpu *c, uint64_t from, uint64_t to)
{
	c->last[++c->turns % 32] = (struct branch_sample_turn){ at(from), at(to) };
	c->time_ns += 10;
	if (c->turns >= 32 && c->turns % PERIOD == 0) {
		struct branch_sample_turn newest_first[32];

		for (uint64_t i = 0; i < 32; i++)
			newest_first[i] = c->last[(c->turns - i) % 32];
		branch_samples_turns(c->s, c->time_ns, c->tid, PERIOD, newest_first, 32);
	}
}

/* Of a hundred rounds so many take the branch. */
static void run(struct cpu *c, unsigned taken)
{
	for (unsigned i = 0; i < 5000; i++) {
		if (dice_below(&seed, 100) < taken) {
			turn(c, 0x100, 0x200);
			for (unsigned k = 0; k < 19; k++)
				turn(c, 0x220, 0x204);
			turn(c, 0x230, 0x300);
		} else {
			turn(c, 0x110, 0x300);
		}
		turn(c, 0x340, 0x100);
	}
}

static uint64_t taken_from(const struct counted *c, const struct counted_cause *cause)
{
	return c->run->places.data[cause->place].address;
}

/* Two instances of four threads; the branch is taken by the one more often than by the other. */
static void the_branch_that_makes_it_uneven_is_found(void **state)
{
	static const unsigned taken[] = { 10, 25, 45, 70 };
	struct lime_options o = LIME_DEFAULTS;
	struct imbalance im = { 0 };
	struct branch_samples s;
	struct counted c = { 0 };

	seed = 8;
	branch_samples_init(&s, "cache-misses");
	branch_samples_watch(&s, &im);
	for (uint64_t k = 0; k < 2; k++) {
		struct section_part parts[4];

		for (uint32_t t = 0; t < 4; t++) {
			struct cpu cpu = { .s = &s, .tid = 100 + t, .time_ns = k * 100000000 };

			run(&cpu, taken[t]);
			parts[t] = (struct section_part){ .thread = t,
							  .time = (double)cpu.turns * 10,
							  .own = (double)cpu.turns * 10,
							  .tid = cpu.tid,
							  .from_ns = k * 100000000,
							  .to_ns = cpu.time_ns };
			/* of the wait at the end: of no section */
			branch_samples_event(
				&s, cpu.time_ns + 5, cpu.tid, 1,
				&(struct branch_sample_place){ &a_file, "/nowhere/app", 0x9000 });
		}
		imbalance_add(&im, SECTION_BARRIER, "main (app.c:1)", "", parts, 4);
	}
	for (uint32_t t = 0; t < 4; t++)
		imbalance_name(&im, 100 + t, "app");
	imbalance_sort(&im);
	branch_samples_find(&s, &c, &im, &o);
	assert_int_equal(c.imbalance.sections.n, 1);
	assert_int_equal(c.imbalance.sections.data[0].instances, 2);
	assert_int_equal(c.sections.data[0].answer, LIME_FOUND);
	assert_int_equal(s.within, s.samples.n - 8);
	assert_int_equal(taken_from(&c, &c.sections.data[0].causes.data[0]), 0x100);
	assert_string_equal(c.sections.data[0].causes.data[0].what, "branch");
	/* estimates: within a tenth of what was run */
	for (uint32_t t = 0; t < 4; t++) {
		double run_often = 2 * 5000 * taken[t] / 100.0;

		assert_true(c.sections.data[0].causes.data[0].counts[t] > 0.8 * run_often);
		assert_true(c.sections.data[0].causes.data[0].counts[t] < 1.2 * run_often);
	}
	counted_release(&c);
	imbalance_release(&im);
	branch_samples_release(&s);
}

/* Misses of an instruction that all threads execute as often: the event is to blame, no branch. */
static void uneven_misses_are_found(void **state)
{
	static const unsigned misses[] = { 400, 900, 1500, 3000 };
	struct lime_options o = LIME_DEFAULTS;
	struct section_part parts[4];
	struct imbalance im = { 0 };
	struct branch_samples s;
	struct counted c = { 0 };

	seed = 9;
	branch_samples_init(&s, "cache-misses");
	branch_samples_watch(&s, &im);
	for (uint32_t t = 0; t < 4; t++) {
		struct cpu cpu = { .s = &s, .tid = 100 + t };

		run(&cpu, 50);
		for (unsigned i = 0; i < misses[t]; i++)
			branch_samples_event(
				&s, cpu.time_ns += 300, cpu.tid, 100,
				&(struct branch_sample_place){ &a_file, "/nowhere/app", 0x208 });
		parts[t] = (struct section_part){ .thread = t,
						  .time = (double)cpu.time_ns,
						  .own = (double)cpu.time_ns,
						  .tid = cpu.tid,
						  .to_ns = cpu.time_ns + 1 };
	}
	imbalance_add(&im, SECTION_BARRIER, "main (app.c:1)", "", parts, 4);
	imbalance_sort(&im);
	branch_samples_find(&s, &c, &im, &o);
	assert_int_equal(c.sections.data[0].answer, LIME_FOUND);
	assert_string_equal(c.sections.data[0].causes.data[0].what, "cache-misses");
	assert_int_equal(taken_from(&c, &c.sections.data[0].causes.data[0]), 0x208);
	assert_true(c.sections.data[0].causes.data[0].counts[3] == 300000);
	counted_release(&c);
	imbalance_release(&im);
	branch_samples_release(&s);
}

/* No sample at all, a section without any, records of threads that nobody knows. */
static void without_samples_there_is_an_answer_in_words(void **state)
{
	struct lime_options o = LIME_DEFAULTS;
	struct section_part parts[3] = {
		{ .thread = 0, .time = 10, .own = 10, .tid = 1, .to_ns = 10 },
		{ .thread = 1, .time = 90, .own = 90, .tid = 2, .to_ns = 90 },
		{ .thread = 2, .time = 50, .own = 50, .tid = 3, .to_ns = 50 }
	};
	struct imbalance im = { 0 };
	struct branch_samples s;
	struct counted c = { 0 };

	branch_samples_init(&s, "page-faults");
	branch_samples_watch(&s, &im);
	branch_samples_event(&s, 5, 77, 1,
			     &(struct branch_sample_place){ &a_file, "/nowhere/app", 0x10 });
	imbalance_add(&im, SECTION_BARRIER, "main (app.c:1)", "", parts, 3);
	imbalance_sort(&im);
	branch_samples_find(&s, &c, &im, &o);
	assert_int_equal(c.sections.data[0].answer, LIME_SAME_COUNTS);
	assert_int_equal(c.sections.data[0].causes.n, 0);
	counted_release(&c);
	imbalance_release(&im);
	branch_samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_branch_record_is_read),
		cmocka_unit_test(a_record_too_short_for_its_branches_is_refused),
		cmocka_unit_test(an_event_record_has_its_instruction),
		cmocka_unit_test(ibs_tells_misses_from_hits),
		cmocka_unit_test(samples_of_a_ring_have_places),
		cmocka_unit_test(the_branch_that_makes_it_uneven_is_found),
		cmocka_unit_test(uneven_misses_are_found),
		cmocka_unit_test(without_samples_there_is_an_answer_in_words),
	};

	return unit_run(tests);
}
