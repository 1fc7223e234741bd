/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/result/grouping.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "analysis/result/timeline.h"
#include "cli/args.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "import/import.h"
#include "cli/screen.h"
#include "report/block/column.h"
#include "report/block/json.h"
#include "report/block/transitions.h"
#include "report/block/rank.h"
#include "report/html/html.h"
#include "report/block/view.h"
#include "report/screen/text.h"
#include "report/screen/transitions.h"
#include "report/slow/slow.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "cmd/common/write_out.h"

struct report_options {
	struct screen_options screen;
	const char *input, *by, *sort, *unit, *slow, *time, *baseline, *html, *states;
	const char *format, *output;
	struct arg_list keys, no_keys;
	uint64_t top;
	bool json, csv, stdio;
	int verbose;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct report_options, input),
	  "read FILE (default ispot.data)", NULL },
	{ 0, "by", "WHAT", ARG_STRING, offsetof(struct report_options, by),
	  "rank function (default), lock, sequence, site or thread; transition: the graph of "
	  "what threads do after what",
	  NULL },
	{ 0, "states", "WHAT", ARG_STRING, offsetof(struct report_options, states),
	  "with --by transition: between function (default) or sequence", NULL },
	{ 0, "key", "FUNC@ARG,...", ARG_LIST, offsetof(struct report_options, keys),
	  "split FUNC's calls by the values of its recorded arguments (repeatable)", NULL },
	{ 0, "no-key", "FUNC", ARG_LIST, offsetof(struct report_options, no_keys),
	  "do not split FUNC's calls by arguments ('*': any function)", NULL },
	{ 's', "sort", "COLUMN", ARG_STRING, offsetof(struct report_options, sort),
	  "rank by COLUMN (default lost time)", NULL },
	{ 0, "unit", "UNIT", ARG_STRING, offsetof(struct report_options, unit),
	  "show durations of calls in ns (default) or cycles", NULL },
	{ 0, "top", "N", ARG_ABOVE_0, offsetof(struct report_options, top), "show N rows", NULL },
	{ 0, "slow", "FUNC", ARG_STRING, offsetof(struct report_options, slow),
	  "show how FUNC's slow calls differ from its fast ones", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct report_options, time),
	  "show only A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "baseline", "FILE", ARG_STRING, offsetof(struct report_options, baseline),
	  "compare with the fastest calls in the recording FILE, too", NULL },
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct report_options, verbose),
	  "show every row, with SCI, verdict and noise floor", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct report_options, json), "write JSON to stdout",
	  NULL },
	{ 0, "csv", NULL, ARG_FLAG, offsetof(struct report_options, csv), "write CSV to stdout",
	  NULL },
	{ 0, "html", "FILE", ARG_STRING, offsetof(struct report_options, html),
	  "write one HTML file, with charts; '-' writes to stdout", NULL },
	{ 0, "format", "FORMAT", ARG_STRING, offsetof(struct report_options, format),
	  "text (default), json, csv or html: as --json, --csv and --html", NULL },
	{ 0, "stdio", NULL, ARG_FLAG, offsetof(struct report_options, stdio),
	  "text, which is the default (perf's option)", NULL },
	{ 'o', "output", "FILE", ARG_STRING, offsetof(struct report_options, output),
	  "write the report to FILE; '-' writes to stdout", NULL },
	SCREEN_ROWS(struct report_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"ispot report",
	"which functions lose how much, and why",
	"ispot report --key write@fd,count",
	"writes by file and size, each with its own fastest",
	"ispot report --by site",
	"from which call sites they are slow",
	"ispot report --by lock",
	"every lock: wait, hold, who held it",
	"ispot report --by sequence",
	"which call sequences lose it",
	"ispot report --by thread",
	"which threads lose it",
	"ispot report --by transition --html graph.html",
	"what threads do after what, how often and how fast, as a picture",
	"ispot report --slow cache_get",
	"what its slow calls have in common",
	"ispot report --time 2s-5s -s p99",
	"three seconds of it, by tail latency",
	"ispot report --json | jq '.blocks[] | {name, sci, verdict}'",
	"for scripts",
	NULL,
};

