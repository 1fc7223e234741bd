/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/calls/brief.h"
#include "analysis/outlier/outlier.h"
#include "analysis/result/result.h"
#include "cli/args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/screen.h"
#include "report/outlier/html.h"
#include "report/outlier/json.h"
#include "report/outlier/outlier.h"
#include "import/import.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "cmd/common/engine.h"
#include "cmd/common/write_out.h"

#define NOTICES_MAX 8

struct outliers_options {
	struct screen_options screen;
	const char *input, *of, *rule, *time, *html, *engine;
	uint64_t top;
	bool json, csv;
	int verbose;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct outliers_options, input),
	  "read FILE (default ispot.data)", NULL },
	{ 0, "of", "NAME", ARG_STRING, offsetof(struct outliers_options, of),
	  "show each outlier of one function, marker or lock", NULL },
	{ 0, "rule", "RULE", ARG_STRING, offsetof(struct outliers_options, rule),
	  "choose what is an outlier: paper (default) or robust", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct outliers_options, time),
	  "show only A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "top", "N", ARG_ABOVE_0, offsetof(struct outliers_options, top), "show N rows", NULL },
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct outliers_options, verbose),
	  "show the behaviors, evidence and numbers of each function's outliers", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct outliers_options, json),
	  "write JSON to stdout", NULL },
	{ 0, "csv", NULL, ARG_FLAG, offsetof(struct outliers_options, csv),
	  "write CSV to stdout, a row for each outlier", NULL },
	{ 0, "html", "FILE", ARG_STRING, offsetof(struct outliers_options, html),
	  "write one HTML file, with charts; '-' writes to stdout", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct outliers_options, engine),
	  "refused: what timed the calls was chosen by record --engine", NULL },
	SCREEN_ROWS(struct outliers_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"ispot outliers",
	"which functions and critical sections take long at times",
	"ispot outliers --of cache_get",
	"its outliers one by one, and what they did differently",
	"ispot outliers --rule robust",
	"where one extreme call hides the others",
	"ispot outliers --json | jq '.blocks[] | {name, divergent, max_ns}'",
	"for scripts",
	NULL,
};

/*
 * Returns a notice of the number of outliers whose calling context is unknown, or NULL if there are
 * none or the recording has no contexts.
 */
static char *find_contexts(const struct outliers *o, const struct outlier_block *of)
{
	char number[TEXT_COUNTED];
	size_t without = 0;

	vec_for_each (&o->blocks, const struct outlier_block, b)
		if (!of || of == b)
			vec_for_each (&b->kept, const struct outlier, x)
				without += !x->stack;
	if (!without)
		return NULL;
	return xasprintf("%s without a call stack: record with --slow-stacks TIME, which takes "
			 "the stack of each call of TIME or longer",
			 text_counted(number, without, "outlier"));
}

/* Finds the notices that belong to the numbers. The caller frees them. */
static size_t find_notices(const struct outliers *o, struct trace_reader *r, bool windowed,
			   bool interrupted, char **notices)
{
	const char *damage = trace_reader_damage(r);
	uint64_t period = meta_period(o->meta);
	char number[TEXT_COUNTED];
	size_t n = 0;

	if (interrupted)
		notices[n++] = xstrdup(result_interrupted);
	if (damage)
		notices[n++] = xstrdup(damage);
	if (o->lost_records)
		notices[n++] = xasprintf("%s dropped: the calls that they belong to are missing",
					 text_counted(number, o->lost_records, "event"));
	if (period > 1)
		notices[n++] = xasprintf("one call in %llu was recorded: calls are counted, and "
					 "rare ones found, among these only; record without -c",
					 (unsigned long long)period);
	if (o->brief)
		notices[n++] =
			xasprintf("%s left no records (--keep-slower): they are counted, but "
				  "the numbers of calls are those among the others, and the "
				  "trend is flat",
				  text_counted(number, o->brief, "short call"));
	if (windowed && brief_notice_of_window(o->meta))
		notices[n++] = xstrdup(brief_notice_of_window(o->meta));
	if (!o->locks && !o->monitors)
		notices[n++] = xstrdup("critical sections are not known: record the functions that "
				       "take and release locks, " SECTION_PATTERNS);
	return n;
}

