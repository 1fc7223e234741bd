/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/result/interval.h"
#include "analysis/result/result.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/identity.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/target_args.h"
#include "cmd/common/engine.h"
#include "cmd/common/session_args.h"
#include "probes/inject/beside.h"
#include "probes/select/select.h"
#include "probes/session/open.h"
#include "probes/session/session.h"
#include "report/block/json.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/interval.h"
#include "report/screen/text.h"
#include "trace/meta/meta.h"
#include "trace/record.h"
#include "trace/write/live.h"

#define INTERVAL_LEAST_NS 100000000ull /* because the rings are read ten times a second */
#define CHOOSE_NS	  4000000000ull /* without -F: no function joins later, as sums begin again */

struct stat_options {
	const char *output, *interval, *user, *engine;
	struct arg_list patterns, pids;
	uint64_t duration_ns, delay_ns, period, top;
	bool inherit, json, quiet;
	int verbose;
};

static const struct option_row options[] = {
	{ 'F', "function", "PATTERN", ARG_LIST, offsetof(struct stat_options, patterns),
	  "trace functions that match [object:]name (repeatable; default: the hot ones)", NULL },
	{ 'I', "interval", "MS", ARG_STRING, offsetof(struct stat_options, interval),
	  "print every MS milliseconds (or 2s, 1m)", NULL },
	{ 'p', "pid", "PID,...", ARG_LIST, offsetof(struct stat_options, pids),
	  "attach to running processes", NULL },
	{ 'c', "count", "N", ARG_U64, offsetof(struct stat_options, period),
	  "trace one call in N of each thread and function", "N,period" },
	{ 'd', "duration", "TIME", ARG_TIME, offsetof(struct stat_options, duration_ns),
	  "stop after TIME (10, 500ms, 2m)", NULL },
	{ 'D', "delay", "TIME", ARG_TIME, offsetof(struct stat_options, delay_ns),
	  "begin after TIME", NULL },
	{ 'o', "output", "FILE", ARG_STRING, offsetof(struct stat_options, output), "write to FILE",
	  NULL },
	{ 0, "top", "N", ARG_U64, offsetof(struct stat_options, top),
	  "show N rows, in each interval too", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct stat_options, json),
	  "write JSON to stdout: a line per interval, then the summary", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct stat_options, engine),
	  "time calls by kernel probes (kernel, default), or costly ones by patched code (auto)",
	  NULL },
	{ 0, "user", "USER", ARG_STRING, offsetof(struct stat_options, user),
	  "run CMD as this user, by name or number", NULL },
	{ 0, "no-inherit", NULL, ARG_UNFLAG, offsetof(struct stat_options, inherit),
	  "do not follow child processes", NULL },
	{ 'q', "quiet", NULL, ARG_FLAG, offsetof(struct stat_options, quiet),
	  "print only errors and results", NULL },
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct stat_options, verbose),
	  "show every row in the summary", NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot stat ./app",
	"what interference cost app's functions, when it ends",
	"ispot stat -I 1000 -F 'libc:pthread_mutex_*' -p $(pidof db)",
	"a running server, each second, until Ctrl-C",
	"ispot stat --json -I 10s -F write -p 1234 | jq .blocks[0].sci",
	"for scripts",
	NULL,
};

/* A recording that is analysed while it is made. Each interval is shown, and the whole at the end.
 */
struct watch {
	const struct stat_options *o;
	struct live *live;
	FILE *to;
	struct output file;   /* with -o: the file of "to" */
	uint64_t interval_ns; /* 0: none */
	unsigned width;
	size_t n_shown; /* intervals */
	bool begun;
	bool is_longer_due; /* no interval had calls so far from which a long enough interval could
			       be computed */
	struct result result;
	struct interval interval;
	uint64_t joined_ns; /* when functions joined and all sums began again; 0: never */
	uint64_t read_ns;   /* time up to which records were read */
	uint64_t last_ns;   /* of the latest record */
};

static void on_record(void *ctx, const struct record *r)
{
	struct watch *w = ctx;

	if (r->time_ns > w->last_ns)
		w->last_ns = r->time_ns;
	result_record(&w->result, r);
}

static void end_watch(struct watch *w)
{
	if (w->begun) {
		interval_release(&w->interval);
		result_release(&w->result);
	}
	w->begun = false;
}

static void begin_watch(struct watch *w, uint64_t start_ns)
{
	const struct result_options none = { .to_ns = UINT64_MAX };
	struct err err = { 0 };

	result_begin(&w->result, live_meta(w->live), start_ns, &none, &err);
	calls_sum_up_ended(&w->result.calls);
	if (w->interval_ns)
		interval_init(&w->interval, &w->result);
	w->last_ns = start_ns;
	w->begun = true;
}

/* Begins the analysis again if functions have joined, because it is made for a fixed number of
 * functions. */
static void follow_functions(struct watch *w)
{
	const struct meta *meta = live_meta(w->live);
	uint64_t start_ns = meta->session.start_ns;

	if (w->begun && w->result.calls.n_functions == meta->functions.n)
		return;
	if (w->begun) {
		start_ns = w->joined_ns = w->read_ns;
		end_watch(w);
		log_notice("functions joined after %.1f s: the sums begin again there",
			   (double)(start_ns - meta->session.start_ns) / 1e9);
	}
	begin_watch(w, start_ns);
}

