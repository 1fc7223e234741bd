/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/result/notice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/brief.h"
#include "analysis/result/result.h"
#include "analysis/score/marker.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"

void result_notice(struct result *res, const char *text)
{
	*vec_add(&res->notices) = (struct notice){ .text = xstrdup(text) };
}

static void notice_to(void *res, const char *text)
{
	result_notice(res, text);
}

void result_count_notice(struct result *res, uint64_t count, const char *one, const char *many)
{
	char number[TEXT_NUMBER];
	char *line;

	if (!count)
		return;
	line = xasprintf("%s %s", text_count(number, count), count == 1 ? one : many);
	result_notice(res, line);
	free(line);
}

/* The share of all calls below which a notice about calls changes no score that is shown. */
#define FEW_CALLS 0.01

/* Adds a notice about calls, marked as small if it is about few of them. */
static void calls_notice(struct result *res, uint64_t count, const char *one, const char *many)
{
	size_t before = res->notices.n;

	result_count_notice(res, count, one, many);
	if (res->notices.n > before)
		vec_last(&res->notices)->small =
			(double)count < FEW_CALLS * (double)res->calls.entries;
}

/* Reports why there is no overhead. The recorder does so itself where that was over the budget. */
static void cost_notice(struct result *res)
{
	if (res->lost_most_in_process && !meta_has_notice(res->meta, "over-budget"))
		result_notice(res,
			      "how much recording slowed the program is n/a, as most calls that "
			      "were timed in process were dropped; trace fewer functions (-F), or "
			      "one call in several (-c N)");
}

/* Whether the analysis leaves out the start of the recording, as that of `ispot stat` if functions
 * join. */
static bool begins_later(const struct result *res)
{
	const uint64_t start_ns = res->meta->session.start_ns;

	return start_ns != META_UNKNOWN && res->start_ns > start_ns;
}

/*
 * Reports if the entries and exits that were read and dropped do not add up to those that the
 * probes made. Dropped events include scheduler events, so the check allows for them.
 */
static void made_notice(struct result *res)
{
	const struct meta_end *e = &res->meta->end;
	uint64_t read = result_records_read(res);
	char *line;

	if (res->windowed || begins_later(res) || !e->present || e->made_records == META_UNKNOWN ||
	    (read <= e->made_records && e->made_records <= read + res->lost_records))
		return;
	line = xasprintf(
		"events do not add up: probes wrote %llu, %llu were read, and %llu are known "
		"to be dropped",
		(unsigned long long)e->made_records, (unsigned long long)read,
		(unsigned long long)res->lost_records);
	result_notice(res, line);
	free(line);
}

/* Reports why the recording ended if the target's end was not the reason. */
static void end_notice(struct result *res)
{
	static const struct {
		const char *reason, *words;
	} ends[] = {
		{ "max-size", "the recording stopped when its file reached --max-size, not at the "
			      "program's end; record with a larger one, fewer functions, or -c N" },
		{ "disk full",
		  "the recording stopped because the disk, a quota or ulimit -f let its "
		  "file grow no further; what came after is missing" },
		{ "out of memory",
		  "the recording stopped because ispot had no memory left; what came after is "
		  "missing; free some, or record fewer functions" },
		{ "write error", "the recording stopped because its file could not be written; "
				 "what came after is missing" },
	};
	const struct meta_end *e = &res->meta->end;

	for (size_t i = 0; e->present && e->reason && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(e->reason, ends[i].reason))
			result_notice(res, ends[i].words);
}

static void calibration_notice(struct result *res)
{
	uint32_t without = 0, timed = 0;

	/*
	 * A function whose calls were only counted has no durations, so it has no noise floor
	 * either.
	 */
	vec_for_each (&res->blocks, const struct block, b) {
		bool counted = b->function && b->function->exit == EXIT_NONE;

		timed += !counted;
		without += !counted && !b->cost->known;
	}
	if (!without)
		return;
	if (without == timed)
		result_notice(res,
			      "the recording has no calibration: noise floors are n/a, and small "
			      "scores may be the probes' own cost");
	else
		result_count_notice(
			res, without,
			"function has probes of a class that was not calibrated: its floor is n/a",
			"functions have probes of a class that was not calibrated: their floors "
			"are n/a");
	/* Only -v shows floors. */
	vec_last(&res->notices)->small = without != timed;
}

