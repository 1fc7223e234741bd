/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a ring to the file: what came ahead of a call's record is that call's, whoever came between.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "made_ring.h"
#include "probes/drain/internal.h"
#include "probes/ring/ring.h"
#include "probes/select/arguments.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define FUNCTION 0

struct story {
	char path[32];
	struct trace_writer *writer;
	struct made_ring made;
	struct ringbufs rings;
	struct arguments arguments;
	struct drain drain;
};

static void begin(struct story *s)
{
	struct trace_writer_options o = { .path = s->path, .n_cpus = 1 };
	struct err err = { 0 };

	memset(s, 0, sizeof(*s));
	strcpy(s->path, "/tmp/ispot-test.XXXXXX");
	close(mkstemp(s->path));
	assert_int_equal(trace_writer_open(&s->writer, &o, &err), 0);
	made_ring_begin(&s->made, 0, 0);
	s->rings = (struct ringbufs){ .rings = &s->made.ring, .n = 1, .epoll_fd = -1 };
	s->arguments = (struct arguments){ .n = 1, .registers = 1, .bytes = { 8 } };
	s->arguments.bytes[ARG_RETURN] = 8;
	drain_init(&s->drain, s->writer, NULL, 1);
	drain_count_functions(&s->drain, FUNCTION + 1);
	s->drain.arguments[FUNCTION] = &s->arguments;
}

static void end(struct story *s)
{
	drain_release(&s->drain);
	made_ring_end(&s->made);
	unlink(s->path);
}

static struct wire_head head(uint32_t kind, uint64_t time_ns, uint32_t tid)
{
	return (struct wire_head){
		.head = kind << WIRE_ID_BITS | FUNCTION, .time_ns = time_ns, .tid = tid, .tgid = 1
	};
}

/* The first argument of its next entry. */
static void put_argument(struct story *s, uint32_t tid, uint64_t value)
{
	struct wire_args w = { .h = head(WIRE_ARGS, 0, tid), .values = { value } };

	made_ring_put(&s->made, 0, &w, WIRE_ARGS_BYTES(WIRE_ARGS_FEW));
}

static void put_result(struct story *s, uint64_t time_ns, uint32_t tid, uint64_t value)
{
	struct wire_args w = { .h = head(WIRE_RETURN, time_ns, tid), .values = { value } };

	made_ring_put(&s->made, 0, &w, WIRE_ARGS_BYTES(1));
}

static void put_stack(struct story *s, uint32_t tid)
{
	struct wire_stack w = { .h = head(WIRE_STACK, 0, tid),
				.n_frames = 2,
				.frames = { 0x400000 + tid, 0x500000 } };

	made_ring_put(&s->made, 0, &w, sizeof(w));
}

static void put_call(struct story *s, uint32_t kind, uint64_t time_ns, uint32_t tid)
{
	struct wire_call w = { .h = head(kind, time_ns, tid), .sp = 0x1000 };

	made_ring_put(&s->made, 0, &w, sizeof(w));
}

static void put_lost(struct story *s, uint64_t time_ns, uint64_t lost)
{
	struct wire_lost w = { .h = head(WIRE_LOST, time_ns, 0), .lost = lost };

	made_ring_put(&s->made, 0, &w, sizeof(w));
}

/* "1:10 2:stack ": threads, and what their calls had as arguments, results and stacks, in the
 * file's order. */
static const char *told(struct story *s)
{
	static char words[4096];
	struct rings none = { 0 };
	struct trace_reader *reader;
	const struct record *records;
	struct err err = { 0 };
	size_t n, at = 0;

	assert_int_equal(drain_run(&s->drain, &s->rings, &none), 0);
	if (s->drain.keep)
		drain_write_rest_of_calls(&s->drain, &s->rings, 1000000);
	assert_int_equal(trace_writer_close(s->writer, &err), 0);
	assert_int_equal(trace_reader_open(&reader, s->path, &err), 0);
	words[0] = '\0';
	while ((n = trace_reader_batch(reader, &records)))
		for (size_t i = 0; i < n; i++) {
			const struct record *r = &records[i];
			char value[16];

			snprintf(value, sizeof(value), "%u",
				 r->kind == REC_ARGS ? (unsigned)r->values[1] : 0);
			if (r->kind == REC_ARGS || r->kind == REC_STACK ||
			    r->kind == REC_EXIT_STACK)
				at += (size_t)snprintf(words + at, sizeof(words) - at, "%u:%s ",
						       r->tid,
						       r->kind == REC_STACK	   ? "stack"
						       : r->kind == REC_EXIT_STACK ? "exit-stack"
										   : value);
		}
	trace_reader_free(reader);
	return words;
}

/* One was preempted between its arguments and its entry, and so was the next. */
static void arguments_stay_with_their_thread(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	put_argument(&s, 1, 10);
	put_argument(&s, 2, 20);
	put_argument(&s, 3, 30);
	put_call(&s, WIRE_ENTRY, 1000, 3);
	put_call(&s, WIRE_ENTRY, 1001, 4);
	put_call(&s, WIRE_ENTRY, 1002, 1);
	put_call(&s, WIRE_ENTRY, 1003, 2);
	put_call(&s, WIRE_EXIT, 1004, 2);
	assert_string_equal(told(&s), "3:30 1:10 2:20 ");
	end(&s);
}

