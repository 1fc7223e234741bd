// SPDX-License-Identifier: GPL-3.0-or-later
/* A server that starts a thread for each request: summed up as they end, nothing changes but the
 * memory that it takes. */
#include "unit.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

#include "analysis/calls/calls.h"
#include "analysis/calls/ended.h"
#include "analysis/result/interval.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "base/err.h"
#include "scene.h"
#include "trace/format.h"

#define SERVER	   1 /* tid: lives throughout */
#define REQUEST_NS 200000
#define FUTEX	   0x7000

enum { SERVE, PARSE, LOCK };

struct server {
	struct meta meta;
	struct result result;
	struct interval interval;
	uint64_t time_ns, part_ns, part_calls, part_threads;
};

static void put(struct server *s, uint32_t kind, uint32_t tid, uint32_t id, const uint64_t *values,
		uint32_t n)
{
	static const uint64_t none[RECORD_VALUES_MIN] = { 0 };
	struct record r = { .time_ns = s->time_ns,
			    .kind = kind,
			    .cpu = tid & 1,
			    .tid = tid,
			    .tgid = SERVER,
			    .id = id,
			    .sp = 0x1000 - id * 16,
			    .values = n ? values : none,
			    .n_values = n };

	result_record(&s->result, &r);
}

static void value(struct server *s, uint32_t kind, uint32_t tid, uint64_t a, uint64_t b)
{
	const uint64_t values[RECORD_VALUES_MIN] = { a, b };

	put(s, kind, tid, 0, values, 2);
}

static void functions(struct server *s)
{
	static const char *const names[] = { "serve", "parse", "lock" };

	for (uint32_t id = 0; id < 3; id++)
		*vec_add(&s->meta.functions) = (struct meta_function){
			.id = id,
			.set = 1,
			.name = names[id],
			.symbol = names[id],
			.block = "function",
			.object = UINT32_MAX,
			.exit = EXIT_RETURN,
		};
	s->meta.session.clock = "monotonic";
	s->meta.session.cpus = 2;
}

static void begin(struct server *s, bool sums_up)
{
	const struct result_options o = { .to_ns = UINT64_MAX };
	struct err err = { 0 };

	*s = (struct server){ .time_ns = 1000, .part_ns = 1000 };
	functions(s);
	assert_int_equal(result_begin(&s->result, &s->meta, s->time_ns, &o, &err), 0);
	if (sums_up)
		calls_sum_up_ended(&s->result.calls);
	interval_init(&s->interval, &s->result);
	value(s, REC_SWITCH_IN, SERVER, 0, 0);
}

/* It waits at the lock until the server releases it. */
static void wait_for_server(struct server *s, uint32_t tid, uint64_t ns)
{
	const uint64_t futex[RECORD_VALUES_MAX] = { WAIT_FUTEX, 203, FUTEX, 0, 2 };

	value(s, REC_SWITCH_OUT, tid, SWITCH_SLEEPING, SERVER);
	put(s, REC_WAIT, tid, 0, futex, 5);
	s->time_ns += ns;
	value(s, REC_WAKING, SERVER, tid, 0);
	s->time_ns += 10;
	value(s, REC_SWITCH_IN, tid, 0, 0);
}

static void request(struct server *s, uint32_t tid, uint64_t n)
{
	value(s, REC_FORK, SERVER, tid, SERVER);
	s->time_ns += 100;
	value(s, REC_SWITCH_IN, tid, 0, 0);
	put(s, REC_ENTRY, tid, SERVE, NULL, 0);
	if (n % 3) {
		put(s, REC_ENTRY, tid, PARSE, NULL, 0);
		s->time_ns += 1000 + n % 7;
		put(s, REC_EXIT, tid, PARSE, NULL, 0);
	}
	put(s, REC_ENTRY, tid, LOCK, NULL, 0);
	wait_for_server(s, tid, REQUEST_NS / 2 + n % 11);
	put(s, REC_EXIT, tid, LOCK, NULL, 0);
	if (n % 5)
		put(s, REC_EXIT, tid, SERVE, NULL, 0);
	/* one in five ends inside of its call; one in 100 goes without a word */
	s->time_ns += REQUEST_NS / 2;
	if (n % 100)
		put(s, REC_TASK_EXIT, tid, 0, NULL, 0);
}

static void end_part(struct server *s)
{
	struct blocks blocks = { 0 };

	interval_blocks(&s->interval, s->time_ns, &blocks);
	vec_for_each (&blocks, const struct block, b) {
		s->part_calls += b->calls;
		s->part_threads += b->threads;
	}
	blocks_release(&blocks);
	interval_next(&s->interval);
	s->part_ns = s->time_ns;
}

/* Numbers of threads come again, as the kernel's do. */
static void serve(struct server *s, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		request(s, 100 + (uint32_t)(i % 300), i);
		if (s->time_ns > s->part_ns + 1500ull * REQUEST_NS)
			end_part(s);
	}
}