static void unwatched_notice(struct result *res)
{
	const struct unwatched *u = &res->calls.threads.unwatched;
	char seen[TEXT_NUMBER], all[TEXT_NUMBER], share[TEXT_NUMBER], *line;
	uint64_t seen_ns;

	if (!u->n || !res->duration_ns || u->ns > res->duration_ns)
		return;
	seen_ns = res->duration_ns - u->ns;
	line = xasprintf("to keep the overhead budget, context switches were recorded for %s of %s "
			 "(%s); times and shares are of that part",
			 text_time(seen, seen_ns), text_time(all, res->duration_ns),
			 text_share(share, (double)seen_ns / (double)res->duration_ns));
	result_notice(res, line);
	free(line);
}

static void sampling_notice(struct result *res)
{
	uint64_t period = meta_period(res->meta);
	char seen[TEXT_NUMBER], all[TEXT_NUMBER], *line;

	if (period <= 1)
		return;
	text_count(seen, res->calls.entries);
	text_count(all, res->estimated_calls);
	if (res->calls.entries)
		line = xasprintf(
			"one call in %llu was recorded, %s of %s: scores are scaled up, and "
			"may be off by the width of their interval (-v: low, high; "
			"--json: sci_low, sci_high)",
			(unsigned long long)period, seen, all);
	else if (res->estimated_calls)
		line = xasprintf(
			"one call in %llu was to be recorded, and none of the %s was: record "
			"with a smaller -c",
			(unsigned long long)period, all);
	else
		return;
	result_notice(res, line);
	free(line);
}

#define SOLO_NAMES 3

static bool is_of_solo(const struct block *b)
{
	return b->solo.is_fastest && b->sci >= SCI_SMALL &&
	       !(b->sci - b->solo.sci_without < SCI_SMALL);
}

/*
 * Names the blocks whose scores rest on calls inside the windows of --solo, each with the score
 * that it has without them, so that the user can judge.
 */
static void solo_notice(struct result *res)
{
	struct text line = { 0 };
	uint64_t n = 0;

	vec_for_each (&res->blocks, const struct block, b) {
		if (!is_of_solo(b) || ++n > SOLO_NAMES)
			continue;
		text_printf(&line, "%s%s (slowdown score %.2f, ", n > 1 ? ", " : "", b->name,
			    b->sci);
		if (isnan(b->solo.sci_without))
			text_add(&line, "unknown without --solo)");
		else
			text_printf(&line, "%.2f without --solo)", b->solo.sci_without);
	}
	if (n > SOLO_NAMES)
		text_printf(&line, " and %" PRIu64 " more", n - SOLO_NAMES);
	if (n) {
		text_add(&line, n > 1 ? ": their fastest calls" : ": its fastest call");
		text_add(&line, " ran in a window of --solo, while no other thread of the program "
				"did");
		result_notice(res, line.s);
	}
	text_release(&line);
}

/*
 * Nobody knows which calls the probes of the skipped calls fell into, so the notice says that
 * durations include them.
 */
static void left_out_probes_notice(struct result *res)
{
	if (meta_period(res->meta) <= 1)
		return;
	vec_for_each (&res->blocks, const struct block, b)
		if (b->sums && b->sums->inside) {
			result_notice(res,
				      "durations of functions that call traced ones hold the "
				      "probes of the calls left out, and their floors do: trace "
				      "either alone (-F)");
			return;
		}
}

/*
 * Reports markers in which each thread recorded only its first iteration: the number of iterations
 * is unknown then.
 */
static void loops_notice(struct result *res)
{
	vec_for_each (&res->blocks, const struct block, b) {
		uint64_t period = b->function ? b->function->period : 1;
		char *line;

		if (period <= 1 || period == META_UNKNOWN || !b->calls || b->calls > b->threads)
			continue;
		line = xasprintf("marker %s records one iteration in %llu, and no thread came to a "
				 "second one: how many there were is not known; give "
				 "ISPOT_LOOP_BEGIN(%s, N) a smaller N",
				 b->name, (unsigned long long)period, b->name);
		result_notice(res, line);
		free(line);
	}
}

/* Whether the user chose any of the functions with -F. */
static bool any_chosen(const struct meta *meta)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->chosen)
			return true;
	return false;
}

/*
 * Says why there are no calls. If nothing was probed, the recorder's notices say why, and dropped
 * events may have been calls.
 */
