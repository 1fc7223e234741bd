/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --keep-slower: which entries go on, and what is known of the others. */
#include "unit.h"

#include <string.h>

#include "probes/drain/keep.h"

#define SLOW 1000

struct story {
	struct keep *keep;
	uint64_t written[64];
	uint32_t n_written;
	uint64_t calls, outer, sum_ns, min_ns, own_ns, inside, top_ns, cost_ns, in_octaves, rows;
};

static void on_written(void *ctx, uint32_t cpu, const struct keep_entry *e)
{
	struct story *s = ctx;

	(void)cpu;
	if (s->n_written < 64)
		s->written[s->n_written] = e->call.h.time_ns;
	s->n_written++;
}

static void begin(struct story *s)
{
	memset(s, 0, sizeof(*s));
	s->keep = keep_new(SLOW, 2, on_written, s);
}

static struct wire_call call_at(uint64_t time, uint32_t tid, uint32_t id, uint64_t sp)
{
	return (struct wire_call){ .h = { .head = id, .time_ns = time, .tid = tid, .tgid = 1 },
				   .sp = sp,
				   .caller = 1 };
}

static void enter(struct story *s, uint64_t time, uint32_t tid, uint32_t id, uint64_t sp)
{
	struct keep_entry e = { .call = call_at(time, tid, id, sp) };

	keep_enter(s->keep, tid % 2, &e);
}

static struct keep_inside leave(struct story *s, uint64_t time, uint32_t tid, uint32_t id,
				uint64_t sp)
{
	struct wire_call exit = call_at(time, tid, id, sp);

	return keep_leave(s->keep, tid % 2, &exit);
}

static void on_rest(void *ctx, const struct keep_rest *rest)
{
	struct story *s = ctx;

	s->rows++;
	s->calls += rest->calls;
	s->outer += rest->outer;
	s->sum_ns += rest->sum_ns;
	s->min_ns = rest->min_ns;
	s->own_ns += rest->own_ns;
	s->inside += rest->inside;
	s->top_ns += rest->top_ns;
	s->cost_ns += rest->cost_ns;
	for (unsigned i = 0; i < BRIEF_OCTAVES; i++)
		s->in_octaves += rest->octaves[i];
}

static void end(struct story *s)
{
	keep_release_all(s->keep);
	keep_each(s->keep, on_rest, s);
	keep_free(s->keep);
}

static void short_calls_are_summed_up(void **state)
{
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 7, 0x8000);
	assert_false(leave(&s, 150, 1, 7, 0x8000).write);
	enter(&s, 200, 1, 7, 0x8000);
	assert_false(leave(&s, 230, 1, 7, 0x8000).write);
	end(&s);
	assert_int_equal(s.n_written, 0);
	assert_int_equal(s.rows, 1);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.sum_ns, 80);
	assert_int_equal(s.min_ns, 30);
	assert_int_equal(s.top_ns, 80);
	assert_int_equal(s.in_octaves, 2);
}

/* A long call with short ones inside, one of which is long. */
static void long_calls_are_written_with_what_is_missing(void **state)
{
	struct keep_inside inside;
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 1, 0x8000);
	enter(&s, 200, 1, 2, 0x7000);
	enter(&s, 210, 1, 3, 0x6000);
	assert_false(leave(&s, 220, 1, 3, 0x6000).write);
	assert_false(leave(&s, 250, 1, 2, 0x7000).write);
	enter(&s, 300, 1, 2, 0x7000);
	inside = leave(&s, 1300, 1, 2, 0x7000);
	assert_true(inside.write);
	assert_int_equal(inside.calls, 0);
	inside = leave(&s, 1400, 1, 1, 0x8000);
	assert_true(inside.write);
	assert_int_equal(inside.calls, 2);
	assert_int_equal(inside.ns, 50);
	end(&s);
	/* outer ones first: entries go on in order of time */
	assert_int_equal(s.n_written, 2);
	assert_int_equal(s.written[0], 100);
	assert_int_equal(s.written[1], 300);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.own_ns, 40 + 10);
	assert_int_equal(s.inside, 1);
	assert_int_equal(s.top_ns, 0);
}

static void what_is_open_is_written(void **state)
{
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 1, 0x8000);
	enter(&s, 200, 2, 1, 0x8000);
	keep_pass(s.keep, 1, 100 + SLOW);
	assert_int_equal(s.n_written, 1);
	end(&s);
	assert_int_equal(s.n_written, 2);
	assert_int_equal(s.calls, 0);
}

/* Unwound by a longjmp: its entry is written, as is the one that an exit without entry is for. */
static void unwound_frames_are_written(void **state)
{
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 1, 0x8000);
	enter(&s, 110, 1, 2, 0x7000);
	enter(&s, 120, 1, 3, 0x7800);
	assert_int_equal(s.n_written, 2); /* the outer one is as old, and goes first */
	assert_false(leave(&s, 130, 1, 3, 0x7800).write);
	assert_true(leave(&s, 140, 1, 9, 0x7800).write);
	end(&s);
	assert_int_equal(s.calls, 1);
}

static void recursion_counts_once(void **state)
{
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 1, 0x8000);
	enter(&s, 110, 1, 1, 0x7000);
	leave(&s, 120, 1, 1, 0x7000);
	leave(&s, 200, 1, 1, 0x8000);
	end(&s);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.outer, 1);
	assert_int_equal(s.sum_ns, 100);
	assert_int_equal(s.own_ns, 100);
}

/* Its entry waits on the CPU that it has left. */
static void a_long_call_may_change_the_cpu(void **state)
{
	struct wire_call exit = call_at(100 + SLOW, 1, 1, 0x8000);
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 1, 0x8000);
	assert_true(keep_leave(s.keep, 0, &exit).write);
	assert_int_equal(s.n_written, 1);
	end(&s);
	assert_int_equal(s.n_written, 1);
	assert_int_equal(s.calls, 0);
}