static int parse_window(const char *s, struct result_options *o, struct err *err)
{
	if (!text_parse_window(s, &o->from_ns, &o->to_ns))
		return 0;
	return args_refuse(
		err, "--time: not a time range; give A-B, two times since the start such as 2s-5s");
}

/* `ispot report x.data` means -i x.data. */
static int use_file_word(struct report_options *o, int n, char **words, struct err *err)
{
	if (n == 1 && !o->input) {
		o->input = words[0];
		return 0;
	}
	return n ? args_refuse(err, "more than one file is given; name one: -i FILE") : 0;
}

/* --format and -o in terms of --json, --csv and --html. */
static int use_format(struct report_options *o, struct err *err)
{
	const char *format = o->format ? o->format : o->stdio ? "text" : NULL;

	if (format && (o->json || o->csv || o->html))
		return args_refuse(err,
				   "--json, --csv and --html are formats; give one of them, or "
				   "--format");
	if (o->html && o->output)
		return args_refuse(err, "--html FILE and -o name a file each; give one");
	if (format && !strcmp(format, "json"))
		o->json = true;
	else if (format && !strcmp(format, "csv"))
		o->csv = true;
	else if (format && !strcmp(format, "html"))
		o->html = o->output ? o->output : "-";
	else if (format && strcmp(format, "text"))
		return args_refuse(err, "--format %s: no such format; give text, json, csv or html",
				   format);
	return 0;
}

static int check_unit(const struct report_options *o, const struct grouping_by *by, struct err *err)
{
	if (!o->unit || !strcmp(o->unit, "ns"))
		return 0;
	if (strcmp(o->unit, "cycles"))
		return args_refuse(err, "--unit %s: no such unit; give ns or cycles", o->unit);
	if (o->json || o->csv || o->html || o->slow)
		return args_refuse(err,
				   "--unit is of the table alone (--json and --csv have ns and "
				   "cycles); leave it out");
	if (!strcmp(by->name, "thread") || !strcmp(by->name, "transition"))
		return args_refuse(err, "--unit is of durations of calls; leave out this --by");
	return 0;
}

static int check(const struct report_options *o, struct err *err)
{
	const struct grouping_by *by;

	if (grouping_find(o->by, &by, err))
		return err->code;
	if (o->baseline && by->alone)
		return args_refuse(err,
				   "--baseline holds functions only; give it without this --by");
	if (o->states && (!o->by || strcmp(o->by, "transition")))
		return args_refuse(err, "--states goes with --by transition; give both");
	if (o->states && strcmp(o->states, "function") && strcmp(o->states, "sequence"))
		return args_refuse(err, "this --states is not available; use function or sequence");
	if (o->sort && !strcmp(by->name, "transition"))
		return args_refuse(err, "transitions are ranked by how often they happen; leave "
					"out -s");
	if (o->keys.n && (by->alone || !strcmp(by->name, "thread")))
		return args_refuse(err, "--key splits functions; give it without this --by");
	if (o->json + o->csv + !!o->html > 1)
		return args_refuse(err, "--json, --csv and --html exclude each other; give one");
	if (o->html && !strcmp(by->name, "thread"))
		return args_refuse(
			err, "--html has the threads beside the functions; leave out --by thread");
	if (check_unit(o, by, err))
		return err->code;
	if (o->slow && !*o->slow)
		return args_refuse(err, "--slow names no function; `ispot report -v` lists them");
	if (o->slow && (o->csv || o->html || o->by || o->sort))
		return args_refuse(
			err,
			"--slow is a view of its own; give it without --by, -s, --csv, --html");
	return 0;
}

static void print(const struct report_options *o, struct view *v, const struct timeline *timeline,
		  struct text *out)
{
	struct blocks by_thread = { 0 };

