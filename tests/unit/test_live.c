// SPDX-License-Identifier: GPL-3.0-or-later
/* A trace read while it is written is the trace that a file would have had. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/result/interval.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/fixture/fixture.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/live.h"
#include "trace/write/writer.h"

struct seen {
	size_t n;
	struct record r[64];
	char bytes[64][8];
	uint64_t values[64][8];
};

static void on_record(void *ctx, const struct record *r)
{
	struct seen *s = ctx;

	assert_true(s->n < 64);
	s->r[s->n] = *r;
	for (uint32_t i = 0; i < 8 && i < (r->n_values > 4 ? r->n_values : 4); i++)
		s->values[s->n][i] = r->values[i];
	memcpy(s->bytes[s->n], r->n_bytes ? r->bytes : "", r->n_bytes < 7 ? r->n_bytes : 7);
	s->n++;
}

static void put(struct trace_writer *w, uint32_t cpu, uint64_t time)
{
	assert_int_equal(trace_writer_call(w, cpu, REC_ENTRY, time, 7, 7, 0, 4096), 0);
}

static struct trace_writer *open_live(struct live *l)
{
	struct trace_writer_options o = { .live = l };
	struct trace_writer *w = NULL;

	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	return w;
}

static void test_order(void **state)
{
	static const uint64_t wanted[] = { 10, 12, 15, 15, 20, 30 };
	struct live *l = live_new(2);
	struct trace_writer *w = open_live(l);
	struct seen s = { 0 };

	put(w, 1, 10);
	put(w, 1, 15);
	put(w, 1, 30);
	put(w, 0, 12);
	put(w, 0, 20);
	put(w, 0, 15); /* came late */
	assert_int_equal(trace_writer_call(w, 2, REC_ENTRY, 1, 7, 7, 0, 0), -EINVAL);
	assert_int_equal(trace_writer_records(w), 6);
	live_read(l, 20, on_record, &s);
	assert_int_equal(s.n, 5);
	live_read(l, 29, on_record, &s);
	assert_int_equal(s.n, 5);
	live_read(l, UINT64_MAX, on_record, &s);
	assert_int_equal(s.n, 6);
	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(s.r[i].time_ns, wanted[i]);
	assert_int_equal(s.r[2].cpu, 0); /* a tie goes to the lower CPU */
	assert_int_equal(trace_writer_close(w, NULL), 0);
	live_free(l);
}

static void test_values(void **state)
{
	const uint64_t values[] = { 0x7f, 1, 2, 3, 4, 5, 6, 7 };
	struct record r = { .kind = REC_COUNTERS, .time_ns = 5, .n_values = 8, .values = values };
	struct record comm = { .kind = REC_COMM, .time_ns = 6, .bytes = "worker", .n_bytes = 6 };
	struct record out = {
		.kind = REC_SWITCH_OUT, .time_ns = 7, .n_values = 1, .values = values
	};
	struct live *l = live_new(1);
	struct trace_writer *w = open_live(l);
	struct seen s = { 0 };

	assert_int_equal(trace_writer_record(w, &r), 0);
	assert_int_equal(trace_writer_record(w, &comm), 0);
	assert_int_equal(trace_writer_record(w, &out), 0);
	live_read(l, UINT64_MAX, on_record, &s);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.values[0], values, sizeof(values));
	assert_string_equal(s.bytes[1], "worker");
	assert_int_equal(s.values[2][0], 0x7f);
	assert_int_equal(s.values[2][1], 0); /* absent ones are 0 */
	trace_writer_record(w, &r);	     /* what nobody reads is freed */
	trace_writer_close(w, NULL);
	live_free(l);
}

/* A golden trace, as its reader gives it. */
static struct trace_reader *open_golden(const char *name, char *path)
{
	struct trace_reader *r = NULL;
	struct err err = { 0 };
	char *from = xasprintf("tests/golden/%s.trace", name);
	FILE *in = fopen(from, "r");
	int fd = mkstemp(path);

	assert_true(fd >= 0 && in);
	close(fd);
	if (fixture_write(in, path, &err) || trace_reader_open(&r, path, &err))
		fail_msg("%s", err.text);
	fclose(in);
	free(from);
	return r;
}

static void put_line(void *live, const char *line, size_t n)
{
	live_write_meta(live, line, n);
}

struct feed {
	struct result result;
	struct interval interval;
	uint64_t calls; /* of all intervals */
	double excess_ns;
	unsigned n;
};

static void take_interval(struct feed *f, uint64_t now_ns)
{
	struct blocks blocks = { 0 };

	interval_blocks(&f->interval, now_ns, &blocks);
	vec_for_each (&blocks, const struct block, b)
		f->calls += b->calls;
	blocks_release(&blocks);
	interval_next(&f->interval);
	f->n++;
}

static void feed(void *ctx, const struct record *r)
{
	struct feed *f = ctx;

	while (r->time_ns > f->interval.since_ns + 10000000)
		take_interval(f, f->interval.since_ns + 10000000);
	result_record(&f->result, r);
}

static void same_blocks(const struct blocks *a, const struct blocks *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct block *x = &a->data[i], *y = &b->data[i];

		assert_string_equal(x->name, y->name);
		assert_int_equal(x->calls, y->calls);
		assert_int_equal(x->excess_ns, y->excess_ns);
		assert_int_equal(x->min_ns, y->min_ns);
		assert_int_equal(x->p99_ns, y->p99_ns);
		assert_int_equal(x->observed_ns, y->observed_ns);
		assert_int_equal(x->verdict, y->verdict);
		assert_int_equal(x->causes.n, y->causes.n);
		for (size_t c = 0; c < x->causes.n; c++)
			assert_string_equal(x->causes.data[c].kind, y->causes.data[c].kind);
	}
}

