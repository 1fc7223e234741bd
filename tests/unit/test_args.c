/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "cli/args.h"

struct options {
	const char *output;
	struct arg_list functions;
	uint64_t period, time_ns, size_bytes;
	double overhead;
	bool json, inherit;
	int verbose;
};

#define AT(member) offsetof(struct options, member)
static const struct option_row rows[] = {
	{ 'o', "output", "FILE", ARG_STRING, AT(output), "write FILE", NULL },
	{ 'F', NULL, "PATTERN", ARG_LIST, AT(functions), "trace these", NULL },
	{ 'c', "count", "N", ARG_U64, AT(period), "one call in N", "N,period" },
	{ 'd', "duration", "TIME", ARG_TIME, AT(time_ns), "end after TIME", NULL },
	{ 0, "max-size", "SIZE", ARG_SIZE, AT(size_bytes), "end at SIZE", NULL },
	{ 0, "overhead", "PCT", ARG_F64, AT(overhead), "budget", NULL },
	{ 0, "json", NULL, ARG_FLAG, AT(json), "JSON", NULL },
	{ 0, "no-inherit", NULL, ARG_UNFLAG, AT(inherit), "no children", NULL },
	{ 'v', NULL, NULL, ARG_COUNT, AT(verbose), "more", NULL },
	{ 0 },
};

#define ARGV_MAX 16

struct parsed {
	struct options o;
	struct err err;
	int rc, first, argc;
	char *argv[ARGV_MAX];
	char words[256];
};

/* Splits a line at blanks and parses it. */
static struct parsed *parse(unsigned flags, const char *line)
{
	static struct parsed p;
	char *save = NULL;

