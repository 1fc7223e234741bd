// SPDX-License-Identifier: GPL-3.0-or-later
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "trace/fixture/fixture.h"
#include "trace/fixture/print.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"

static char path[] = "/tmp/ispot-test.XXXXXX";

static struct trace_reader *trace_of(const char *text)
{
	struct trace_reader *reader;
	struct err err = { 0 };

	unlink(path);
	if (fixture_write_text(text, path, &err))
		fail_msg("%s", err.text);
	assert_int_equal(trace_reader_open(&reader, path, &err), 0);
	return reader;
}

/* The records of the text as they come out again. */
static char *printed(const char *text)
{
	struct trace_reader *reader = trace_of(text);
	struct fixture_names *names = fixture_names_new(trace_reader_meta(reader));
	struct text out = { 0 };
	struct record r;

	while (trace_reader_next(reader, &r))
		fixture_print_record(names, &r, &out);
	fixture_names_free(names);
	trace_reader_free(reader);
	return out.s;
}

static void assert_prints(const char *text, const char *want)
{
	char *got = printed(text);

	assert_string_equal(got, want);
	free(got);
}

/* A call from a place that has a line is told by its function, as it is by hand. */
static void places_of_calls_have_their_function(void **state)
{
	static const char text[] =
		"{\"kind\":\"function\",\"id\":0,\"set\":1,\"symbol\":\"f\",\"name\":\"f\"}\n"
		"{\"kind\":\"site\",\"id\":1048577,\"function\":0,\"stack\":5}\n"
		"1000 0 1/1 entry f sp=0x10 site=1048577\n"
		"2000 0 1/1 entry f sp=0x8 site=1048578\n"
		"3000 0 1/1 exit f sp=0x8\n"
		"4000 0 1/1 exit f sp=0x10\n";

	(void)state;
	/* a place without a line is a number */
	assert_prints(text, "1000 0 1/1 entry f sp=0x10 site=1048577\n"
			    "2000 0 1/1 entry @1048578 sp=0x8\n"
			    "3000 0 1/1 exit f sp=0x8\n"
			    "4000 0 1/1 exit f sp=0x10\n");
}

static void records_are_sorted(void **state)
{
	(void)state;
	assert_prints("3us 0 1/1 exit f sp=0x10\n"
		      "1us 0 1/1 entry f sp=0x10\n"
		      "2us 0 2/1 comm b\n"
		      "2us 0 2/1 comm a\n",
		      "1000 0 1/1 entry f sp=0x10\n"
		      "2000 0 2/1 comm \"b\"\n"
		      "2000 0 2/1 comm \"a\"\n"
		      "3000 0 1/1 exit f sp=0x10\n");
}

/* As in a recording: an interrupt's record is between a probe's stamp and its record. */
static void recorded_order_is_kept(void **state)
{
	static const char text[] = "1000 0 1/1 entry f sp=0x10\n"
				   "2000 0 1/1 waking tid=7\n"
				   "1990 0 1/1 exit f sp=0x10\n"
				   "1995 1 7/1 switch-in\n"
				   "2500 0 1/1 switch-out sleeping next=0/0\n";
	char with_comment[400];

	(void)state;
	snprintf(with_comment, sizeof(with_comment), "%s: time\n%s", FIXTURE_RECORDED_ORDER, text);
	/* What came late on its CPU is read in its place. */
	assert_prints(with_comment, "1000 0 1/1 entry f sp=0x10\n"
				    "1990 0 1/1 exit f sp=0x10\n"
				    "1995 1 7/1 switch-in\n"
				    "2000 0 1/1 waking tid=7\n"
				    "2500 0 1/1 switch-out sleeping next=0/0\n");
}

/* Stack pointers made up: equal for a call's entry and exit, lower for the call inside of it. */
static void stack_pointers_nest(void **state)
{
	struct trace_reader *reader = trace_of("1 0 5/5 entry f\n2 0 6/5 entry f\n3 0 5/5 entry f\n"
					       "4 0 5/5 exit f\n5 0 6/5 exit f\n6 0 5/5 exit f\n");
	uint64_t sp[7] = { 0 };
	struct record r;

	(void)state;
	while (trace_reader_next(reader, &r))
		sp[r.time_ns] = r.sp;
	assert_true(sp[1] == sp[6] && sp[3] == sp[4] && sp[2] == sp[5]);
	assert_true(sp[3] < sp[1] && sp[2] != sp[1] && sp[2] != sp[3]);
	trace_reader_free(reader);
}

