/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/imbalance/section/parallel_role.h"
#include "cli/args.h"
#include "base/err.h"
#include "base/identity.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "probes/process/program.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "probes/session/session.h"
#include "cmd/common/engine.h"
#include "cmd/common/session_args.h"
#include "cmd/record/recorder.h"
#include "cli/target_args.h"

#define OVERHEAD_MOST	 100.0	      /* percent: a larger budget would be no limit */
#define RING_BYTES_LEAST 4096ull      /* whoever gives less means pages or MiB */
#define RING_BYTES_MOST	 (2ull << 30) /* the kernel's limit */
#define MAX_BYTES_LEAST	 (64u << 10)  /* so that names, stacks and some calls fit */
#define PERIOD_MOST	 (1u << 30)

static const struct option_row options[] = {
	{ 'o', "output", "FILE", ARG_STRING, offsetof(struct record_options, output),
	  "write FILE (default ispot.data); '-' writes to stdout", NULL },
	{ 'F', "function", "PATTERN", ARG_LIST, offsetof(struct record_options, patterns),
	  "trace functions that match [object:]name (repeatable)", NULL },
	{ 'e', "events", "EVENTS", ARG_STRING, offsetof(struct record_options, events),
	  "count EVENTS in every call: cycles,instructions, a group, auto or none", NULL },
	{ 'k', "clockid", "CLOCK", ARG_STRING, offsetof(struct record_options, clock),
	  "stamp calls with the cycle counter, too: tsc (default mono: with CLOCK_MONOTONIC)",
	  NULL },
	{ 'p', "pid", "PID,...", ARG_LIST, offsetof(struct record_options, pids),
	  "attach to running processes", NULL },
	{ 'c', "count", "N", ARG_U64, offsetof(struct record_options, period),
	  "record one call in N of each thread and function", "N,period" },
	{ 'd', "duration", "TIME", ARG_TIME, offsetof(struct record_options, duration_ns),
	  "stop after TIME (10, 500ms, 2m)", NULL },
	{ 'D', "delay", "TIME", ARG_TIME, offsetof(struct record_options, delay_ns),
	  "begin recording after TIME", NULL },
	{ 'm', "ring-size", "SIZE", ARG_SIZE, offsetof(struct record_options, ring_bytes),
	  "set the per-CPU buffer size (default 8M)", NULL },
	{ 'g', "call-graph", "HOW", ARG_STRING, offsetof(struct record_options, call_graph),
	  "unwind call stacks by dwarf (default), fp (frame pointers) or none", NULL },
	{ 0, "stack-period", "N", ARG_ABOVE_0, offsetof(struct record_options, stack_period),
	  "take a stack at every Nth call of a function (default 10000)", NULL },
	{ 0, "max-size", "SIZE", ARG_SIZE, offsetof(struct record_options, max_bytes),
	  "stop when the file reaches SIZE (default 4G; 0: no limit)", NULL },
	{ 0, "keep-slower", "TIME", ARG_TIME, offsetof(struct record_options, keep_slower_ns),
	  "write only calls that last TIME or longer (1ms); sum up the others", NULL },
	{ 0, "slow-stacks", "TIME", ARG_TIME, offsetof(struct record_options, slow_stacks_ns),
	  "take the call stack of each call that lasts TIME or longer (1ms)", NULL },
	{ 0, "overhead", "PCT", ARG_F64, offsetof(struct record_options, overhead_percent),
	  "without -F: slow the target by at most PCT% (default 10, with -p 2)", NULL },
	{ 0, "burst", "ON/PERIOD", ARG_STRING, offsetof(struct record_options, burst),
	  "insert the probes for ON of each PERIOD (100ms/1s)", NULL },
	{ 0, "solo", NULL, ARG_FLAG, offsetof(struct record_options, solo),
	  "let all threads share one CPU for 20ms of each second, for undisturbed calls", NULL },
	{ 0, "two-pass", NULL, ARG_FLAG, offsetof(struct record_options, two_pass),
	  "run CMD twice, to choose functions and then to trace them", NULL },
	{ 0, "engine", "ENGINE", ARG_STRING, offsetof(struct record_options, engine),
	  "time calls by kernel probes (kernel, for -p), patched code (in-process) or both (auto, for CMD)",
	  NULL },
	{ 0, "java", NULL, ARG_FLAG, offsetof(struct record_options, java),
	  "record methods of Java programs: synchronized ones, or those of -F", NULL },
	{ 0, "user", "USER", ARG_STRING, offsetof(struct record_options, user),
	  "run CMD as this user, by name or number", NULL },
	{ 0, "no-key", "FUNCTION", ARG_LIST, offsetof(struct record_options, no_key),
	  "do not record the arguments FUNCTION depends on ('*': any function)", NULL },
	{ 0, "no-inherit", NULL, ARG_UNFLAG, offsetof(struct record_options, inherit),
	  "do not follow child processes", NULL },
	{ 'q', "quiet", NULL, ARG_FLAG, offsetof(struct record_options, quiet), "print only errors",
	  NULL },
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct record_options, verbose), "print more",
	  NULL },
	{ 0 },
};

