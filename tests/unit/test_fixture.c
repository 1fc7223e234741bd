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
	static const char lines[] = "1 0 1/1 waking tid=7 how=8 count=9 10\n"
				    "2 0 1/1 fork child=3\n"
				    "3 0 1/1 set-on\n"
				    "4 0 1/1 args mask=0x3 5 6\n";

	(void)state;
	assert_prints(lines, lines);
	/* A mask says nothing about values that are not there. */
	assert_prints("4 0 1/1 args mask=0xf0 5\n", "4 0 1/1 args mask=0x10 5\n");
}

/* ---- repeats ---- */

static void rounds_follow_each_other(void **state)
{
	(void)state;
	assert_prints("repeat 2 every 10us from 1us\n"
		      "\t0 0 1/1 waking tid=$i\n"
		      "\t# a comment\n\n"
		      "\t+500 0 1/1 waking tid=$(7 + i)\n"
		      "end\n"
		      "+1us 0 1/1 inner\n",
		      "1000 0 1/1 waking tid=0\n"
		      "1500 0 1/1 waking tid=7\n"
		      "11000 0 1/1 waking tid=1\n"
		      "11500 0 1/1 waking tid=8\n"
		      "22000 0 1/1 inner\n");
}

/* Without `every` a round lasts to its last line; without `from` the first begins at the line
 * before. */
static void rounds_last_as_long_as_their_lines(void **state)
{
	(void)state;
	assert_prints("1us 0 1/1 inner\n"
		      "repeat 3\n"
		      "+$(100 + i % 2 * 10) 0 1/1 inner\n"
		      "end\n"
		      "+1 0 1/1 inner\n"
		      "repeat 0\n5 0 1/1 comm a\nend\n"
		      "5000 0 1/1 inner\n",
		      "1000 0 1/1 inner\n1100 0 1/1 inner\n1210 0 1/1 inner\n1310 0 1/1 inner\n"
		      "1311 0 1/1 inner\n5000 0 1/1 inner\n");
}

static void repeats_nest(void **state)
{
	(void)state;
	assert_prints("repeat 2 every 1us\n"
		      "repeat $(i + 1) every 100 from 10\n"
		      "repeat 1\n"
		      "$(j * 5) 0 $(100 + i)/$(k + 9) waking tid=$(i * 10 + j)\n"
		      "end\n"
		      "end\n"
		      "900 0 1/1 comm \"$$i$i\"\n"
		      "end\n",
		      "10 0 100/9 waking tid=0\n"
		      "900 0 1/1 comm \"$i0\"\n"
		      "1010 0 101/9 waking tid=10\n"
		      "1115 0 101/9 waking tid=11\n"
		      "1900 0 1/1 comm \"$i1\"\n");
}

/* Rounds at the same time, and the lines of one time in them, stay in the order of the text. */
static void rounds_keep_their_order(void **state)
{
	(void)state;
	assert_prints("repeat 3 every 0 from 5\n0 0 1/1 waking tid=$i\n0 0 1/1 waking tid=9\nend\n"
		      "5 0 1/1 inner\n",
		      "5 0 1/1 waking tid=0\n5 0 1/1 waking tid=9\n5 0 1/1 waking tid=1\n"
		      "5 0 1/1 waking tid=9\n5 0 1/1 waking tid=2\n5 0 1/1 waking tid=9\n"
		      "5 0 1/1 inner\n");
}

static void expressions_are_of_whole_numbers(void **state)
{
	(void)state;
	assert_prints("repeat 1 from $(2+3*4-10/4%3)\n"
		      "0 0 1/1 waking tid=$( (2 + 3) * (0x10 - 1) )\n"
		      "0 0 1/1 block-stack $(i - 3)\n"
		      "repeat $(i == 1 - 1)\n"
		      "0 0 1/1 waking tid=$(5 + (i < 1) * 20 + (1+2<3))\n"
		      "end\n"
		      "end\n",
		      "12 0 1/1 waking tid=75\n12 0 1/1 block-stack -3\n"
		      "12 0 1/1 waking tid=25\n");
}

/* Of each thread and each bit of the mask; a first one is counted from 0. */
static void counters_add_up(void **state)
{
	(void)state;
	assert_prints("1 0 1/1 counters mask=0x5 100 +3\n"
		      "repeat 2\n"
		      "+1 0 1/1 counters mask=0x6 +$(7 + i) +1\n"
		      "+0 0 2/1 counters mask=0x4 +1\n"
		      "end\n"
		      "4 0 1/1 counters mask=0x1 +5 +6\n",
		      "1 0 1/1 counters mask=0x5 100 3\n"
		      "2 0 1/1 counters mask=0x6 7 4\n"
		      "2 0 2/1 counters mask=0x4 1\n"
		      "3 0 1/1 counters mask=0x6 15 5\n"
		      "3 0 2/1 counters mask=0x4 2\n"
		      "4 0 1/1 counters mask=0x1 105 6\n");
}

