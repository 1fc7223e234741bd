/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that is large enough to be read ahead: as read by one thread, also in pieces. */
#include "unit.h"
#include "dice.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define N_RECORDS 600000

static char path[] = "/tmp/ispot-ahead.XXXXXX";

/* Hard to compress: more than a quarter of a megabyte. */
static int make_trace(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 2 };
	struct trace_writer *w;
	uint64_t x = 0, now = 1000;

	close(mkstemp(path));
	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (uint32_t i = 0; i < N_RECORDS; i++) {
		now += dice_below(&x, 5000);
		if (i % 1000 == 999) {
			struct record comm = { .time_ns = now,
					       .kind = REC_COMM,
					       .cpu = i % 2,
					       .tid = 7,
					       .tgid = 7,
					       .bytes = "a name",
					       .n_bytes = 6 };

			assert_int_equal(trace_writer_record(w, &comm), 0);
			continue;
		}
		trace_writer_call(w, i % 2, x >> 40 & 1 ? REC_ENTRY : REC_EXIT, now, 7, 7,
				  (uint32_t)(x >> 50) % 9, x >> 20 & 0xfff8);
	}
	assert_int_equal(trace_writer_close(w, NULL), 0);
	return 0;
}

static int remove_trace(void **state)
{
	return unlink(path);
}

static uint64_t mix(uint64_t hash, const struct record *r)
{
	hash = (hash ^ r->time_ns ^ r->sp ^ r->id ^ r->kind ^ r->cpu) * 0x100000001b3;
	for (uint32_t i = 0; i < r->n_bytes; i++)
		hash = (hash ^ (uint64_t)r->bytes[i]) * 0x100000001b3;
	return hash;
}

/* Up to most records. */
static uint64_t read_some(struct trace_reader *reader, uint64_t most, uint64_t *n)
{
	struct record r;
	uint64_t hash = 0;

	for (*n = 0; *n < most && trace_reader_next(reader, &r); ++*n)
		hash = mix(hash, &r);
	return hash;
}

static struct trace_reader *open_trace(void)
{
	struct trace_reader *reader;

	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	return reader;
}

static uint64_t read_on_one_cpu(uint64_t *n)
{
	struct trace_reader *reader = open_trace();
	cpu_set_t before, one;
	uint64_t hash;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	hash = read_some(reader, UINT64_MAX, n);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	trace_reader_free(reader);
	return hash;
}

static void same_as_without(void **state)
{
	struct trace_reader *reader = open_trace();
	uint64_t n, n_alone, alone = read_on_one_cpu(&n_alone);

	assert_int_equal(n_alone, N_RECORDS);
	assert_true(read_some(reader, UINT64_MAX, &n) == alone);
	assert_int_equal(n, n_alone);
	assert_int_equal(read_some(reader, UINT64_MAX, &n), 0); /* the end is the end */
	assert_int_equal(n, 0);
	assert_null(trace_reader_damage(reader) ? strstr(trace_reader_damage(reader), "damaged")
						: NULL);
	trace_reader_free(reader);
}

static void left_in_the_middle(void **state)
{
	struct trace_reader *reader = open_trace();
	uint64_t n, first, all;

	first = read_some(reader, 5000, &n);
	trace_reader_rewind(reader);
	assert_true(read_some(reader, 5000, &n) == first);
	trace_reader_rewind(reader);
	all = read_some(reader, UINT64_MAX, &n);
	trace_reader_rewind(reader);
	assert_true(read_some(reader, UINT64_MAX, &n) == all);
	trace_reader_rewind(reader);
	read_some(reader, 1, &n);
	trace_reader_free(reader); /* while the thread has much to do */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_without),
		cmocka_unit_test(left_in_the_middle),
	};

	return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