static void undeclared_functions_are_declared(void **state)
{
	struct trace_reader *reader =
		trace_of("{\"kind\":\"function\",\"id\":4,\"name\":\"f\",\"symbol\":\"f\"}\n"
			 "10 0 5/5 entry f\n20 3 6/5 entry \"g (int)\"\n"
			 "30 0 5/5 exit f\n");
	const struct meta *meta = trace_reader_meta(reader);

	(void)state;
	assert_int_equal(meta->functions.n, 6);
	assert_string_equal(meta_function(meta, 5)->name, "g (int)");
	assert_string_equal(meta->session.producer, "synthetic");
	assert_int_equal(meta->session.start_ns, 10);
	assert_int_equal(meta->session.cpus, 4);
	assert_int_equal(meta->end.end_ns, 30);
	assert_int_equal(meta->end.made_records, 3);
	trace_reader_free(reader);
}

/* Bytes that a terminal would obey, or that are no UTF-8, come out as escapes and go in again. */
static void bytes_are_quoted(void **state)
{
	static const char line[] = "1 0 1/1 comm \"a\\\"b\\\\c\\x1b[2J\\xff\\xc2\\x9b\xc3\xa4\"\n";

	(void)state;
	assert_prints(line, line);
	assert_prints("1 0 1/1 comm \"a\\x00b\"\n", "1 0 1/1 comm \"a\\x00b\"\n");
}

static void more_and_fewer_values_than_known(void **state)
{
	static const char lines[] = "1 0 1/1 waking tid=7 how=8 9\n"
				    "2 0 1/1 fork child=3\n"
				    "3 0 1/1 set-on\n"
				    "4 0 1/1 args mask=0x3 5 6\n";

	(void)state;
	assert_prints(lines, lines);
	/* A mask says nothing about values that are not there. */
	assert_prints("4 0 1/1 args mask=0xf0 5\n", "4 0 1/1 args mask=0x10 5\n");
}

static void errors_name_the_line(void **state)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{ "\n# c\nx 0 1/1 comm a\n", "line 3: x is no time" },
		{ "1 4096 1/1 comm a\n", "line 1: 4096 is no CPU" },
		{ "1 -1 1/1 comm a\n", "-1 is no CPU" },
		{ "1 0 1/4294967296 comm a\n", "is no thread" },
		{ "1 0 1/1 jump f\n", "jump is no kind" },
		{ "1 0 1/1 entry\n", "need a function" },
		{ "1 0 1/1 entry f sp=q\n", "no stack pointer" },
		{ "1 0 1/1 entry f g\n", "too many" },
		{ "1 0 1/1 entry @x\n", "@x is no function's id" },
		{ "1 0 1/1 comm a b\n", "too many" },
		{ "1 0 1/1 comm \"a\n", "does not end" },
		{ "1 0 1/1 waking tid=x\n", "x is no number" },
		{ "{\"kind\"\n", "line 1: this is not JSON" },
		{ "{\"kind\":\"function\",\"id\":0,\"name\":\"f\",\"symbol\":\"a\"}\n"
		  "{\"kind\":\"function\",\"id\":1,\"name\":\"f\",\"symbol\":\"b\"}\n"
		  "1 0 1/1 entry f\n",
		  "line 3: more than one function is called f" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { 0 };

		assert_int_equal(fixture_write_text(bad[i].text, path, &err), -EINVAL);
		if (!strstr(err.text, bad[i].words))
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static int make_file(void **state)
{
	(void)state;
	return close(mkstemp(path));
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_calls_have_their_function),
		cmocka_unit_test(records_are_sorted),
		cmocka_unit_test(recorded_order_is_kept),
		cmocka_unit_test(stack_pointers_nest),
		cmocka_unit_test(undeclared_functions_are_declared),
		cmocka_unit_test(bytes_are_quoted),
		cmocka_unit_test(more_and_fewer_values_than_known),
		cmocka_unit_test(errors_name_the_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
