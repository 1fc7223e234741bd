/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/recorder.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"

/* Which option which recorder cannot follow, and why: refused, never passed over. */
struct refusal {
	const char *option;
	bool given;
	const char *why[N_RECORDERS]; /* NULL: the recorder follows it */
};

/* Of the engine that patches: a table of its own, for it is to follow one after the other. */
struct missing {
	const char *option;
	bool given;
	const char *why;
};

static int check_in_process(const struct record_options *o, bool has_command, struct err *err)
{
	const bool counts = o->events && strcmp(o->events, "none") != 0;
	const bool unwinds = o->call_graph && strcmp(o->call_graph, "none") != 0;
	static const char no_stacks[] = "it takes no call stacks",
			  by_name[] = "functions are chosen with -F alone";
	const struct missing rows[] = {
		{ "-p with a command", o->pids.n && has_command, "either is recorded" },
		{ "-c", o->period != 1, "every call is recorded" },
		{ "-e", counts, "it counts no events" },
		{ "-k tsc", o->clock && !strcmp(o->clock, "tsc"), "the file has its stamps as ns" },
		{ "-D", o->delay_ns, "functions are patched before the command runs" },
		{ "-g", unwinds, no_stacks },
		{ "--overhead", !isnan(o->overhead_percent), by_name },
		{ "--burst", o->burst, "its patches are in always" },
		{ "--two-pass", o->two_pass, by_name },
		{ "--solo", o->solo, "its calls are not compared with undisturbed ones" },
		{ "--slow-stacks", o->slow_stacks_ns, no_stacks },
		{ "--stack-period", o->stack_period, no_stacks },
		{ "--no-key", o->no_key.n, "it records no arguments" },
		{ "--no-inherit", !o->inherit, "what a patched process forks is patched, too" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given)
			return args_refuse(err,
					   "--engine in-process does not go with %s yet: %s; leave "
					   "one out",
					   rows[i].option, rows[i].why);
	return 0;
}

static int refuse(enum recorder_id id, const struct refusal *r, struct err *err)
{
	if (id == RECORDER_JAVA)
		return args_refuse(err,
				   "--java does not go with %s: the agent is inside, and %s; "
				   "leave one out",
				   r->option, r->why[id]);
	return err_set(err, -EACCES, "%s takes root; without it %s: leave %s out, or run with sudo",
		       r->option, r->why[id], r->option);
}

/* Arguments are not recorded without privilege: --no-key is fulfilled there. */
int recorder_check(enum recorder_id id, const struct record_options *o, bool has_command,
		   struct err *err)
{
	const bool counts = o->events && strcmp(o->events, "none") != 0;
	const bool unwinds = o->call_graph && strcmp(o->call_graph, "none") != 0;
	static const char no_stacks[] = "there are no call stacks",
			  java_stacks[] = "it takes stacks of long calls alone, with --slow-stacks";
	const struct refusal rows[] = {
		{ "-p", o->pids.n, { [RECORDER_SHARED] = "only a command can be recorded" } },
		{ "-p with a command",
		  o->pids.n && has_command,
		  { [RECORDER_JAVA] = "either is recorded" } },
		{ "-c",
		  o->period != 1,
		  { [RECORDER_SHARED] = "every call is recorded",
		    [RECORDER_JAVA] = "every call is recorded" } },
		{ "-e",
		  counts,
		  { [RECORDER_SHARED] = "nothing is counted",
		    [RECORDER_JAVA] = "it counts no events" } },
		{ "-k tsc",
		  o->clock && !strcmp(o->clock, "tsc"),
		  { [RECORDER_SHARED] = "stamps are those of CLOCK_MONOTONIC",
		    [RECORDER_JAVA] = "its stamps are those of CLOCK_MONOTONIC" } },
		{ "-D",
		  o->delay_ns,
		  { [RECORDER_SHARED] = "recording begins with the command",
		    [RECORDER_JAVA] = "it begins with the program, or when it is attached" } },
		{ "-g", unwinds, { [RECORDER_SHARED] = no_stacks, [RECORDER_JAVA] = java_stacks } },
		{ "--overhead",
		  !isnan(o->overhead_percent),
		  { [RECORDER_SHARED] = "all registered functions are traced, or those of -F",
		    [RECORDER_JAVA] = "methods are chosen once, by -F or as synchronized" } },
		{ "--burst",
		  o->burst,
		  { [RECORDER_SHARED] = "the probes are in always",
		    [RECORDER_JAVA] = "its methods stay rewritten" } },
		{ "--two-pass",
		  o->two_pass,
		  { [RECORDER_SHARED] = "functions are chosen with -F",
		    [RECORDER_JAVA] = "methods are chosen by -F or as synchronized" } },
		{ "--solo",
		  o->solo,
		  { [RECORDER_SHARED] = "no switches of threads are recorded",
		    [RECORDER_JAVA] = "fast calls are not compared with undisturbed ones" } },
		{ "--keep-slower",
		  o->keep_slower_ns != UINT64_MAX,
		  { [RECORDER_SHARED] = "every call is written" } },
		{ "--slow-stacks", o->slow_stacks_ns, { [RECORDER_SHARED] = no_stacks } },
		{ "--stack-period",
		  o->stack_period,
		  { [RECORDER_SHARED] = no_stacks, [RECORDER_JAVA] = java_stacks } },
		{ "--no-key", o->no_key.n, { [RECORDER_JAVA] = "it records no arguments" } },
		{ "--no-inherit",
		  !o->inherit,
		  { [RECORDER_JAVA] = "Java machines that the command starts load it, too" } },
	};

	if (id == RECORDER_IN_PROCESS)
		return check_in_process(o, has_command, err);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given && rows[i].why[id])
			return refuse(id, &rows[i], err);
	return 0;
}

void recorder_report_end(const struct recorder_end *end)
{
	char calls[TEXT_COUNTED], functions[TEXT_COUNTED], lost[TEXT_COUNTED], bytes[TEXT_NUMBER];
	char shown[256];
	struct text line = { 0 };

	text_printf(&line, "%s of %s", text_counted(calls, end->calls, "call"),
		    text_counted(functions, end->functions, end->unit));
	if (end->duration_ns)
		text_printf(&line, " in %.1f s", (double)end->duration_ns / 1e9);
	if (end->lost)
		text_printf(&line, ", %s dropped", text_counted(lost, end->lost, "event"));
	else
		text_add(&line, ", none dropped");
	log_notice("%s%s (%s)", line.s, end->slowed ? end->slowed : "", end->reason);
	text_release(&line);
	text_printf(&line, "wrote %s", text_printable(shown, sizeof(shown), end->output));
	if (end->file_bytes)
		text_printf(&line, " (%s)", text_bytes(bytes, end->file_bytes));
	text_add(&line, ". Next: ispot report");
	if (strcmp(end->output, "ispot.data") != 0) {
		text_add(&line, " -i ");
		text_shell_word(&line, shown);
	}
	log_notice("%s", line.s);
	text_release(&line);
}