/* Outside of repeats a $ is a $: dump prints names that have one. */
static void dollars_are_kept_outside(void **state)
{
	(void)state;
	assert_prints("1 0 1/1 comm \"lambda$0 $i\"\n", "1 0 1/1 comm \"lambda$0 $i\"\n");
}

struct bad_text {
	const char *text, *words;
};

static void assert_refused(const struct bad_text *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err = { 0 };

		assert_int_not_equal(fixture_write_text(bad[i].text, path, &err), 0);
		if (!strstr(err.text, bad[i].words))
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static void errors_name_the_line(void **state)
{
	static const struct bad_text bad[] = {
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
	assert_refused(bad, sizeof(bad) / sizeof(bad[0]));
}

static void errors_of_repeats_name_the_line(void **state)
{
	static const struct bad_text bad[] = {
		{ "\nrepeat 4000000000\n1 0 1/1 inner\nend\n",
		  "line 2: 4000000000 rounds are too many; repeat up to 50000 times" },
		{ "repeat 50000\nrepeat 50000\nend\nend\n",
		  "line 2: the repeats of this text make more than 50000 lines; repeat less often" },
		{ "repeat\nend\n", "line 1: a repeat without the number of its rounds" },
		{ "repeat 2 at 5\nend\n", "line 1: at is no word of a repeat" },
		{ "repeat 2 every\nend\n", "line 1: nothing is no time for every" },
		{ "repeat 2 from x\nend\n", "line 1: x is no time for from" },
		{ "repeat 2\n\n1 0 1/1 jump\nend\n", "line 3: jump is no kind" },
		{ "repeat 1\nrepeat 2\n", "line 2: this repeat has no end; write end" },
		{ "1 0 1/1 inner\nend\n", "line 2: this end has no repeat before it" },
		{ "repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\n",
		  "line 4: a repeat may be inside of 2 others" },
		{ "repeat 1\n{}\nend\n", "line 2: a meta line is said once" },
		{ "repeat 1\n1 0 $x inner\nend\n", "line 2: $ stands before i, j, k" },
		{ "repeat 1\n1 0 $j/1 inner\nend\n", "line 2: j has no value here" },
		{ "repeat $i\nend\n", "line 1: i has no value here" },
		{ "repeat 1\n$(i+) 0 1/1 inner\nend\n", "line 2: a value is missing" },
		{ "repeat 1\n$(i 0 1/1 inner\nend\n", "line 2: an expression does not end" },
		{ "repeat 1\n$(i=1) 0 1/1 inner\nend\n", "line 2: an expression does not end" },
		{ "repeat 1\n$(5/i) 0 1/1 inner\nend\n", "line 2: an expression divides by 0" },
		{ "repeat 1\n$(9223372036854775807+1) 0 1/1 inner\nend\n",
		  "line 2: an expression comes to too large a number" },
		{ "repeat 1\n$(9223372036854775808) 0 1/1 inner\nend\n",
		  "line 2: a number of an expression is too large" },
		{ "repeat 1\n$((((((((((((((((((((1)))))))))))))))))))) 0 1/1 inner\nend\n",
		  "line 2: an expression has too many parentheses" },
		{ "repeat 1\n$(i-1) 0 1/1 inner\nend\n", "line 2: -1 is no time" },
		{ "18446744073709551615 0 1/1 inner\n+1 0 1/1 inner\n",
		  "line 2: +1 is later than a time can be; write less" },
		{ "repeat 3 every 18446744073709551615\nend\n",
		  "line 1: the rounds last longer than times can say" },
	};

	(void)state;
	assert_refused(bad, sizeof(bad) / sizeof(bad[0]));
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
		cmocka_unit_test(rounds_follow_each_other),
		cmocka_unit_test(rounds_last_as_long_as_their_lines),
		cmocka_unit_test(repeats_nest),
		cmocka_unit_test(rounds_keep_their_order),
		cmocka_unit_test(expressions_are_of_whole_numbers),
		cmocka_unit_test(counters_add_up),
		cmocka_unit_test(dollars_are_kept_outside),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(errors_of_repeats_name_the_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
