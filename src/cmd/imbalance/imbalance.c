/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stat/cluster.h"
#include "analysis/imbalance/lime.h"
#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/section/parallel.h"
#include "analysis/result/result.h"
#include "cli/args.h"
#include "cmd/common/engine.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/imbalance/count.h"
#include "cli/screen.h"
#include "report/imbalance/html.h"
#include "report/imbalance/imbalance.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "cmd/common/write_out.h"

struct imbalance_options {
	struct screen_options screen;
	const char *input, *section, *time, *html, *count, *event, *engine;
	uint64_t top;
	double threshold, min_idle;
	bool json, caches, instances;
};

static const struct option_row options[] = {
	{ 'i', "input", "FILE", ARG_STRING, offsetof(struct imbalance_options, input),
	  "read FILE (default ispot.data)", NULL },
	{ 0, "section", "NAME", ARG_STRING, offsetof(struct imbalance_options, section),
	  "take the calls of a function or marker as the regions", NULL },
	{ 0, "time", "A-B", ARG_STRING, offsetof(struct imbalance_options, time),
	  "show only A to B after the start (2s-5s, 500ms-)", NULL },
	{ 0, "count", "HOW", ARG_STRING, offsetof(struct imbalance_options, count),
	  "with CMD: count by edges, callgrind, hardware or auto (default)", NULL },
	{ 0, "event", "EVENT", ARG_STRING, offsetof(struct imbalance_options, event),
	  "with --count hardware: sample EVENT instead of cache-misses", NULL },
	{ 0, "caches", NULL, ARG_FLAG, offsetof(struct imbalance_options, caches),
	  "with CMD: also count cache misses, which is slower", NULL },
	{ 0, "threshold", "R", ARG_F64, offsetof(struct imbalance_options, threshold),
	  "with CMD: group events that correlate by R or more (default 0.9)", NULL },
	{ 0, "min-idle", "PCT", ARG_F64, offsetof(struct imbalance_options, min_idle),
	  "with CMD: look for lines in regions whose threads wait for PCT% or more (default 2)",
	  NULL },
	{ 0, "top", "N", ARG_ABOVE_0, offsetof(struct imbalance_options, top), "show N regions",
	  NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct imbalance_options, json),
	  "write JSON to stdout", NULL },
	{ 0, "instances", NULL, ARG_FLAG, offsetof(struct imbalance_options, instances),
	  "with --json: write each iteration of a region, with its threads' times", NULL },
	{ 0, "html", "FILE", ARG_STRING, offsetof(struct imbalance_options, html),
	  "write one HTML file, with charts, also with --json; '-' writes to stdout", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct imbalance_options, engine),
	  "with CMD: time regions by kernel probes (kernel, the only engine)", NULL },
	SCREEN_ROWS(struct imbalance_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"ispot imbalance",
	"which parallel regions wait for their slowest thread",
	"ispot imbalance -- ./app 8",
	"which lines make its threads uneven; valgrind counts if no hardware can",
	"sudo ispot imbalance --count hardware --event page-faults -- ./app 8",
	"which lines have more page faults in some threads, at full speed",
	"ispot imbalance --section worker",
	"take calls of worker that run at the same time as a region",
	"ispot imbalance --json | jq '.sections[] | {name, imbalance}'",
	"for scripts",
	"ispot imbalance --json --instances | jq -c '.sections[0].each[]'",
	"each iteration of the region",
	NULL,
};

/* Writes the page, the text, or both, because counting takes long and the user may want both from
 * one run. */
static int write_views(const struct imbalance_options *o, const struct imbalance_view *v,
		       struct err *err)
{
	struct text out = { 0 };
	int rc = 0;

	if (o->html) {
		report_imbalance_html(v, &out);
		rc = write_out(&out, o->html, err);
		text_release(&out);
	}
	if (!rc && (!o->html || o->json)) {
		out = (struct text){ 0 };
		(o->json ? report_imbalance_json : report_imbalance_text)(v, &out);
		rc = write_out(&out, NULL, err);
		text_release(&out);
	}
	return rc;
}