	v->by_thread = o->by && !strcmp(o->by, "thread");
	if (v->by_thread) {
		view_thread_blocks(v->result, &by_thread);
		v->blocks = &by_thread;
	} else if (v->result->keyed.rule.kind != BLOCK_FUNCTION) {
		v->blocks = &v->result->groups;
	}
	view_rank(v);
	if (o->json)
		report_json(v, out);
	else if (o->csv)
		(v->result->transitions ? report_transitions_csv : report_csv)(v, out);
	else if (o->html)
		report_html(v, timeline, out);
	else if (v->result->transitions)
		report_transitions_text(v, out);
	else
		report_text(v, out);
	free(v->rows);
	blocks_release(&by_thread);
}

static int show(const struct report_options *o, struct trace_reader *r, struct result_options *ro,
		struct err *err)
{
	struct result result;
	struct text out = { 0 };
	struct view v = {
		.result = &result,
		.file = o->input,
		.blocks = &result.blocks,
		.top = o->top,
		.all = o->verbose > 0,
		.cycles = o->unit && !strcmp(o->unit, "cycles"),
		.totals = o->verbose > 0 || o->json || o->csv || o->html,
		.colours = !o->output && screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};
	struct slow slow = { 0 };
	struct timeline timeline = { 0 };
	struct grouping grouping = {
		.keys = o->keys.data,
		.n_keys = o->keys.n,
		.no_keys = o->no_keys.data,
		.n_no_keys = o->no_keys.n,
		.of_sequences = o->states && !strcmp(o->states, "sequence"),
	};
	int rc = grouping_find(o->by, &grouping.by, err);

	if (o->html) {
		ro->visitors[0] = timeline_calls(&timeline);
		ro->visitors[1] = timeline_losses(&timeline);
	}
	if (!rc)
		rc = grouping_read(&grouping, r, ro, &result, err);
	if (rc)
		goto out;
	rc = view_sort_by(&v, o->sort, err);
	if (!rc && !o->slow)
		print(o, &v, &timeline, &out);
	else if (!rc)
		rc = slow_read(&slow, &result, r, ro, o->slow, err);
	if (!rc && o->slow)
		(o->json ? report_slow_json : report_slow)(&v, &slow, &out);
	if (!rc)
		rc = write_out(&out, o->html ? o->html : o->output, err);
	timeline_release(&timeline);
	slow_release(&slow);
	text_release(&out);
	result_release(&result);
out:
	grouping_release(&grouping);
	return rc;
}

static int run_report(int argc, char **argv, struct err *err)
{
	struct report_options o = { 0 };
	struct result_options ro = { .to_ns = UINT64_MAX };
	struct trace_reader *r = NULL;
	int first, rc;

	rc = args_parse(options, &o, 0, argc, argv, &first, err);
	if (rc)
		return rc;
	rc = use_file_word(&o, argc - first, argv + first, err);
	if (!rc)
		rc = use_format(&o, err);
	if (!rc)
		rc = check(&o, err);
	if (!rc)
		rc = screen_begin(&o.screen, err);
	if (!o.input)
		o.input = "ispot.data";
	if (!rc && o.time)
		rc = parse_window(o.time, &ro, err);
	ro.baseline = o.baseline;
	if (!rc)
		rc = import_open(&r, o.input, err);
	if (!rc)
		rc = show(&o, r, &ro, err);
	trace_reader_free(r);
	vec_release(&o.keys);
	vec_release(&o.no_keys);
	return rc;
}

static const struct option_choices choices[] = {
	{ "by", "function lock sequence site thread transition" },
	{ "states", "function sequence" },
	{ "unit", "ns cycles" },
	{ "format", "text json csv html" },
	{ "color", "auto always never" },
	{ 0 },
};

const struct command cmd_report = {
	.name = "report",
	.summary = "rank functions by the time they lose to interference",
	.usage =
		"ispot report [[-i] FILE] [-o FILE] [--by WHAT] [--states WHAT] [--key FUNC@ARG,...]\n"
		"             [--no-key FUNC] [-s COLUMN] [--unit UNIT] [--top N]\n"
		"             [--slow FUNC] [--time A-B] [--baseline FILE]\n"
		"             [--json | --csv | --html FILE | --format FORMAT] [--stdio]\n"
		"             [--color WHEN] [--no-pager] [-v]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_READS_TRACE,
	.run = run_report,
};
