/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "import/perfdata.h"
#include "trace/frame/source.h"

#define ROUNDS 9

/* A pipe's perf.data: its header, and marks of perf's. */
static size_t write_rounds(unsigned char *file)
{
	const uint64_t size = 16;
	const struct perf_event_header round = { .type = PERFDATA_ROUND, .size = sizeof(round) };

	memcpy(file, "PERFILE2", 8);
	memcpy(file + 8, &size, 8);
	for (unsigned i = 0; i < ROUNDS; i++)
		memcpy(file + 16 + i * sizeof(round), &round, sizeof(round));
	return 16 + ROUNDS * sizeof(round);
}

struct seen {
	unsigned n, interrupted_at; /* 0: never */
};

static int count(void *ctx, const struct perf_event_header *h)
{
	struct seen *seen = ctx;

	assert_int_equal(h->type, PERFDATA_ROUND);
	if (++seen->n == seen->interrupted_at)
		raise(SIGINT);
	return 0;
}

static unsigned records(struct perfdata *p, struct source *s, unsigned interrupted_at)
{
	struct seen seen = { .interrupted_at = interrupted_at };
	struct err err = { 0 };

	interrupt_begin();
	assert_int_equal(perfdata_each(p, s, count, &seen, &err), 0);
	interrupt_end();
	return seen.n;
}

/* After Ctrl-C a file is as if it ended there, each time that it is read. */
static void ctrl_c_ends_the_file(void **state)
{
	unsigned char file[256];
	struct source s;
	struct perfdata p;
	struct err err = { 0 };

	signal(SIGINT, SIG_DFL); /* in the background a shell has it ignored */
	source_open_memory(&s, file, write_rounds(file));
	assert_int_equal(perfdata_open(&p, &s, "it", &err), 0);
	assert_int_equal(records(&p, &s, 0), ROUNDS);
	assert_int_equal(p.stopped_at, 0);
	assert_int_equal(records(&p, &s, 7), 7);
	assert_int_equal(records(&p, &s, 0), 7);
	assert_int_equal(records(&p, &s, 3), 3);
	assert_int_equal(records(&p, &s, 0), 3);
	assert_int_equal(p.stopped_at, 16 + 3 * 8);
	assert_false(p.cut_off);
	perfdata_release(&p);
	source_release(&s);
}

/* Attributes that all name the same section of the same ids: so many are read, and no more. */
static void ids_have_an_end(void **state)
{
	enum { ATTRS = 40, ATTR = PERF_ATTR_SIZE_VER0 + 16, HEADER = 104, IDS = 1u << 16 };
	const size_t ids_at = HEADER + ATTRS * ATTR, n = ids_at + 8 * IDS;
	unsigned char *file = calloc(1, n);
	const uint64_t head[] = { HEADER, ATTR, HEADER, ATTRS * ATTR, n, 0 };
	const uint64_t where[] = { ids_at, 8 * IDS };
	struct err err = { 0 };
	struct perfdata p;
	struct source s;

	assert_non_null(file);
	memcpy(file, "PERFILE2", 8);
	memcpy(file + 8, head, sizeof(head));
	for (unsigned i = 0; i < ATTRS; i++)
		memcpy(file + HEADER + (i + 1) * ATTR - 16, where, sizeof(where));
	source_open_memory(&s, file, n);
	interrupt_begin(); /* forgets the ones before */
	interrupt_end();
	assert_int_equal(perfdata_open(&p, &s, "it", &err), 0);
	assert_int_equal(p.events.n, ATTRS);
	assert_int_equal(p.ids_read, 1u << 20); /* of 40 times 65,536 */
	perfdata_release(&p);
	source_release(&s);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ctrl_c_ends_the_file),
		cmocka_unit_test(ids_have_an_end),
	};

	return unit_run(tests);
}