static int show(const struct imbalance_options *o, const struct parallel *p, struct trace_reader *r,
		const struct result_options *ro, struct err *err)
{
	const struct meta *meta = trace_reader_meta(r);
	char *notices[COUNTING_NOTICES + 1] = { NULL };
	uint64_t from = trace_reader_first_ns(r), to = trace_reader_last_ns(r);
	struct imbalance_view v = {
		.imbalance = &p->imbalance,
		.exact_time = true,
		.program = meta->session.program ? meta->session.program : "",
		.command = meta->session.command ? meta->session.command : "",
		.file = o->input,
		.each = o->instances,
		.notices = (const char *const *)notices,
		.top = o->top,
		.colours = screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};
	size_t n = imbalance_notices(p, r, ro->interrupted, notices);
	int rc;

	if (meta->session.start_ns != META_UNKNOWN && meta->session.start_ns < from)
		from = meta->session.start_ns;
	v.start_ns = from;
	if (meta->end.present && meta->end.end_ns > to)
		to = meta->end.end_ns;
	v.duration_ns = ro->to_ns < to - from ? ro->to_ns : to - from;
	v.duration_ns -= ro->from_ns < v.duration_ns ? ro->from_ns : v.duration_ns;
	v.paused_ns = p->paused_ns;
	v.joins_unknown = p->births > 1 && !p->sees_joins && !p->named && !meta_is_java(meta);
	rc = write_views(o, &v, err);
	while (n)
		free(notices[--n]);
	return rc;
}

static int read_sections(const struct imbalance_options *o, struct result_options *ro,
			 struct err *err)
{
	struct trace_reader *r = NULL;
	struct parallel p = { 0 };
	struct call_visitor v;
	struct calls calls;
	int rc = trace_reader_open(&r, o->input, err);

	if (rc)
		return rc;
	rc = parallel_init(&p, trace_reader_meta(r), &calls, o->section, err);
	p.imbalance.keeps_each = o->instances;
	v = parallel_visitor(&p);
	if (!rc)
		rc = result_scan(&calls, r, ro, &v, err);
	if (!rc)
		rc = show(o, &p, r, ro, err);
	parallel_release(&p);
	trace_reader_free(r);
	return rc;
}

/* ---- counting ---- */

static int print_counted(const struct imbalance_options *o, struct counting *k,
			 const struct counting_provider *provider, struct err *err)
{
	const char *slash = strrchr(k->argv[0], '/');
	struct imbalance_view v = {
		.imbalance = &counting_found(k)->imbalance,
		.counted = counting_found(k),
		.provider = provider->name,
		.how = provider->how,
		.exact_time = provider->exact_time,
		.program = slash ? slash + 1 : k->argv[0],
		.command = k->command,
		.duration_ns = k->duration_ns,
		.each = o->instances,
		.notices = (const char *const *)k->notices,
		.top = o->top,
		.colours = screen_colours(),
		.utf8 = text_locale_is_utf8(),
		.width = screen_width(),
	};

	return write_views(o, &v, err);
}

static int run_counted(const struct imbalance_options *o, char **argv, struct err *err)
{
	struct counting k = { .argv = argv,
			      .how = o->count,
			      .event = o->event,
			      .caches = o->caches,
			      .lime = { { o->threshold, CLUSTER_BULK }, o->min_idle / 100 },
			      .keeps_each = o->instances };
	const struct counting_provider *provider;
	struct text command = { 0 };
	int rc;

	for (char **word = argv; *word; word++)
		text_printf(&command, "%s%s", word == argv ? "" : " ", *word);
	k.command = command.s;
	rc = counting_choose(&k, &provider, err);
	if (!rc)
		rc = provider->count(&k, err);
	if (!rc)
		rc = print_counted(o, &k, provider, err);
	counting_release(&k);
	text_release(&command);
	return rc;
}

/* ---- either ---- */

/* Refuses the in-process engine: the branches of a patched function lead through memory of no file,
 * where edges are unknown. */
static int check_engine(const struct imbalance_options *o, struct err *err)
{
	enum engine engine;

	if (engine_parse(o->engine, &engine, err))
		return err->code;
	return engine == ENGINE_KERNEL
		       ? 0
		       : args_refuse(
				 err,
				 "--engine %s: imbalance counts the command's branches, and patches "
				 "would be among them; leave it out",
				 o->engine);
}

