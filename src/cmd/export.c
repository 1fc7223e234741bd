/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "report/export/export.h"
#include "report/export/formats.h"

struct command_options {
	const char *input, *output, *format, *time, *states;
	uint64_t limit;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct command_options, input),
	  "read FILE (default ispot.data)", NULL },
	{ 0, "format", "F", ARG_STRING, offsetof(struct command_options, format),
	  "choose chrome, csv, dot, folded, folded-diff, perf, pprof or speedscope", NULL },
	{ 'o', "output", "OUT", ARG_STRING, offsetof(struct command_options, output),
	  "write OUT; '-' writes to stdout", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct command_options, time),
	  "show only A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "limit", "N", ARG_U64, offsetof(struct command_options, limit),
	  "write at most N calls (chrome, speedscope: 1000000; dot: 200 transitions)", NULL },
	{ 0, "states", "WHAT", ARG_STRING, offsetof(struct command_options, states),
	  "with dot: draw function (default) or sequence", NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot export --format chrome -o trace.json",
	"for ui.perfetto.dev",
	"ispot export --format chrome --time 2s-2.1s -o trace.json",
	"a tenth of a second of it",
	"ispot export --format folded-diff -o - | difffolded.pl | flamegraph.pl >a.svg",
	"where calls take longer than their fastest",
	"ispot export --format perf -o perf.data && perf report -i perf.data",
	"in perf's own browser",
	"ispot export --format csv -o calls.csv.zst",
	"every call, for your own statistics",
	"ispot export --format dot -o - | dot -Tsvg >graph.svg",
	"what threads do after what, drawn by Graphviz",
	NULL,
};

static int check(const struct command_options *o, const struct export_format *format, int n_words,
		 struct err *err)
{
	bool to_stdout;

	if (n_words)
		return args_refuse(
			err,
			"there are words besides the options; name the recording with -i FILE");
	if (!o->output)
		return args_refuse(
			err,
			"there is nowhere to write to; name a file with -o OUT ('-' writes to stdout)");
	to_stdout = !strcmp(o->output, "-");
	if (to_stdout && !strcmp(format->name, "perf"))
		return args_refuse(err, "a perf.data is written back and forth; give -o a file");
	if (to_stdout && format->is_binary && isatty(STDOUT_FILENO))
		return args_refuse(err, "this format is binary; give -o a file, or redirect");
	if (o->states && strcmp(format->name, "dot"))
		return args_refuse(err, "--states goes with --format dot; give both");
	if (o->states && strcmp(o->states, "function") && strcmp(o->states, "sequence"))
		return args_refuse(err, "this --states is not available; use function or sequence");
	return 0;
}

static void report_written(const struct export *e, const char *output)
{
	const char *unit = e->format->unit ? e->format->unit : "calls";
	char n[TEXT_NUMBER];

	log_notice("%s %s in %s", text_count(n, e->exported), unit,
		   strcmp(output, "-") ? output : "all");
	if (e->interrupted)
		log_notice("interrupted: these are the %s that were read until then", unit);
	if (e->beyond)
		log_notice("%s more %s are beyond the limit; choose a stretch with --time, or "
			   "raise --limit",
			   text_count(n, e->beyond), unit);
	if (e->without_end)
		log_notice("%s calls have no known end and are left out",
			   text_count(n, e->without_end));
}

static int run_export(int argc, char **argv, struct err *err)
{
	struct command_options o = { .input = "ispot.data" };
	struct export_options eo = { .to_ns = UINT64_MAX };
	const struct export_format *format;
	struct export e;
	int first, rc = args_parse(options, &o, 0, argc, argv, &first, err);

	if (rc)
		return rc;
	if (!o.format)
		return args_refuse(err,
				   "there are several formats; give --format chrome, csv, dot, "
				   "folded, folded-diff, perf, pprof or speedscope");
	format = export_find(o.format, err);
	if (!format)
		return -EINVAL;
	rc = check(&o, format, argc - first, err);
	if (!rc && o.time && text_parse_window(o.time, &eo.from_ns, &eo.to_ns))
		rc = args_refuse(
			err,
			"--time: not a time range; give A-B, two times since the start such as 2s-5s");
	if (rc)
		return rc;
	eo.input = o.input;
	eo.output = o.output;
	eo.limit = o.limit;
	eo.of_sequences = o.states && !strcmp(o.states, "sequence");
	rc = export_run(&e, format, &eo, err);
	if (!rc)
		report_written(&e, o.output);
	return rc;
}

static const struct option_choices choices[] = {
	{ "format", "chrome csv dot folded folded-diff perf pprof speedscope" },
	{ "states", "function sequence" },
	{ 0 },
};

const struct command cmd_export = {
	.name = "export",
	.summary = "write a recording in the format of another tool",
	.usage =
		"ispot export --format F [-i FILE] [--time A-B] [--limit N] [--states WHAT] -o OUT",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_READS_TRACE,
	.run = run_export,
};
