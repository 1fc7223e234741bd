/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of programs that count their edges, made by hand, and the sections that are found in them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/imbalance/count/edged.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "probes/edges/edges.h"
#include "unit.h"

/* ---- logs ---- */

struct made {
	struct edges_header header;
	struct edges_module module;
	char path[16];
	struct edges_edge first, second;
	struct edges_made thread;
	struct edges_awaited wait;
	struct edges_cut cut;
	struct edges_count counts[2];
};

static struct made make(void)
{
	return (struct made){
		.header = { .magic = EDGES_MAGIC,
			    .used = sizeof(struct made) - sizeof(struct edges_header),
			    .pid = 7,
			    .tid = 9,
			    .maker = EDGES_NOBODY },
		.module = { { EDGES_MODULE, sizeof(struct edges_module) + 16 },
			    0x10000,
			    0x10000,
			    0x20000 },
		.path = "/nowhere/app",
		.first = { { EDGES_EDGE, sizeof(struct edges_edge) }, 0, 0x11000 },
		.second = { { EDGES_EDGE, sizeof(struct edges_edge) }, 0x11000, 0x11020 },
		.thread = { { EDGES_MADE, sizeof(struct edges_made) }, 3, 110 },
		.wait = { { EDGES_AWAITED, sizeof(struct edges_awaited) }, 0x77, 0x11060, 190 },
		.cut = { .record = { EDGES_CUT,
				     sizeof(struct edges_cut) + 2 * sizeof(struct edges_count) },
			 .n = 2,
			 .site = 0x11040,
			 .begin_ns = 100,
			 .end_ns = 200,
			 .leave_ns = 300 },
		.counts = { { 0, 1 }, { 1, 41 } },
	};
}

/* Reads it as the only log of a directory. */
static void read_made(struct edges *e, const struct made *m)
{
	char dir[] = "/tmp/ispot_edges.XXXXXX", *path;
	struct err err = { 0 };
	FILE *f;

	*e = (struct edges){ 0 };
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/7.0.0", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(m, sizeof(*m), 1, f);
	fclose(f);
	assert_int_equal(edges_read(e, dir, &err), 0);
	temporary_remove(dir);
	assert_int_equal(access(dir, F_OK), -1);
	free(path);
}

static void a_log_is_read(void **state)
{
	struct made m = make();
	const struct edges_step *steps;
	struct edges e;

	read_made(&e, &m);
	assert_int_equal(e.logs.n, 1);
	assert_int_equal(e.logs.data[0].tid, 9);
	assert_int_equal(e.full, 0);
	steps = e.logs.data[0].steps.data;
	assert_int_equal(e.logs.data[0].steps.n, 2);
	assert_int_equal(steps[0].from, EDGES_NOWHERE);
	assert_int_equal(steps[1].from, steps[0].to);
	assert_int_equal(e.places.data[steps[1].to].address, 0x1020);
	assert_string_equal(strtab_get(&e.names, e.places.data[0].object), "/nowhere/app");
	assert_int_equal(e.parts.n, 1);
	assert_int_equal(e.places.data[e.parts.data[0].site].address, 0x1040);
	assert_int_equal(e.parts.data[0].counts[1].count, 41);
	assert_int_equal(e.events.n, 2);
	assert_false(e.events.data[0].is_wait);
	assert_int_equal(e.events.data[0].made, 3);
	assert_true(e.events.data[1].is_wait);
	assert_int_equal(e.events.data[1].thread, 0x77);
	assert_int_equal(e.places.data[e.events.data[1].site].address, 0x1060);
	edges_release(&e);
}

/* What is behind the damage is left out, and that it is, is known. */
static void assert_damaged(const struct made *m, size_t parts, size_t steps)
{
	struct edges e;

	read_made(&e, m);
	assert_int_equal(e.parts.n, parts);
	assert_int_equal(e.logs.n ? e.logs.data[0].steps.n : 0, steps);
	assert_int_equal(e.full, e.logs.n);
	edges_release(&e);
}

static void a_damaged_log_is_read_up_to_there(void **state)
{
	struct made m = make();

	m.header.magic++;
	assert_damaged(&m, 0, 0);
	m = make();
	m.counts[1].edge = 2;
	assert_damaged(&m, 0, 2);
	m = make();
	m.cut.n = UINT32_MAX;
	assert_damaged(&m, 0, 2);
	m = make();
	m.second.record.bytes = 4;
	assert_damaged(&m, 0, 1);
	m = make();
	m.second.record.bytes = 8;
	assert_damaged(&m, 0, 1);
	m = make();
	m.second.record.bytes = UINT32_MAX - 7;
	assert_damaged(&m, 0, 1);
	m = make();
	m.second.record.kind = 99;
	assert_damaged(&m, 0, 1);
	m = make();
	memset(m.path, 'x', sizeof(m.path));
	assert_damaged(&m, 0, 0);
}