static const char *const examples[] = {
	"ispot record -F 'pthread_mutex_*' ./app",
	"trace libc's mutex functions in app",
	"ispot record -F 'cache_*' -F '!cache_init' -- ./app -t 8",
	"app's own functions, without one",
	"ispot record -e cycles,instructions -F 'cache_*' ./app",
	"and what each of those calls counts",
	"ispot record -F write -p 1234 -d 10",
	"a running process, for 10 seconds",
	"ispot record --keep-slower 1ms -F 'Db::*' -p $(pidof db) -d 24h",
	"a day of a server, in full only the calls from a millisecond on",
	"ispot record --java -F 'com.example.Store.*' -- java -jar app.jar",
	"methods of a Java program",
	"ispot record -F 'Db::*' -p $(pidof db) -- ./load",
	"a running server while ./load runs",
	NULL,
};

static bool is_program(const char *word)
{
	char *path;
	int code;

	if (strchr(word, '/'))
		return !access(word, X_OK);
	path = program_in_path(word, environ, &code);
	free(path);
	return path != NULL;
}

/* Explains that there is no command. Options that may stand alone in perf, -g and -e, may have
 * taken the command for their value. */
static int nothing_to_record(const struct record_options *o, struct err *err)
{
	struct session_options so = { 0 };
	bool by_graph = o->call_graph && session_args_call_graph(o->call_graph, &so, NULL);
	const char *taken = by_graph				 ? o->call_graph
			    : o->events && is_program(o->events) ? o->events
								 : NULL;

	if (!taken)
		return args_refuse(err, "nothing to record; give a command or -p PID");
	return args_refuse(
		err, "nothing to record: -%c took %s for its value; give it %s, or leave it out",
		by_graph ? 'g' : 'e', taken,
		by_graph ? "fp, dwarf or none" : "the events (ispot list)");
}

static int check_engine(const struct record_options *o, struct err *err)
{
	enum engine engine;

	if (engine_parse(o->engine, &engine, err))
		return err->code;
	return o->java && engine != ENGINE_KERNEL
		       ? args_refuse(err, "--java does not go with --engine: its agent times the "
					  "methods; leave one out")
		       : 0;
}

/* Accepts perf's words for the clock. Times are of CLOCK_MONOTONIC whichever is given. */
static int check_clock(const struct record_options *o, struct err *err)
{
	if (!o->clock || !strcmp(o->clock, "mono") || !strcmp(o->clock, "monotonic"))
		return 0;
	if (strcmp(o->clock, "tsc"))
		return args_refuse(err, "-k %s: no clock to stamp calls with; give mono or tsc",
				   o->clock);
	if (o->keep_slower_ns != UINT64_MAX)
		return args_refuse(err, "-k tsc stamps every call, --keep-slower keeps few; leave "
					"one out");
	return 0;
}