static void no_call_notice(struct result *res)
{
	if (res->estimated_calls || res->lost_records || meta_has_notice(res->meta, "delay") ||
	    (!res->meta->functions.n && res->meta->notices.n))
		return;
	if (res->windowed)
		result_notice(res, "no traced function was called in this part of the recording, "
				   "or none was traced yet");
	else if (any_chosen(res->meta))
		result_notice(res,
			      "no traced function was called; `ispot check` shows what -F matches");
	else
		result_notice(res, "none of the functions that ispot chose was called");
}

static const struct meta_notice *over_budget(const struct meta *meta)
{
	vec_for_each (&meta->notices, const struct meta_notice, n)
		if (n->code && !strcmp(n->code, "over-budget"))
			return n;
	return NULL;
}

bool result_costs_elsewhere(const struct meta *meta)
{
	const struct meta_notice *n = over_budget(meta);

	return n && n->text && !strstr(n->text, "trace fewer functions");
}

bool result_is_much(double overhead, double cpus)
{
	return overhead >= RESULT_OVERHEAD_MUCH && cpus >= RESULT_CPUS_MUCH;
}

bool result_slowed_much(const struct result *res)
{
	return result_is_much(res->overhead, res->overhead_cpus);
}

/*
 * Whether the first screen reads the same without the recorder's notice: of a cost that is small,
 * or that its first sentence says. Older recordings reported
 * missing context switches under the code java-limits.
 */
static bool is_small(const struct result *res, const struct meta_notice *n)
{
	/* The mappings dropped are those of all processes of the machine. */
	static const char *const codes[] = { "few-lost-samples", "java-left", "not-patched",
					     "calibration", "lost-mappings" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (!strcmp(n->code, codes[i]))
			return true;
	if (!strcmp(n->code, "over-budget"))
		return !result_slowed_much(res) ||
		       (res->calls.entries && !result_costs_elsewhere(res->meta));
	return !strcmp(n->code, "java-limits") && n->text && !strstr(n->text, "context switches");
}

void result_find_notices(struct result *res)
{
	const struct sci *s = &res->sci;
	uint64_t overflow = 0;

	/* The first screen has room for few notices: those of missing data come first. */
	if (!res->meta->end.present && !res->windowed && !res->damage)
		result_notice(res,
			      "the recording has no end: its recorder was killed, the last second "
			      "may be missing");
	end_notice(res);
	vec_for_each (&res->meta->notices, const struct meta_notice, n) {
		result_notice(res, n->text ? n->text : "");
		vec_last(&res->notices)->small = n->code && is_small(res, n);
	}
	made_notice(res);
	unwatched_notice(res);
	cost_notice(res);
	sampling_notice(res);
	solo_notice(res);
	left_out_probes_notice(res);
	loops_notice(res);
	if (res->windowed && brief_notice_of_window(res->meta))
		result_notice(res, brief_notice_of_window(res->meta));
	calibration_notice(res);
	vec_for_each (&res->blocks, const struct block, b)
		overflow += b->shapes_overflow;
	calls_notice(res, s->ends[CALL_NEGATIVE],
		     "call ends before it begins by its CPUs' clocks; it is not timed",
		     "calls end before they begin by their CPUs' clocks; they are not timed");
	calls_notice(
		res, s->ends[CALL_UNWOUND] - markers_unended(&res->calls),
		"call has no exit (unwound, or beyond 64 nested returns); it is not timed",
		"calls have no exit (unwound, or beyond 64 nested returns); they are not timed");
	markers_report_faults(&res->calls, res->meta, notice_to, res);
	calls_notice(res, s->ends[CALL_LOST],
		     "call was open when events were dropped; it is not timed",
		     "calls were open when events were dropped; they are not timed");
	result_count_notice(
		res, res->calls.uncounted_losses,
		"stretch lost records nobody counted: lost records are more than shown",
		"stretches lost records nobody counted: lost records are more than shown");
	result_count_notice(
		res, res->keyed.in_rest,
		"call has a key beyond the 4096 kept per function: it is in `other`",
		"calls have keys beyond the 4096 kept per function: they are in `other`");
	result_count_notice(res, overflow, "call took a path beyond the 64 kept per function",
			    "calls took paths beyond the 64 kept per function");
	if (overflow) /* the first screen has no scores by path */
		vec_last(&res->notices)->small = true;
	result_count_notice(res, res->calls.unknown_ids,
			    "record is of a function that the trace does not name",
			    "records are of functions that the trace does not name");
	if (!res->calls.entries)
		no_call_notice(res);
}