static void print(struct watch *w, struct text *out)
{
	if (out->n)
		fwrite(out->s, 1, out->n, w->to);
	fflush(w->to);
	text_release(out);
}

static void show_interval(struct watch *w, uint64_t until_ns)
{
	const struct interval_view v = {
		.top = w->o->top,
		.width = w->width,
		.head = w->n_shown % 20 == 0,
		.is_longer_due = &w->is_longer_due,
	};
	struct blocks blocks = { 0 };
	struct text out = { 0 };

	interval_blocks(&w->interval, until_ns, &blocks);
	(w->o->json ? report_interval_json : report_interval)(&w->interval, &blocks, &v, &out);
	blocks_release(&blocks);
	interval_next(&w->interval);
	w->n_shown++;
	print(w, &out);
}

static void on_drained(void *ctx, uint64_t until_ns)
{
	struct watch *w = ctx;

	follow_functions(w);
	while (w->interval_ns && w->interval.since_ns + w->interval_ns <= until_ns) {
		uint64_t end_ns = w->interval.since_ns + w->interval_ns;

		live_read(w->live, end_ns, on_record, w);
		show_interval(w, end_ns);
	}
	live_read(w->live, until_ns, on_record, w);
	w->read_ns = until_ns;
}

static void note_joined(struct watch *w)
{
	if (w->joined_ns)
		vec_add(&w->result.notices)->text = xasprintf(
			"functions joined after %.1f s: the sums are of the time from then on",
			(double)(w->joined_ns - w->result.meta->session.start_ns) / 1e9);
}

/* Shows the calls of a program that loses nothing or makes too few calls for a verdict, because the
 * table above has no row for it. */
static void show_calls(const struct watch *w, struct text *out)
{
	const struct interval_view v = { .top = w->o->top, .width = w->width };
	struct text table = { 0 };

	report_calls(&w->result.blocks, &v, &table);
	if (table.n)
		text_printf(out, "\n%s", table.s);
	text_release(&table);
}

static void show_summary(struct watch *w)
{
	struct text out = { 0 };
	struct view v = {
		.result = &w->result,
		.blocks = &w->result.blocks,
		.top = w->o->top,
		.all = w->o->verbose > 0,
		.totals = w->o->verbose > 0 || w->o->json,
		.utf8 = text_locale_is_utf8(),
		.width = w->width,
	};

	if (w->n_shown && !w->o->json)
		text_add(&out, "\n");
	view_rank(&v);
	(w->o->json ? report_json : report_text)(&v, &out);
	if (!w->o->json && !w->n_shown && !v.all && !report_any_listed(&v))
		show_calls(w, &out);
	free(v.rows);
	print(w, &out);
}

/* Shows the whole recording. The session has written its last meta line before. */
static void conclude(struct watch *w)
{
	const struct meta *meta;
	uint64_t end_ns;

	follow_functions(w);
	live_read(w->live, UINT64_MAX, on_record, w);
	meta = live_meta(w->live);
	end_ns = w->last_ns;
	if (meta->end.present && meta->end.end_ns > end_ns)
		end_ns = meta->end.end_ns;
	if (w->interval_ns && end_ns > w->interval.since_ns)
		show_interval(w, end_ns);
	result_end(&w->result, end_ns);
	note_joined(w);
	show_summary(w);
	end_watch(w);
}

static int check_engine(const struct stat_options *o, struct err *err)
{
	enum engine engine;

	if (engine_parse(o->engine, &engine, err))
		return err->code;
	return engine == ENGINE_IN_PROCESS
		       ? args_refuse(err,
				     "--engine in-process: stat watches by kernel probes, or by "
				     "both; give --engine auto, or ispot record --engine "
				     "in-process")
		       : 0;
}

static int check(const struct stat_options *o, struct watch *w, bool has_target, struct err *err)
{
	if (!has_target)
		return args_refuse(err, "nothing to watch; give a command or -p PID");
	if (!o->period || o->period > 1u << 30)
		return args_refuse(
			err, "-c: out of range; give a number from 1 (every call) to 1073741824");
	if (!o->duration_ns)
		return args_refuse(err,
				   "-d 0 watches nothing; leave it out to watch until the end");
	if (o->interval && (text_parse_time(o->interval, 1000000, &w->interval_ns) ||
			    w->interval_ns < INTERVAL_LEAST_NS))
		return args_refuse(
			err,
			"-I %s: not an interval; give milliseconds, 100 or more, or a time such as 2s",
			o->interval);
	return check_engine(o, err);
}

static int open_output(struct watch *w, struct err *err)
{
	struct winsize size;

	w->width = 80;
	w->to = w->o->json ? stdout : stderr;
	if (w->o->output) {
		int ret = output_open(&w->file, w->o->output, err);

		w->to = ret ? NULL : fdopen(dup(w->file.fd), "w");
		return ret || w->to ? ret
				    : err_set(err, -errno, "cannot open %s: %s; raise ulimit -n",
					      w->o->output, strerror(errno));
	}
	if (isatty(fileno(w->to)) && !ioctl(fileno(w->to), TIOCGWINSZ, &size) && size.ws_col > 80)
		w->width = size.ws_col;
	return 0;
}