/* Checks the options that belong to a command. */
static int check_counted(const struct imbalance_options *o, bool any, struct err *err)
{
	static const char *const hows[] = { "auto", "edges", "callgrind", "hardware" };
	bool known = !o->count;

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		known |= o->count && !strcmp(o->count, hows[i]);
	if (o->input || o->section || o->time || !any)
		return args_refuse(
			err,
			"a command runs and is counted; give it behind --, without -i, --section and --time");
	if (!known)
		return args_refuse(
			err,
			"--count: no such way to count; give auto, edges, callgrind or hardware");
	if (check_engine(o, err))
		return err->code;
	if (o->event && (!o->count || strcmp(o->count, "hardware") != 0))
		return args_refuse(err,
				   "--event is for hardware counters; give --count hardware too");
	if (o->caches && o->count && !strcmp(o->count, "edges"))
		return args_refuse(err, "--caches is for --count callgrind; edges are no misses");
	if (o->caches && o->count && !strcmp(o->count, "hardware"))
		return args_refuse(err, "--caches simulates; --count hardware samples the misses "
					"of real ones: leave one out");
	return 0;
}

static int check_options(const struct imbalance_options *o, struct err *err)
{
	if (!(o->threshold > 0 && o->threshold <= 1))
		return args_refuse(err,
				   "--threshold is a correlation; give more than 0, at most 1");
	if (!(o->min_idle >= 0 && o->min_idle < 100))
		return args_refuse(err, "--min-idle is a percentage; give 0 or more, below 100");
	if (o->instances && !o->json)
		return args_refuse(err, "--instances has no room on the screen; give --json too");
	if (o->json && o->html && !strcmp(o->html, "-"))
		return args_refuse(err, "--json and --html - both write to standard output; give "
					"--html a file");
	return 0;
}

static int run_imbalance(int argc, char **argv, struct err *err)
{
	struct imbalance_options o = { .threshold = CLUSTER_THRESHOLD,
				       .min_idle = 100 * LIME_BALANCE };
	struct result_options ro = { .to_ns = UINT64_MAX };
	int first, rc = args_parse(options, &o, ARGS_KEEP_DASHES, argc, argv, &first, err);
	bool command = !rc && first < argc && !strcmp(argv[first], "--");

	if (!rc)
		rc = check_options(&o, err);
	if (!rc)
		rc = screen_begin(&o.screen, err);
	if (!rc && command)
		rc = check_counted(&o, first + 1 < argc, err);
	if (rc || command)
		return rc ? rc : run_counted(&o, argv + first + 1, err);
	if (engine_refuse(o.engine, "imbalance", err))
		return err->code;
	if (argc - first == 1 && !o.input)
		o.input = argv[first];
	else if (argc > first)
		return args_refuse(
			err, "one file is read, or one command is run; give -i FILE, or -- CMD");
	if (o.caches || o.count || o.event || o.threshold != CLUSTER_THRESHOLD ||
	    o.min_idle != 100 * LIME_BALANCE)
		return args_refuse(err,
				   "--count, --event, --caches, --threshold and --min-idle are "
				   "for counting; give -- CMD");
	if (!o.input)
		o.input = "ispot.data";
	if (o.time && text_parse_window(o.time, &ro.from_ns, &ro.to_ns))
		return args_refuse(
			err,
			"--time: not a time range; give A-B, two times since the start such as 2s-5s");
	return read_sections(&o, &ro, err);
}

static const struct option_choices choices[] = {
	{ "count", "edges callgrind hardware auto" },
	{ "engine", "kernel" },
	{ "color", "auto always never" },
	{ 0 },
};

const struct command cmd_imbalance = {
	.name = "imbalance",
	.summary = "find threads that others wait for",
	.usage = "ispot imbalance [[-i] FILE] [--section NAME] [--time A-B] [--top N] [--json]\n"
		 "                [--instances] [--html FILE] [--color WHEN] [--no-pager]\n"
		 "ispot imbalance [--count HOW] [--event EVENT] [--caches] [--threshold R]\n"
		 "                [--min-idle PCT] [--top N] [--json] [--instances] [--html FILE]\n"
		 "                [--color WHEN] [--no-pager] -- CMD...",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_READS_TRACE,
	.run = run_imbalance,
};