static bool stamps_cycles(const struct record_options *o)
{
	return o->clock && !strcmp(o->clock, "tsc");
}

/* Checks the options by themselves, and whether there is a command or a process. */
static int check_options(const struct record_options *o, bool has_command, bool has_pids,
			 struct err *err)
{
	if (!has_command && !has_pids)
		return nothing_to_record(o, err);
	if (o->two_pass && (!patterns_only_exclude(o->patterns.data, o->patterns.n) || has_pids))
		return args_refuse(
			err,
			"--two-pass chooses the functions of a command; leave out -p, and -F but for "
			"!patterns");
	if (!o->period || o->period > PERIOD_MOST)
		return args_refuse(err, "-c: out of range; give a number from 1 (every call) to %u",
				   PERIOD_MOST);
	if (!o->duration_ns)
		return args_refuse(err,
				   "-d 0 records nothing; leave it out to record until the end");
	if (!o->keep_slower_ns)
		return args_refuse(err, "--keep-slower 0 keeps all; leave it out");
	if (o->keep_slower_ns != UINT64_MAX && (o->period > 1 || o->events))
		return args_refuse(err,
				   "--keep-slower counts every call; give it without -c and -e");
	if (o->keep_slower_ns != UINT64_MAX && o->solo)
		return args_refuse(err, "--keep-slower writes no fast calls, which --solo is for; "
					"leave one out");
	if (o->overhead_percent <= 0 || o->overhead_percent > OVERHEAD_MOST)
		return args_refuse(err,
				   "--overhead %g: not a percentage above 0, up to %g; give "
				   "one such as 5",
				   o->overhead_percent, OVERHEAD_MOST);
	if (o->ring_bytes < RING_BYTES_LEAST)
		return args_refuse(err, "-m: a ring holds at least 4K; give bytes, or such as 8M");
	if (o->ring_bytes != UINT64_MAX && o->ring_bytes > RING_BYTES_MOST)
		return args_refuse(err, "-m: a ring holds at most 2G; give less");
	if (o->max_bytes && o->max_bytes < MAX_BYTES_LEAST)
		return args_refuse(err, "--max-size: a file needs 64K at least; 0 is for no bound");
	if (check_engine(o, err))
		return err->code;
	return check_clock(o, err);
}

/* Fills in all options of the session but the command and the processes. */
static int fill_session(struct session_options *so, const struct record_options *o, struct err *err)
{
	int ret;

	so->patterns = o->patterns.data;
	so->n_patterns = o->patterns.n;
	so->regions = parallel_regions;
	so->no_key = o->no_key.data;
	so->n_no_key = o->no_key.n;
	/* Short calls are not written, and values that are recorded on change would be missing with
	 * them. */
	so->events = o->keep_slower_ns == UINT64_MAX ? o->events : "none";
	so->keep_slower_ns = o->keep_slower_ns == UINT64_MAX ? 0 : o->keep_slower_ns;
	so->output = o->output;
	so->version = ispot_version;
	so->stamp_cycles = stamps_cycles(o);
	so->duration_ns = o->duration_ns == UINT64_MAX ? 0 : o->duration_ns;
	so->delay_ns = o->delay_ns;
	so->max_bytes = o->max_bytes;
	so->ring_bytes = o->ring_bytes == UINT64_MAX ? 0 : o->ring_bytes;
	so->slow_stack_ns = o->slow_stacks_ns;
	so->stack_period = o->stack_period < UINT32_MAX ? (uint32_t)o->stack_period : UINT32_MAX;
	so->period = o->period;
	so->inherit = o->inherit;
	so->solo = o->solo;
	so->calibrate = true;
	so->overhead =
		(isnan(o->overhead_percent) ? so->n_pids ? 2 : 10 : o->overhead_percent) / 100;
	ret = session_args_call_graph(o->call_graph, so, err);
	return ret || !o->burst ? ret : session_args_burst(o->burst, so, err);
}