	vec_release(&p.o.functions);
	memset(&p, 0, sizeof(p));
	p.o.inherit = true;
	p.argv[p.argc++] = (char *)"test";
	strcpy(p.words, line);
	for (char *w = strtok_r(p.words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		p.argv[p.argc++] = w;
	p.rc = args_parse(rows, &p.o, flags, p.argc, p.argv, &p.first, &p.err);
	return &p;
}

static void parses_every_kind(void **state)
{
	struct parsed *p = parse(0, "-o a.data -F f -Fg -c 7 -d 1.5 --max-size=2K --overhead 2.5% "
				    "--json --no-inherit -vv");

	assert_int_equal(p->rc, 0);
	assert_string_equal(p->o.output, "a.data");
	assert_int_equal(p->o.functions.n, 2);
	assert_string_equal(p->o.functions.data[1], "g");
	assert_int_equal(p->o.period, 7);
	assert_int_equal(p->o.time_ns, 1500000000);
	assert_int_equal(p->o.size_bytes, 2048);
	assert_true(p->o.overhead > 2.49 && p->o.overhead < 2.51);
	assert_true(p->o.json);
	assert_false(p->o.inherit);
	assert_int_equal(p->o.verbose, 2);
	assert_int_equal(p->first, p->argc);
}

static void knows_aliases_and_glued_values(void **state)
{
	assert_int_equal(parse(0, "-N 3")->o.period, 3);
	assert_int_equal(parse(0, "--period=4")->o.period, 4);
	assert_int_equal(parse(0, "-vN5")->o.period, 5);
	assert_string_equal(parse(0, "-o -v")->o.output, "-v");
	assert_string_equal(parse(0, "--output=")->o.output, "");
}

static void words_keep_their_order(void **state)
{
	struct parsed *p = parse(0, "a -v b --count 2 - -- -c d");

	assert_int_equal(p->rc, 0);
	assert_int_equal(p->o.period, 2);
	assert_int_equal(p->argc - p->first, 5);
	assert_string_equal(p->argv[p->first], "a");
	assert_string_equal(p->argv[p->first + 1], "b");
	assert_string_equal(p->argv[p->first + 2], "-");
	assert_string_equal(p->argv[p->first + 3], "-c");
	assert_string_equal(p->argv[p->first + 4], "d");
}

static void stops_at_the_command(void **state)
{
	struct parsed *p = parse(ARGS_STOP_AT_WORD, "-v ./app -v --json");

	assert_int_equal(p->rc, 0);
	assert_int_equal(p->o.verbose, 1);
	assert_false(p->o.json);
	assert_string_equal(p->argv[p->first], "./app");
	p = parse(ARGS_STOP_AT_WORD, "-v -- -strange -v");
	assert_string_equal(p->argv[p->first], "-strange");
	assert_int_equal(p->argc - p->first, 2);
}

static void can_keep_dashes(void **state)
{
	struct parsed *p = parse(ARGS_KEEP_DASHES, "a -v b -- c d");

	assert_int_equal(p->argc - p->first, 5);
	assert_string_equal(p->argv[p->first + 2], "--");
	assert_string_equal(p->argv[p->first + 3], "c");
}

static void has_options_on_both_sides(void **state)
{
	struct parsed *p = parse(ARGS_TWO_SIDES, "a -- b -v");

	assert_int_equal(p->rc, 0);
	assert_int_equal(p->o.verbose, 1);
	assert_int_equal(p->argc - p->first, 3);
	assert_string_equal(p->argv[p->first + 1], "--");
	p = parse(ARGS_TWO_SIDES, "a -- b -- -v");
	assert_int_equal(p->o.verbose, 0);
	assert_int_equal(p->argc - p->first, 4);
}

static void refuse(const char *line, const char *part)
{
	struct parsed *p = parse(0, line);

	assert_int_equal(p->rc, -EINVAL);
	assert_int_equal(p->err.exit_status, 2);
	if (!strstr(p->err.text, part))
		fail_msg("%s: \"%s\" lacks \"%s\"", line, p->err.text, part);
}

static void refuses_with_a_sentence(void **state)
{
	refuse("--outptu x", "did you mean --output?");
	refuse("--preiod 3", "did you mean --period?");
	refuse("--html x", "-h lists the options"); /* nothing is near */
	refuse("-x", "no option -x");
	refuse("--frobnicate-all", "-h lists");
	refuse("-o", "-o needs a value; give -o FILE");
	refuse("--count", "--count needs a value");
	refuse("-c ten", "-c ten: not a number");
	refuse("-c -1", "not a number");
	refuse("-c 18446744073709551616", "too large");
	refuse("-d 5parsecs", "not a time");
	refuse("--max-size=2Q", "not a size");
	refuse("-c 99999999999999999999", "-c 99999999999999999999: too large");
	refuse("-d 99999999999999999999s", "too large");
	refuse("--max-size 99999999T", "too large");
	refuse("-c 99999999999999999999x", "not a number");
	refuse("--overhead nan", "not a number");
	refuse("--overhead 3x", "not a number");
	refuse("--overhead 1e999", "not a number");
	refuse("--json=yes", "takes no value");
	refuse("-vx", "no option -x");
}

static void hands_help_and_version_on(void **state)
{
	assert_int_equal(parse(0, "-v --help")->rc, ARGS_ANSWERED);
	assert_int_equal(parse(0, "-h")->err.code, ARGS_ANSWERED);
	assert_string_equal(parse(0, "--version")->err.text, "--version");
	assert_int_equal(parse(ARGS_STOP_AT_WORD, "app -h")->rc, 0);
	assert_int_equal(parse(0, "-o -h")->rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_every_kind),
		cmocka_unit_test(knows_aliases_and_glued_values),
		cmocka_unit_test(words_keep_their_order),
		cmocka_unit_test(stops_at_the_command),
		cmocka_unit_test(can_keep_dashes),
		cmocka_unit_test(has_options_on_both_sides),
		cmocka_unit_test(refuses_with_a_sentence),
		cmocka_unit_test(hands_help_and_version_on),
	};

	return unit_run(tests);
}