static void end(struct server *s)
{
	end_part(s);
	result_end(&s->result, s->time_ns);
}

static void release(struct server *s)
{
	interval_release(&s->interval);
	result_release(&s->result);
	vec_release(&s->meta.functions);
}

static void same(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_float_equal(a, b, 1e-9 * (fabs(a) + fabs(b)) + 1e-12);
}

static void same_blocks(const struct blocks *a, const struct blocks *b)
{
	assert_int_equal(a->n, b->n);
	assert_true(a->n > 0);
	for (size_t i = 0; i < a->n; i++) {
		const struct block *x = &a->data[i], *y = &b->data[i];

		assert_string_equal(x->name, y->name);
		assert_int_equal(x->calls, y->calls);
		assert_int_equal(x->timed_calls, y->timed_calls);
		assert_int_equal(x->open_calls, y->open_calls);
		assert_int_equal(x->threads, y->threads);
		assert_int_equal(x->observed_ns, y->observed_ns);
		assert_int_equal(x->excess_ns, y->excess_ns);
		assert_int_equal(x->open_ns, y->open_ns);
		assert_int_equal(x->verdict, y->verdict);
		same(x->sci, y->sci);
		same(x->self_sci, y->self_sci);
		same(x->sci_worst_thread, y->sci_worst_thread);
		assert_int_equal(x->causes.n, y->causes.n);
		for (size_t c = 0; c < x->causes.n; c++)
			assert_string_equal(x->causes.data[c].kind, y->causes.data[c].kind);
	}
}

static void near(uint64_t a, uint64_t b)
{
	assert_true((double)(a > b ? a - b : b - a) <= 1e-6 * (double)(a + b));
}

static void test_nothing_changes(void **state)
{
	struct server each, summed;

	begin(&each, false);
	begin(&summed, true);
	serve(&each, 9001);
	serve(&summed, 9001);
	end(&each);
	end(&summed);
	same_blocks(&each.result.blocks, &summed.result.blocks);
	assert_int_equal(threads_count(&each.result.calls.threads),
			 threads_count(&summed.result.calls.threads));
	assert_true(summed.result.calls.threads.n_rest > 7000);
	assert_int_equal(each.part_calls, summed.part_calls);
	assert_int_equal(each.part_threads, summed.part_threads);
	assert_int_equal(each.result.threads_ns, summed.result.threads_ns);
	near(each.result.lost_ns, summed.result.lost_ns);
	near(each.result.idle_ns, summed.result.idle_ns);
	near(each.result.working_ns, summed.result.working_ns);
	same(each.result.coverage, summed.result.coverage);
	release(&each);
	release(&summed);
}

struct kept {
	size_t bytes; /* 0: the allocator of a sanitizer or of Valgrind does not say */
	size_t threads, cells;
};

static struct kept kept_after(uint64_t n)
{
	size_t before = mallinfo2().uordblks;
	struct kept kept;
	struct server s;

	begin(&s, true);
	serve(&s, n);
	kept = (struct kept){ .bytes = mallinfo2().uordblks - before,
			      .threads = s.result.calls.threads.all.n,
			      .cells = s.result.sci.cells.n };
	release(&s);
	return kept;
}

static void test_memory(void **state)
{
	struct kept few = kept_after(20000), many = kept_after(200000);

	print_message("# of 20,000 threads %zu are kept in %zu KiB, of 200,000 %zu in %zu KiB\n",
		      few.threads, few.bytes >> 10, many.threads, many.bytes >> 10);
	assert_true(many.threads < 2 * few.threads);
	assert_true(many.cells < 2 * few.cells);
	if (few.bytes)
		assert_true(many.bytes < 2 * few.bytes); /* 9 times as much if each is kept */
}

/* A thread that lived for long has a score of its own, whoever ended since. */
static void test_long_lives_stay(void **state)
{
	struct server s;
	uint64_t from_ns;
	size_t n = 0;

	begin(&s, true);
	value(&s, REC_FORK, SERVER, 77, SERVER);
	value(&s, REC_SWITCH_IN, 77, 0, 0);
	put(&s, REC_ENTRY, 77, PARSE, NULL, 0);
	from_ns = s.time_ns;
	serve(&s, 1000);
	put(&s, REC_EXIT, 77, PARSE, NULL, 0);
	put(&s, REC_TASK_EXIT, 77, 0, NULL, 0);
	assert_true(s.time_ns > from_ns);
	serve(&s, 9000);
	end(&s);
	vec_for_each (&s.result.threads, const struct result_thread, t)
		n += t->thread->tid == 77 && !t->thread->vacant;
	assert_int_equal(n, 1);
	vec_for_each (&s.result.blocks, const struct block, b)
		if (!strcmp(b->name, "parse"))
			assert_true(b->sci_worst_thread > 0.9);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changes),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_long_lives_stay),
	};

	return unit_run(tests);
}