/* The first recorder that is wanted records. The last one is always wanted. */
static const struct recorder *const recorders[] = { &recorder_java, &recorder_shared,
						    &recorder_in_process, &recorder_auto,
						    &recorder_kernel };

static const struct recorder *choose_recorder(const struct record_options *o,
					      const struct session_options *so)
{
	const struct recorder *const *r = recorders;

	while (!(*r)->is_wanted(o, so))
		r++;
	return *r;
}

/* Returns whether the command writes to the terminal, too, where a line of progress would be in the
 * way. */
static bool shares_terminal(const struct record_options *o)
{
	return !strcmp(o->output, "-") || isatty(STDOUT_FILENO);
}

static int run_record(int argc, char **argv, struct err *err)
{
	struct record_options o = {
		.output = "ispot.data",
		.period = 1,
		.inherit = true,
		.max_bytes = 4ull << 30,
		.ring_bytes = UINT64_MAX,     /* not given */
		.duration_ns = UINT64_MAX,    /* not given */
		.keep_slower_ns = UINT64_MAX, /* not given */
		.overhead_percent = NAN,      /* not given */
	};
	struct text command = { 0 }, own = { 0 };
	struct session_options so = { 0 };
	struct identity user;
	pid_t *pids = NULL;
	int first, status = 0, ret;

	mem_exhausted_says("ispot: out of memory; free some, or raise ulimit -v\n", 125);
	ret = args_parse(options, &o, ARGS_STOP_AT_WORD, argc, argv, &first, err);
	log_set_level(o.quiet ? LOG_QUIET : o.verbose ? LOG_DETAIL : LOG_NOTICE);
	if (!ret)
		ret = target_pids(&o.pids, &pids, &so.n_pids, err);
	if (!ret)
		ret = check_options(&o, first < argc, so.n_pids, err);
	if (!ret)
		ret = fill_session(&so, &o, err);
	if (!ret && o.user) {
		ret = target_user(&user, o.user, first == argc, err);
		so.user = &user;
	}
	if (!ret) {
		target_words(&command, argv + first, argc - first);
		target_words(&own, argv + 1, first - 1);
		so.argv = first < argc ? argv + first : NULL;
		so.pids = pids;
		so.show_progress = !so.argv || !shares_terminal(&o);
		so.command = command.s ? command.s : "";
		so.options = own.s ? own.s : "";
		ret = recorder_run(choose_recorder(&o, &so), &o, &so, &status, err);
	}
	session_args_failed(ret, err);
	text_release(&command);
	text_release(&own);
	vec_release(&o.patterns);
	vec_release(&o.no_key);
	vec_release(&o.pids);
	free(pids);
	return ret ? ret : status;
}

static const struct option_choices choices[] = {
	{ "clockid", "mono tsc" },
	{ "call-graph", "dwarf fp none" },
	{ "engine", "kernel in-process auto" },
	{ 0 },
};

const struct command cmd_record = {
	.name = "record",
	.summary = "record the calls of a command or of running processes",
	.usage =
		"ispot record [-o FILE] [-F PATTERN]... [-c N] [-e EVENTS] [-k CLOCK]\n"
		"             [-p PID,...] [-d TIME] [-D TIME] [-g HOW] [--stack-period N] [-m SIZE]\n"
		"             [--max-size SIZE] [--overhead PCT] [--burst ON/PERIOD] [--keep-slower TIME]\n"
		"             [--slow-stacks TIME] [--solo] [--two-pass] [--user USER] [--no-key FUNCTION]... [--no-inherit]\n"
		"             [--engine ENGINE] [--java] [-q] [-v] [--] [CMD...]",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_NEEDS_ROOT,
	.run = run_record,
};