static void streamed_as_read(const char *name)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	char path[] = "/tmp/ispot-test.XXXXXX";
	struct trace_reader *r = open_golden(name, path);
	struct live *l = live_new(64);
	struct feed f = { 0 };
	struct result read;
	struct record rec;
	struct err err = { 0 };
	uint64_t calls = 0;

	assert_int_equal(result_read(&read, r, &o, &err), 0);
	trace_reader_each_meta_line(r, put_line, l);
	trace_reader_rewind(r);
	assert_int_equal(result_begin(&f.result, live_meta(l), read.start_ns, &o, &err), 0);
	interval_init(&f.interval, &f.result);
	for (unsigned n = 1; trace_reader_next(r, &rec); n++) {
		assert_int_equal(live_write(l, &rec), 0);
		if (n % 100 == 0)
			live_read(l, rec.time_ns - 1000, feed, &f);
	}
	live_read(l, UINT64_MAX, feed, &f);
	result_end(&f.result, read.end_ns);
	take_interval(&f, read.end_ns);
	same_blocks(&read.blocks, &f.result.blocks);
	same_blocks(&read.sites, &f.result.sites);
	assert_int_equal(read.lost_ns, f.result.lost_ns);
	assert_int_equal(read.idle_ns, f.result.idle_ns);
	assert_int_equal(read.records, f.result.records);
	vec_for_each (&read.blocks, const struct block, b)
		calls += b->calls;
	assert_int_equal(f.calls, calls); /* each call in one interval */
	assert_true(f.n > 1);
	interval_release(&f.interval);
	result_release(&f.result);
	result_release(&read);
	trace_reader_free(r);
	live_free(l);
	unlink(path);
}

static void test_streamed_as_read(void **state)
{
	streamed_as_read("svc");
	streamed_as_read("waits");
	streamed_as_read("burst");
}

#define CALLS	  120
#define PERIOD_NS 200000

/* Calls of 2 us; all of the second half, and none before, sleep for 100 us besides. */
static char *sleep_later(void)
{
	struct text t = { 0 };

	text_add(&t, "1000 0 7/7 switch-in\n");
	for (unsigned i = 0; i < 2 * CALLS; i++) {
		unsigned from = (i + 1) * PERIOD_NS, slept = i < CALLS ? 0 : 100000;

		text_printf(&t, "%u 0 7/7 entry f\n", from);
		if (slept)
			text_printf(&t,
				    "%u 0 7/7 switch-out sleeping next=0/0\n"
				    "%u 0 7/7 wait kind=5 syscall=36\n"
				    "%u 0 7/7 switch-in\n",
				    from + 1000, from + 1000, from + 1000 + slept);
		text_printf(&t, "%u 0 7/7 exit f\n", from + 2000 + slept);
	}
	return t.s;
}

/* The blocks of the second of two parts of what a text describes. */
static void blocks_of_second(const char *text, uint64_t second_ns, uint64_t end_ns,
			     struct blocks *blocks)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	char path[] = "/tmp/ispot-test.XXXXXX";
	int fd = mkstemp(path);
	struct trace_reader *r = NULL;
	struct feed f = { 0 };
	struct record rec;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fixture_write_text(text, path, NULL), 0);
	assert_int_equal(trace_reader_open(&r, path, NULL), 0);
	assert_int_equal(result_begin(&f.result, trace_reader_meta(r), 1000, &o, NULL), 0);
	interval_init(&f.interval, &f.result);
	while (trace_reader_next(r, &rec)) {
		if (!f.n && rec.time_ns >= second_ns)
			take_interval(&f, rec.time_ns);
		result_record(&f.result, &rec);
	}
	interval_blocks(&f.interval, end_ns, blocks);
	interval_release(&f.interval);
	result_release(&f.result);
	trace_reader_free(r);
	unlink(path);
}

/* What the fastest call of a part waited is no measure where an earlier one was faster. */
static void test_fastest_before_the_part(void **state)
{
	struct blocks blocks = { 0 };
	char *text = sleep_later();

	blocks_of_second(text, (CALLS + 1) * PERIOD_NS, 2 * (CALLS + 1) * PERIOD_NS, &blocks);
	assert_int_equal(blocks.n, 1);
	assert_int_equal(blocks.data[0].excess_ns, CALLS * 100000);
	assert_true(blocks.data[0].pools[POOL_BLOCKED] + blocks.data[0].pools[POOL_IDLE] ==
		    CALLS * 100000);
	blocks_release(&blocks);
	free(text);
}

/* g was called by a thread whose calls of it are counted before those of the thread that calls f.
 */
static void test_not_called_in_the_part(void **state)
{
	struct blocks blocks = { 0 };

	blocks_of_second("1000 0 7/7 entry f\n"
			 "2000 0 7/7 exit f\n"
			 "3000 0 7/7 entry g\n"
			 "4000 0 7/7 exit g\n"
			 "8000 0 8/7 entry f\n"
			 "9000 0 8/7 exit f\n",
			 8000, 9000, &blocks);
	assert_int_equal(blocks.n, 1);
	assert_int_equal(blocks.data[0].calls, 1);
	assert_int_equal(blocks.data[0].threads, 1);
	blocks_release(&blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_streamed_as_read),
		cmocka_unit_test(test_fastest_before_the_part),
		cmocka_unit_test(test_not_called_in_the_part),
	};

	return unit_run(tests);
}
