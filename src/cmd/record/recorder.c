/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/recorder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/common/session_args.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "probes/session/session.h"
#include "report/table/table.h"
#include "trace/meta/meta.h"

/* An option, and why each recorder refuses it. No recorder ignores an option. */
struct refusal {
	const char *option;
	bool given;
	const char *in_process, *shared, *java; /* clauses; NULL: the recorder follows the option */
};

#define ROWS_MOST 24

struct refusals {
	struct refusal rows[ROWS_MOST];
	size_t n;
};

/* If the in-process engine works beside kernel probes, which follow all options, an option that the
 * engine refuses takes it out of the recording. These rows are the exceptions: the engine has
 * another reason, or none (NULL). */
static const struct beside {
	const char *option, *reason;
} besides[] = {
	{ "--overhead", NULL },
	{ "--keep-slower", "one engine sums up short calls" },
};

static const char *why(const struct refusal *r, enum recorder_id id)
{
	const char *const reasons[N_RECORDERS] = { [RECORDER_IN_PROCESS] = r->in_process,
						   [RECORDER_SHARED] = r->shared,
						   [RECORDER_JAVA] = r->java };

	return r->given ? reasons[id] : NULL;
}

static int refuse(enum recorder_id id, const struct record_options *o, const char *option,
		  const char *reason, struct err *err)
{
	if (id == RECORDER_IN_PROCESS && o->engine)
		return args_refuse(err,
				   "--engine in-process does not go with %s yet: %s; leave one out",
				   option, reason);
	if (id == RECORDER_JAVA)
		return args_refuse(err,
				   "--java does not go with %s: the agent is inside, and %s; "
				   "leave one out",
				   option, reason);
	return err_set(err, -EACCES, "%s takes root; without it %s: leave %s out, or run with sudo",
		       option, reason, option);
}

/* --no-key is nothing to users of registered probes, which record no arguments. */
static struct refusals refusals_of(const struct record_options *o, bool has_command)
{
	const bool counts = o->events && strcmp(o->events, "none") != 0;
	const bool unwinds = o->call_graph && strcmp(o->call_graph, "none") != 0;
	const bool cycles = o->clock && !strcmp(o->clock, "tsc");
	const char *const by_name = patterns_only_exclude(o->patterns.data, o->patterns.n)
					    ? NULL
					    : "with -F all that it names is recorded";
	static const char no_stacks[] = "there are no call stacks",
			  all[] = "every call is recorded",
			  long_stacks[] = "it takes stacks of long calls alone, with --slow-stacks",
			  always[] = "the probes are in always";
	const struct refusal rows[] = {
		{ "-p", o->pids.n, NULL, "only a command can be recorded", NULL },
		{ "-p with a command", o->pids.n && has_command, "either is recorded", NULL,
		  "either is recorded" },
		{ "-c", o->period != 1, NULL, all, all },
		{ "-e", counts, "no events are counted", "nothing is counted", NULL },
		{ "-k tsc", cycles, "the file has its stamps as ns",
		  "stamps are those of CLOCK_MONOTONIC",
		  "its stamps are those of CLOCK_MONOTONIC" },
		{ "-D", o->delay_ns, "functions are patched before the command runs",
		  "recording begins with the command",
		  "it begins with the program, or when it is attached" },
		{ "-g", unwinds, no_stacks, no_stacks, long_stacks },
		{ "--overhead", !isnan(o->overhead_percent), by_name,
		  "all registered functions are traced, or those of -F",
		  "methods are chosen once, by -F or as synchronized" },
		{ "--burst", o->burst, "patches are in always", always,
		  "its methods stay rewritten" },
		{ "--two-pass", o->two_pass, "functions are patched before the command runs",
		  "functions are chosen with -F", "methods are chosen by -F or as synchronized" },
		{ "--solo", o->solo, "calls are not compared with undisturbed ones",
		  "no switches of threads are recorded",
		  "fast calls are not compared with undisturbed ones" },
		{ "--keep-slower", o->keep_slower_ns != UINT64_MAX, NULL, "every call is written",
		  NULL },
		{ "--slow-stacks", o->slow_stacks_ns, no_stacks, no_stacks, NULL },
		{ "--stack-period", o->stack_period, no_stacks, no_stacks, long_stacks },
		{ "--user", o->user,
		  "ispot is to have the rights of the program: run it as that user", NULL, NULL },
		{ "--no-key", o->no_key.n, NULL, NULL, "it records no arguments" },
		{ "--no-inherit", !o->inherit, "what a patched process forks is patched, too", NULL,
		  "Java machines that the command starts load it, too" },
	};

	struct refusals refusals = { .n = sizeof(rows) / sizeof(rows[0]) };

	_Static_assert(sizeof(rows) <= sizeof(refusals.rows), "there is room");
	memcpy(refusals.rows, rows, sizeof(rows));
	return refusals;
}

static int check(enum recorder_id id, const struct record_options *o, bool has_command,
		 struct err *err)
{
	const struct refusals all = refusals_of(o, has_command);