/* Finds the block by its name, or by a part of its name that no other block has. */
static int find_block(const struct outliers *o, const char *name,
		      const struct outlier_block **block, struct err *err)
{
	unsigned exact = 0, parts = 0;

	vec_for_each (&o->blocks, const struct outlier_block, b) {
		bool same = !strcmp(b->name, name);

		if (same && !exact++)
			*block = b;
		else if (!exact && strstr(b->name, name) && !parts++)
			*block = b;
	}
	if (!exact && !parts)
		return err_set(err, -ENOENT,
			       "no timed call of '%s' in this recording; ispot outliers --json "
			       "lists every function",
			       name);
	if (!exact && parts > 1)
		return err_set(err, -EINVAL, "'%s' is part of %u names; give one in full", name,
			       parts);
	return 0;
}

static int show(const struct outliers_options *o, struct outliers *outliers, struct trace_reader *r,
		bool interrupted, struct err *err)
{
	const struct meta *meta = trace_reader_meta(r);
	char *notices[NOTICES_MAX + 1] = { NULL };
	struct text out = { 0 };
	struct outlier_view v = {
		.outliers = outliers,
		.program = meta->session.program ? meta->session.program : "",
		.command = meta->session.command ? meta->session.command : "",
		.file = o->input,
		.start_ns = outliers->start_ns,
		.notices = (const char *const *)notices,
		.top = o->top,
		.evidence = o->verbose > 0,
		.colours = screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};
	int rc = o->of ? find_block(outliers, o->of, &v.of, err) : 0;
	size_t n;

	if (rc)
		return rc;
	n = find_notices(outliers, r, o->time || interrupted, interrupted, notices);
	if (o->of || o->json || o->html)
		notices[n] = find_contexts(outliers, v.of);
	n += notices[n] != NULL;
	(o->json   ? report_outliers_json
	 : o->csv  ? report_outliers_csv
	 : o->html ? report_outliers_html
		   : report_outliers_text)(&v, &out);
	rc = write_out(&out, o->html, err);
	text_release(&out);
	while (n)
		free(notices[--n]);
	return rc;
}

static int parse_rule(const char *word, enum outlier_rule *rule, struct err *err)
{
	*rule = word && !strcmp(word, "robust") ? OUTLIER_ROBUST : OUTLIER_PAPER;
	if (word && *rule == OUTLIER_PAPER && strcmp(word, "paper"))
		return args_refuse(err, "--rule: no such rule; give paper or robust");
	return 0;
}

static int run_outliers(int argc, char **argv, struct err *err)
{
	struct outliers_options o = { 0 };
	struct result_options ro = { .to_ns = UINT64_MAX };
	struct outliers outliers = { 0 };
	struct trace_reader *r = NULL;
	enum outlier_rule rule;
	int first, rc = args_parse(options, &o, 0, argc, argv, &first, err);

	if (rc)
		return rc;
	if (argc - first == 1 && !o.input)
		o.input = argv[first];
	else if (argc > first)
		return args_refuse(err, "more than one file is given; name one: -i FILE");
	if (!o.input)
		o.input = "ispot.data";
	if (o.json + o.csv + !!o.html > 1)
		return args_refuse(err, "--json, --csv and --html exclude each other; give one");
	if (o.html && o.of)
		return args_refuse(err, "--html has every function; leave out --of");
	if (o.time && text_parse_window(o.time, &ro.from_ns, &ro.to_ns))
		return args_refuse(
			err,
			"--time: not a time range; give A-B, two times since the start such as 2s-5s");
	rc = engine_refuse(o.engine, "outliers", err);
	if (!rc)
		rc = parse_rule(o.rule, &rule, err);
	if (!rc)
		rc = screen_begin(&o.screen, err);
	if (!rc)
		rc = import_open(&r, o.input, err);
	if (!rc)
		rc = outliers_read(&outliers, r, &ro, rule, err);
	if (!rc)
		rc = show(&o, &outliers, r, ro.interrupted, err);
	outliers_release(&outliers);
	trace_reader_free(r);
	return rc;
}

static const struct option_choices choices[] = {
	{ "rule", "paper robust" },
	{ "color", "auto always never" },
	{ 0 },
};

const struct command cmd_outliers = {
	.name = "outliers",
	.summary = "find calls that take much longer than the others",
	.usage = "ispot outliers [[-i] FILE] [--of NAME] [--rule RULE] [--time A-B] [--top N]\n"
		 "               [-v] [--json | --csv | --html FILE] [--color WHEN] [--no-pager]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_READS_TRACE,
	.run = run_outliers,
};