static void results_of_held_calls_stay_with_their_thread(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	drain_keep_slower(&s.drain, 100);
	put_argument(&s, 1, 10);
	put_call(&s, WIRE_ENTRY, 1000, 1);
	put_argument(&s, 2, 20);
	put_call(&s, WIRE_ENTRY, 1001, 2);
	put_result(&s, 3001, 1, 11);
	put_result(&s, 3000, 2, 21);
	put_call(&s, WIRE_EXIT, 3000, 2);
	put_call(&s, WIRE_EXIT, 3001, 1);
	assert_string_equal(told(&s), "1:10 2:20 2:21 1:11 ");
	end(&s);
}

/* The entry that they were ahead of may be among the lost ones: no later one gets them. */
static void a_loss_ends_what_is_ahead(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	put_argument(&s, 1, 10);
	put_lost(&s, 1000, 2);
	put_call(&s, WIRE_ENTRY, 2000, 1);
	assert_string_equal(told(&s), "");
	assert_int_equal(s.drain.lost, 2); /* as its losses add up to in the file */
	end(&s);
}

/* The recorder knows of it when the thread leaves the CPU: behind what the thread did meanwhile. */
static void an_untold_switch_stands_where_it_was(void **state)
{
	struct wire_task in = { .h = head(WIRE_UNTOLD_IN, 900, 1) };
	struct wire_switch out = { .h = head(WIRE_SWITCH, 2000, 1),
				   .flags = WIRE_PREV,
				   .stack = WIRE_NO_STACK };
	static const uint32_t kinds[] = { REC_SWITCH_IN, REC_ENTRY, REC_EXIT, REC_SWITCH_OUT };
	struct rings none = { 0 };
	struct trace_reader *reader;
	const struct record *records;
	struct err err = { 0 };
	struct story s;
	size_t n, seen = 0;

	(void)state;
	begin(&s);
	put_call(&s, WIRE_ENTRY, 1000, 1);
	put_call(&s, WIRE_EXIT, 1001, 1);
	made_ring_put(&s.made, 0, &in, sizeof(in));
	made_ring_put(&s.made, 0, &out, sizeof(out));
	assert_int_equal(drain_run(&s.drain, &s.rings, &none), 0);
	assert_int_equal(trace_writer_close(s.writer, &err), 0);
	assert_int_equal(trace_reader_open(&reader, s.path, &err), 0);
	while ((n = trace_reader_batch(reader, &records)))
		for (size_t i = 0; i < n; i++)
			assert_int_equal(records[i].kind, kinds[seen++]);
	assert_int_equal(seen, 4);
	trace_reader_free(reader);
	end(&s);
}

static void stacks_stay_with_their_thread(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	put_stack(&s, 1);
	put_argument(&s, 2, 20);
	put_call(&s, WIRE_ENTRY, 1000, 2);
	put_call(&s, WIRE_ENTRY, 1001, 1);
	put_stack(&s, 2);
	put_call(&s, WIRE_EXIT, 1002, 1);
	put_call(&s, WIRE_EXIT, 1003, 2);
	put_call(&s, WIRE_ENTRY, 1004, 1);
	assert_string_equal(told(&s), "2:20 1:stack 2:exit-stack ");
	end(&s);
}

/* A call that is long enough takes along what came ahead of its entry, one that is not takes it
 * away. */
static void stacks_of_held_calls_stay_with_their_thread(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	drain_keep_slower(&s.drain, 100);
	put_stack(&s, 1);
	put_stack(&s, 2);
	put_call(&s, WIRE_ENTRY, 1000, 1);
	put_call(&s, WIRE_ENTRY, 1001, 2);
	put_stack(&s, 2);
	put_call(&s, WIRE_EXIT, 1011, 2);
	put_stack(&s, 1);
	put_call(&s, WIRE_EXIT, 3000, 1);
	put_call(&s, WIRE_ENTRY, 3001, 2);
	put_call(&s, WIRE_EXIT, 6000, 2);
	assert_string_equal(told(&s), "1:stack 1:exit-stack ");
	end(&s);
}

/* Of threads that never come back to their calls only so many are remembered; what that takes from
 * others is counted. */
static void not_more_is_kept_than_is_said(void **state)
{
	char last[32];
	struct story s;

	(void)state;
	begin(&s);
	for (uint32_t tid = 1; tid <= DRAIN_AHEAD_MAX + 1; tid++)
		put_argument(&s, tid, tid);
	put_call(&s, WIRE_ENTRY, 1000, DRAIN_AHEAD_MAX);
	put_call(&s, WIRE_ENTRY, 1001, DRAIN_AHEAD_MAX + 1);
	snprintf(last, sizeof(last), "%u:%u ", DRAIN_AHEAD_MAX + 1, DRAIN_AHEAD_MAX + 1);
	assert_string_equal(told(&s), last);
	assert_int_equal(s.drain.aheads_dropped, 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_stay_with_their_thread),
		cmocka_unit_test(results_of_held_calls_stay_with_their_thread),
		cmocka_unit_test(stacks_stay_with_their_thread),
		cmocka_unit_test(stacks_of_held_calls_stay_with_their_thread),
		cmocka_unit_test(a_loss_ends_what_is_ahead),
		cmocka_unit_test(an_untold_switch_stands_where_it_was),
		cmocka_unit_test(not_more_is_kept_than_is_said),
	};

	return unit_run(tests);
}