static int close_output(struct watch *w, struct err *err)
{
	bool failed;

	if (!w->file.path)
		return 0;
	failed = w->to && (ferror(w->to) | fclose(w->to));
	output_close(&w->file, NULL);
	return failed ? err_set(err, -EIO, "cannot write %s; is there room?", w->o->output) : 0;
}

static int run_session(struct watch *w, struct session_options *so, struct session_result *result,
		       struct err *err)
{
	struct session *s = NULL;
	struct cpus cpus = { 0 };
	int ret = cpus_read(&cpus);

	if (ret)
		return err_set(err, ret, "cannot read the list of CPUs: %s; mount /sys",
			       strerror(-ret));
	/* records of calls timed in process have the number after the last CPU */
	so->live = w->live = live_new(cpus.n_possible + (so->beside ? 1 : 0));
	so->drained = on_drained;
	so->drained_ctx = w;
	ret = session_open(&s, so, err);
	if (!ret)
		ret = session_run(s, result, err);
	if (!ret)
		conclude(w);
	session_free(s);
	end_watch(w);
	live_free(w->live);
	return ret;
}

static const char *why_not_in_process(const struct stat_options *o)
{
	if (o->delay_ns)
		return "with -D, functions would be patched before it is over";
	if (!o->inherit)
		return "with --no-inherit, what a patched process forks is patched, too";
	return o->user ? "with --user, ispot has not the rights of the program" : NULL;
}

/* Begins the engine that the user asked for, whose word engine_parse() has accepted. */
static struct inject_beside *begin_engine(const struct stat_options *o, struct session_options *so)
{
	const bool is_auto = o->engine && !strcmp(o->engine, "auto");

	return is_auto ? engine_add_in_process(so, why_not_in_process(o), true) : NULL;
}

static int watch(struct watch *w, struct session_options *so, struct err *err)
{
	struct session_result result = { 0 };
	struct inject_beside *b = NULL;
	int ret = open_output(w, err);

	if (!ret) {
		b = begin_engine(w->o, so);
		ret = run_session(w, so, &result, err);
		inject_beside_free(b);
	}
	if (!ret)
		ret = close_output(w, err);
	else
		close_output(w, NULL);
	return ret ? ret : session_args_status(result.reason, result.exit_status);
}

static int run_stat(int argc, char **argv, struct err *err)
{
	static const char *const no_arguments[] = { "*" };
	struct stat_options o = { .period = 1, .inherit = true, .duration_ns = UINT64_MAX };
	struct session_options so = {
		.version = ispot_version,
		.output = "",
		.no_key = no_arguments,
		.n_no_key = 1,
		.calibrate = true,
	};
	struct watch w = { .o = &o, .is_longer_due = true };
	struct text command = { 0 }, own = { 0 };
	struct identity user;
	pid_t *pids = NULL;
	int first, ret;

	mem_exhausted_says("ispot: out of memory; free some, or raise ulimit -v\n", 125);
	ret = args_parse(options, &o, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	log_set_level(o.quiet ? LOG_QUIET : o.verbose > 1 ? LOG_DETAIL : LOG_NOTICE);
	if (!ret)
		ret = target_pids(&o.pids, &pids, &so.n_pids, err);
	if (!ret)
		ret = check(&o, &w, first < argc || so.n_pids, err);
	if (!ret && o.user)
		ret = target_user(&user, o.user, first == argc, err);
	if (!ret) {
		target_words(&command, argv + first, argc - first);
		target_words(&own, argv + 1, first - 1);
		so.patterns = o.patterns.data;
		so.n_patterns = o.patterns.n;
		so.argv = first < argc ? argv + first : NULL;
		so.pids = pids;
		so.show_progress = !so.argv && !o.interval;
		so.command = command.s ? command.s : "";
		so.options = own.s ? own.s : "";
		so.duration_ns = o.duration_ns == UINT64_MAX ? 0 : o.duration_ns;
		so.delay_ns = o.delay_ns;
		so.period = o.period;
		so.inherit = o.inherit;
		so.choose_ns = CHOOSE_NS;
		so.user = o.user ? &user : NULL;
		so.overhead = so.n_pids ? 0.02 : 0.1;
		ret = watch(&w, &so, err);
	}
	session_args_failed(ret, err);
	text_release(&command);
	text_release(&own);
	vec_release(&o.patterns);
	vec_release(&o.pids);
	free(pids);
	return ret;
}

static const struct option_choices choices[] = {
	{ "engine", "kernel auto" },
	{ 0 },
};

const struct command cmd_stat = {
	.name = "stat",
	.summary = "watch functions while they run, without writing a file",
	.usage = "ispot stat [-F PATTERN]... [-I MS] [-p PID,...] [-c N] [-d TIME] [--json]\n"
		 "           [-o FILE] [--engine ENGINE] [--] [CMD...]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_NEEDS_ROOT,
	.run = run_stat,
};