static void probes_inside_are_subtracted(void **state)
{
	struct keep_entry outer = { .call = call_at(100, 1, 1, 0x8000), .cost = { 10, 5 } };
	struct keep_entry inner = { .call = call_at(200, 1, 2, 0x7000), .cost = { 10, 5 } };
	struct story s;

	begin(&s);
	keep_enter(s.keep, 1, &outer);
	keep_enter(s.keep, 1, &inner);
	leave(&s, 240, 1, 2, 0x7000);
	leave(&s, 300, 1, 1, 0x8000);
	end(&s);
	/* inner 40; outer 200 - 10 - 5, of it 30 in inner */
	assert_int_equal(s.sum_ns, 40 + 185);
	assert_int_equal(s.own_ns, 40 + 155);
	assert_int_equal(s.top_ns, 200);
	assert_int_equal(s.cost_ns, 15);
}

/* More open ones than are followed, and more held back than there is room: none is forgotten. */
static void every_call_is_written_or_counted(void **state)
{
	uint64_t time = 0, exits = 0, made = 0;
	struct story s;

	begin(&s);
	for (uint32_t round = 0; round < 2000; round++)
		for (uint32_t tid = 0; tid < 7; tid++) {
			uint32_t depth = 1 + (round * 31 + tid) % 100;

			for (uint32_t i = 0; i < depth; i++, made++)
				enter(&s, time += 3, tid, i % 5, 0x100000 - 16 * i);
			for (uint32_t i = depth; i--;)
				exits += leave(&s, time += 3, tid, i % 5, 0x100000 - 16 * i).write;
		}
	end(&s);
	assert_int_equal(s.n_written + s.calls, made);
	assert_int_equal(s.n_written, exits);
	assert_true(s.calls > made / 4);
}

/* Its open call is written; the next of its number has nothing of it. */
static void a_number_may_come_back(void **state)
{
	struct story s;

	begin(&s);
	enter(&s, 100, 1, 7, 0x8000);
	enter(&s, 110, 1, 8, 0x7000);
	assert_false(leave(&s, 120, 1, 8, 0x7000).write);
	keep_end_thread(s.keep, 1, on_rest, &s);
	assert_int_equal(s.n_written, 1);
	assert_int_equal(s.rows, 1);
	enter(&s, 200, 1, 7, 0x6000);
	assert_false(leave(&s, 240, 1, 7, 0x6000).write);
	end(&s);
	assert_int_equal(s.n_written, 1);
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.outer, 2); /* not inside of the call that the first had open */
	assert_int_equal(s.top_ns, 40);
}

/* A thread for each request: as much memory as for those that live at once. */
static void threads_that_end_leave_nothing(void **state)
{
	uint64_t time = 100;
	size_t bytes = 0;
	struct story s;

	begin(&s);
	for (uint32_t tid = 1; tid <= 20000; tid++) {
		for (uint32_t id = 0; id < 3; id++, time += 10) {
			enter(&s, time, tid, id, 0x8000);
			assert_false(leave(&s, time + 5, tid, id, 0x8000).write);
		}
		if (tid > 10)
			keep_end_thread(s.keep, tid - 10, on_rest, &s);
		if (tid == 100)
			bytes = keep_bytes(s.keep);
	}
	assert_int_equal(keep_bytes(s.keep), bytes);
	end(&s);
	assert_int_equal(s.calls, 60000);
	assert_int_equal(s.rows, 60000);
	assert_int_equal(s.n_written, 0);
}

/* Numbers of threads and functions come from the program too: memory has an end, and the calls of
 * those that found no room are written. */
static void no_number_of_threads_takes_all_memory(void **state)
{
	size_t bytes = 0;
	struct story s;

	begin(&s);
	for (uint32_t tid = 1; tid <= 60000; tid++) {
		enter(&s, tid * 10ull, tid, 1, 0x8000);
		leave(&s, tid * 10ull + 1, tid, 1, 0x8000);
		if (tid == 20000)
			bytes = keep_bytes(s.keep);
	}
	assert_int_equal(keep_bytes(s.keep), bytes);
	end(&s);
	assert_true(s.n_written > 0);
	assert_int_equal(s.calls + s.n_written, 60000);
}

static void no_number_of_functions_takes_all_memory(void **state)
{
	size_t bytes = 0;
	struct story s;

	begin(&s);
	for (uint32_t i = 0; i < 1500000; i++) {
		enter(&s, i * 10ull, 1 + i % 1000, i / 1000, 0x8000);
		leave(&s, i * 10ull + 1, 1 + i % 1000, i / 1000, 0x8000);
		if (i == 1200000)
			bytes = keep_bytes(s.keep);
	}
	assert_int_equal(keep_bytes(s.keep), bytes);
	end(&s);
	assert_true(s.n_written > 0);
	assert_int_equal(s.calls + s.n_written, 1500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_calls_are_summed_up),
		cmocka_unit_test(long_calls_are_written_with_what_is_missing),
		cmocka_unit_test(what_is_open_is_written),
		cmocka_unit_test(unwound_frames_are_written),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(a_long_call_may_change_the_cpu),
		cmocka_unit_test(probes_inside_are_subtracted),
		cmocka_unit_test(every_call_is_written_or_counted),
		cmocka_unit_test(a_number_may_come_back),
		cmocka_unit_test(threads_that_end_leave_nothing),
		cmocka_unit_test(no_number_of_threads_takes_all_memory),
		cmocka_unit_test(no_number_of_functions_takes_all_memory),
	};

	return unit_run(tests);
}