/* The program wrote that more of it is finished than the file has. */
static void a_log_cut_off_is_read_to_its_end(void **state)
{
	struct made m = make();
	struct edges e;

	m.header.used = UINT64_MAX;
	read_made(&e, &m);
	assert_int_equal(e.parts.n, 1);
	edges_release(&e);
	m.header.used = sizeof(m) - sizeof(m.header) - 8;
	assert_damaged(&m, 0, 2);
}

/* ---- sections ---- */

static struct edged_part part(uint32_t thread, enum section_kind kind, uint64_t begin, uint64_t end,
			      uint64_t leave)
{
	return (struct edged_part){
		.key = { .thread = thread },
		.tid = 100 + thread,
		.kind = kind,
		.object = 1,
		.name = kind == SECTION_BARRIER ? "at (a.c:1)" : "the threads' end",
		.begin_ns = begin,
		.end_ns = end,
		.leave_ns = leave,
		.cpu_ns = (double)(end - begin),
		.cpu_wait_ns = 0,
	};
}

/* Two threads, two rounds; the second thread is late in both. The last round is never left. */
static void rounds_at_a_barrier_are_instances(void **state)
{
	struct edged_part parts[] = {
		part(0, SECTION_BARRIER, 0, 10, 51),	part(0, SECTION_BARRIER, 51, 60, 102),
		part(0, SECTION_BARRIER, 102, 110, 0),	part(1, SECTION_BARRIER, 0, 50, 52),
		part(1, SECTION_BARRIER, 52, 100, 101),
	};
	struct imbalance i = { 0 };
	const struct parallel_section *s;

	edged_find(parts, 5, &i);
	assert_int_equal(i.sections.n, 1);
	s = &i.sections.data[0];
	assert_int_equal(s->instances, 2);
	assert_int_equal(s->threads.n, 2);
	assert_true(section_worst(s)->thread == 1);
	assert_true(section_worst(s)->last == 2);
	assert_true(s->lost == 40 + 40);
	assert_int_equal(parts[4].key.section, MAP_NONE);
	imbalance_release(&i);
}

/* The order-th of those that were made and waited for together, whose number is object. */
static struct edged_part joined(uint32_t thread, uint64_t object, uint32_t order, uint64_t begin,
				uint64_t end)
{
	struct edged_part p = part(thread, SECTION_JOIN, begin, end, end);

	p.object = object;
	p.order = order;
	return p;
}

/* Threads that are waited for together are, though the first one ended before the second began; one
 * that met others at a barrier is none, nor is one that nobody waits for. */
static void the_whole_of_threads_is_a_section(void **state)
{
	struct edged_part parts[] = {
		joined(1, 7, 0, 0, 50),
		joined(2, 7, 1, 60, 100),
		joined(3, 8, 0, 200, 260),
		joined(4, 8, 1, 210, 300),
		part(5, SECTION_BARRIER, 0, 5, 6),
		joined(5, 7, 2, 6, 400),
		joined(6, 7, 3, 0, 90),
	};
	struct imbalance i = { 0 };

	parts[6].leave_ns = 0;
	edged_find(parts, 7, &i);
	assert_int_equal(i.sections.n, 1);
	assert_int_equal(i.sections.data[0].kind, SECTION_JOIN);
	assert_int_equal(i.sections.data[0].instances, 2);
	assert_int_equal(i.sections.data[0].threads.n, 2); /* the first made and the second */
	assert_true(i.sections.data[0].lost == 50 + 40);
	imbalance_release(&i);
}

/* Short instances are analysed together, and what remains goes to the last of these groups. */
static void short_instances_are_joined(void **state)
{
	uint64_t step = (uint64_t)(EDGED_ENOUGH_NS / 2) + 11;
	struct edged_part parts[10];
	struct imbalance i = { 0 };
	uint32_t last = 0;

	for (uint64_t k = 0; k < 10; k++) {
		uint64_t round = k % 5;

		parts[k] = part(k >= 5, SECTION_BARRIER, round * step, (round + 1) * step,
				(round + 1) * step + 1);
		parts[k].cpu_ns = 7;
		parts[k].cpu_wait_ns = 11;
		parts[k].sleeps = 1;
	}
	edged_find(parts, 10, &i);
	for (size_t k = 0; k < 10; k++)
		last = parts[k].key.group > last ? parts[k].key.group : last;
	/* of five rounds 2 and 3 */
	assert_int_equal(i.sections.n, 1);
	assert_int_equal(i.sections.data[0].instances, 5);
	assert_int_equal(last, 2);
	assert_true(parts[0].own == (double)(step - 11));
	imbalance_release(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_read),
		cmocka_unit_test(a_damaged_log_is_read_up_to_there),
		cmocka_unit_test(a_log_cut_off_is_read_to_its_end),
		cmocka_unit_test(rounds_at_a_barrier_are_instances),
		cmocka_unit_test(the_whole_of_threads_is_a_section),
		cmocka_unit_test(short_instances_are_joined),
	};

	return unit_run(tests);
}