	for (size_t i = 0; i < all.n; i++)
		if (why(&all.rows[i], id))
			return refuse(id, o, all.rows[i].option, why(&all.rows[i], id), err);
	return 0;
}

static const char *why_not_beside(const struct refusal *r)
{
	for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
		if (!strcmp(besides[i].option, r->option))
			return besides[i].reason;
	return r->in_process;
}

bool recorder_needs_probes(const struct record_options *o, const struct session_options *so,
			   char *words, size_t n)
{
	const struct refusals all = refusals_of(o, so->argv != NULL);

	for (size_t i = 0; i < all.n; i++) {
		const struct refusal *r = &all.rows[i];

		if (!r->given || !why_not_beside(r))
			continue;
		snprintf(words, n, "with %s, in process %s", r->option, why_not_beside(r));
		return true;
	}
	return false;
}

#define CLOSING_COLUMNS (80 - 7) /* a closing line begins with "ispot: " */

static void end_line(struct text *line)
{
	if (line->n)
		log_line(line->s);
	text_release(line);
}

/* Adds a part of a closing line, or begins another line with it if this one has no room. A file's
 * name that is too long for any line stays whole, so that it can be copied. */
static void add_part(struct text *line, const char *between, const char *part)
{
	if (line->n &&
	    table_columns(line->s) + table_columns(between) + table_columns(part) > CLOSING_COLUMNS)
		end_line(line);
	if (line->n)
		text_add(line, between);
	text_add(line, part);
}

/* Returns whether the user expects this reason for the end of the recording. */
static bool is_as_asked(const char *reason)
{
	return !strcmp(reason, "command ended") || !strcmp(reason, "duration");
}

#define LOST_MUCH 0.02 /* of all entries and exits: from here on a hint is worth a line */

static void report_lost(const struct recorder_end *end)
{
	const double all = 2 * (double)end->calls + (double)end->lost;

	if ((double)end->lost >= LOST_MUCH * all)
		log_notice("%.0f%% of the events were dropped; give larger buffers (-m), or trace "
			   "fewer functions (-F)",
			   100 * (double)end->lost / all);
}

static void report_end(const struct recorder_end *end, const char *output)
{
	char calls[TEXT_COUNTED], functions[TEXT_COUNTED], lost[TEXT_COUNTED], bytes[TEXT_NUMBER];
	char shown[256];
	struct text line = { 0 }, part = { 0 };

	text_printf(&line, "%s of %s", text_counted(calls, end->calls, "call"),
		    text_counted(functions, end->functions, end->unit ? end->unit : "function"));
	if (end->duration_ns)
		text_printf(&line, " in %.1f s", (double)end->duration_ns / 1e9);
	text_printf(&part, "%s dropped",
		    end->lost ? text_counted(lost, end->lost, "event") : "none");
	add_part(&line, ", ", part.s);
	if (*end->slowed)
		add_part(&line, ", ", end->slowed);
	text_release(&part);
	if (!is_as_asked(end->reason)) {
		text_printf(&part, "(%s)", end->reason);
		add_part(&line, " ", part.s);
	}
	end_line(&line);
	text_release(&part);
	report_lost(end);

	text_printf(&line, "wrote %s", text_printable(shown, sizeof(shown), output));
	if (end->file_bytes)
		text_printf(&line, " (%s)", text_bytes(bytes, end->file_bytes));
	text_add(&part, "Next: ispot report");
	if (strcmp(output, "ispot.data") != 0) {
		text_add(&part, " -i ");
		text_shell_word(&part, shown);
	}
	add_part(&line, ". ", part.s);
	end_line(&line);
	text_release(&part);
}

static void add_slowed(struct recorder_end *end, const struct session_result *r)
{
	char words[META_COST_WORDS];

	if (r->lost_most_in_process)
		snprintf(end->slowed, sizeof(end->slowed), "overhead n/a: most were dropped");
	else if (r->target_cpu_ns && (r->trapped_calls || r->scheduling_cost_ns))
		snprintf(end->slowed, sizeof(end->slowed), "%s",
			 meta_cost_words(words, (double)r->target_cpu_ns, (double)r->probes_cost_ns,
					 (double)r->duration_ns));
}

void recorder_fill_end(struct recorder_end *end, const struct session_result *r)
{
	*end = (struct recorder_end){ .calls = r->calls,
				      .functions = r->functions,
				      .lost = r->lost_records + r->lost_others,
				      .file_bytes = r->file_bytes,
				      .duration_ns = r->duration_ns,
				      .reason = r->reason,
				      .exit_status = r->exit_status };
	add_slowed(end, r);
}

int recorder_run(const struct recorder *r, const struct record_options *o,
		 struct session_options *so, int *status, struct err *err)
{
	struct recorder_end end = { 0 };
	int ret = check(r->id, o, so->argv != NULL, err);

	if (!ret)
		ret = r->record(o, so, &end, err);
	if (ret)
		return ret;
	if (end.reason)
		report_end(&end, so->output);
	*status = session_args_status(end.reason, end.exit_status);
	return 0;
}
