/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/result/result.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/headline.h"
#include "report/screen/untold.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define NAME_BYTES (4 * 24 + 1) /* of the program */

/*
 * "svc", as the recorder names it. An older recording only has the command ("/usr/bin/svc -p 80"),
 * and on attach "pid 7": a command is then another program.
 */
static void program_name(const struct view *v, char *buf, size_t n)
{
	const struct meta_session *s = &v->result->meta->session;
	char word[256];
	size_t len = s->command && !s->attached ? strcspn(s->command, " ") : 0;

	if (s->program && *s->program) {
		text_shortened(buf, n, s->program, (n - 1) / 4);
		return;
	}
	if (!len) {
		if (s->pid == META_UNKNOWN || !s->pid)
			snprintf(buf, n, "program");
		else
			snprintf(buf, n, "pid %llu", (unsigned long long)s->pid);
		return;
	}
	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, s->command, len);
	word[len] = '\0';
	text_printable(buf, n < 32 ? n : 32, text_base_name(word));
}

static void threads_text(struct text *out, const char *before, double threads, const char *after)
{
	text_printf(out, threads >= 0.095 || threads == 0 ? "%s%.1f%s" : "%s%.2f%s", before,
		    threads, after);
}

static void counted(struct text *out, uint64_t n, const char *what)
{
	char number[TEXT_COUNTED];

	text_printf(out, "  %s", text_counted(number, n, what));
}

static void first_line(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	const struct meta_session *s = &res->meta->session;
	char name[NAME_BYTES], number[TEXT_NUMBER];

	program_name(v, name, sizeof(name));
	text_add(out, name);
	if (strncmp(name, "pid ", 4) && s->pid && s->pid != META_UNKNOWN)
		text_printf(out, " (pid %llu)", (unsigned long long)s->pid);
	if (res->duration_ns >= 1000000000)
		text_printf(out, "  %.1f s", (double)res->duration_ns / 1e9);
	else
		text_printf(out, "  %s", text_time(number, res->duration_ns));
	if (s->cpus)
		counted(out, s->cpus, "CPU");
	counted(out, threads_count(&res->calls.threads), "thread");
	counted(out, res->calls.entries, "call");
	if (meta_period(res->meta) > 1 && res->estimated_calls)
		text_printf(out, " of %s", text_count(number, res->estimated_calls));
	text_printf(out, "  lost records %s\n", text_count(number, res->lost_records));
	if (res->windowed)
		text_printf(out, "only %.3f s to %.3f s of the recording\n",
			    (double)res->window_from_ns / 1e9, (double)res->window_to_ns / 1e9);
}

static void time_parts(const struct result *res, struct text *out)
{
	double duration = (double)res->probed_ns;

	threads_text(out, "threads' time ", (double)res->threads_ns / duration, "");
	if (res->working_ns == BLOCK_NONE) {
		threads_text(out, ", ", (double)res->lost_ns / duration,
			     " of it lost (no switch records: who slept is not known)");
		return;
	}
	if ((double)res->runnable_ns / duration >= 0.05) {
		threads_text(out, " = ", (double)(res->working_ns - res->runnable_ns) / duration,
			     " working");
		threads_text(out, " + ", (double)res->runnable_ns / duration, " without a CPU");
	} else {
		threads_text(out, " = ", (double)res->working_ns / duration, " working");
	}
	threads_text(out, " + ", (double)res->lost_ns / duration, " lost");
	if ((double)res->unexplained_ns / duration >= 0.05)
		threads_text(out, " + ", (double)res->unexplained_ns / duration, " unexplained");
	threads_text(out, " + ", (double)res->idle_ns / duration, " waiting");
}

static void time_line(const struct view *v, struct text *out)
{
	struct text line = { 0 };

	if (!v->result->duration_ns || !v->result->threads_ns)
		return;
	time_parts(v->result, &line);
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void cost_line(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	char name[NAME_BYTES], slowed[TEXT_NUMBER];

	if (isnan(res->coverage))
		return;
	program_name(v, name, sizeof(name));
	text_printf(out, "traced blocks cover %.0f %% of it; ", 100 * res->coverage);
	if (isnan(res->overhead))
		text_printf(out, "what probes slowed %s by is not known\n", name);
	else if (res->hardly_runs)
		text_printf(out, "probes took %s (estimated)\n",
			    text_of_cpu(slowed, res->overhead_cpus));
	else
		text_printf(out, "probes slowed %s by %s (estimated)\n", name,
			    text_overhead(slowed, res->overhead, res->overhead_is_least));
}

static void note(const struct view *v, const char *s, struct text *out)
{
	struct text line = { 0 };
	char *copy = xmalloc(4096);

	text_printf(&line, "note: %s", text_printable(copy, 4096, s));
	text_wrap(line.s, v->width, out);
	text_release(&line);
	free(copy);
}

void text_header(const struct view *v, struct text *out)
{
	first_line(v, out);
	time_line(v, out);
	cost_line(v, out);
	if (v->result->damage)
		note(v, v->result->damage, out);
	vec_for_each (&v->result->notices, char *, n)
		note(v, *n, out);
}

#define MOST 0.5 /* of the threads' time outside of all blocks: worth a sentence */

/* What part of the threads' time is neither in a traced block nor a wait, and what it is. */
static void outside(const struct result *res, struct text *out)
{
	double all = (double)res->threads_ns;
	double cpu = (double)res->outside_cpu_ns / all;
	double runnable = (double)res->outside_runnable_ns / all;

	if (res->lost_records >= res->records / 10)
		return;
	if (res->outside_cpu_ns == BLOCK_NONE) {
		if (1 - res->coverage > MOST)
			text_printf(out,
				    " %.0f %% of the threads' time is outside every traced block: "
				    "trace more functions (-F) to see it.",
				    100 * (1 - res->coverage));
	} else if (cpu + runnable > MOST && runnable > cpu) {
		text_printf(out,
			    " %.0f %% of the threads' time is runnable without a CPU outside every "
			    "traced block: more threads want CPUs than there are, or other "
			    "programs have them.",
			    100 * runnable);
	} else if (cpu + runnable > MOST) {
		text_printf(out,
			    " %.0f %% of the threads' time is at work outside every traced block: "
			    "trace more functions (-F) to see it.",
			    100 * cpu);
	}
}

static bool any_worth(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (report_worth(v->rows[i]))
			return true;
	return false;
}

/* Of locks that were taken in no traced call: how much their waiting places lose. */
static void locks_outside(const struct result *res, struct text *out)
{
	double lost = 0;

	if (res->keyed.rule.kind != BLOCK_LOCK)
		return;
	vec_for_each (&res->sites, const struct block, b) {
		const struct cause *cause = report_main_cause(b);

		if (report_worth(b) && cause && !strcmp(cause->kind, "lock"))
			lost += b->lost_threads;
	}
	if (lost < SCI_SMALL)
		return;
	threads_text(out, " Outside every traced block ", lost,
		     " threads queue for locks: `ispot report` says where; record the functions "
		     "that take them, with their argument, to see which (-F).");
}

static void nothing_lost(const struct view *v, struct text *out)
{
	const struct result *res = v->result;

	text_printf(out,
		    "No %s%s loses 1 %% of its threads' time to interference, as far as the probes "
		    "can tell.",
		    res->keyed.rule.kind == BLOCK_LOCK ? "lock"
		    : res->sequences		       ? "sequence"
						       : "block",
		    any_worth(v) ? " itself, without what it calls," : "");
}

#define CPUS_FULL 0.9 /* of the CPUs' time is the program's: to wait less gains nothing */

static bool cpus_are_full(const struct result *res)
{
	return res->meta->session.cpus &&
	       res->busy_cpus >= CPUS_FULL * (double)res->meta->session.cpus;
}

/* Threads that wait less run on a CPU instead, if one is free; threads that run for nothing free
 * the CPU that they are on. */
static double most_gained(const struct result *res, const struct block *worst)
{
	double told = report_told_share(worst) * worst->lost_threads;
	double running = (worst->pools[POOL_RUNNING] - worst->unexplained[POOL_RUNNING]) /
			 (double)res->probed_ns;
	double gained = (double)res->meta->session.cpus - res->busy_cpus + running;

	if (isnan(gained) || !res->meta->session.cpus)
		return told;
	return fmin(told, fmax(0, gained));
}

static void lost_at_worst(const struct result *res, const struct block *worst, struct text *out)
{
	if (cpus_are_full(res))
		text_printf(out,
			    "The program keeps its %u CPU%s %.0f %% busy, so threads that wait "
			    "less would not make it faster: only less work or more CPUs would. ",
			    (unsigned)res->meta->session.cpus,
			    res->meta->session.cpus == 1 ? "" : "s",
			    fmin(100, 100 * res->busy_cpus / (double)res->meta->session.cpus));
	text_headline(res, worst, out);
	threads_text(out, " Removing that gives back at most ", most_gained(res, worst), "");
	threads_text(out, " of the ", (double)res->lost_ns / (double)res->probed_ns,
		     " lost threads.");
}

void text_conclusion(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	const struct block *worst = report_worst(v);
	const struct block *unexplained = report_most_unexplained(v);
	struct untold_functions untold = { 0 };
	struct text line = { 0 };
	bool no_score;

	if (!worst && !res->calls.entries)
		return;
	result_untold(res, &untold);
	no_score = untold.n && untold.share > MOST;
	if (worst)
		lost_at_worst(res, worst, &line);
	if (unexplained && (!worst || unexplained->unexplained_threads > worst->lost_threads))
		text_unexplained(v, unexplained, &line);
	if (!line.n && !no_score)
		nothing_lost(v, &line);
	locks_outside(res, &line);
	if (no_score)
		text_untold(&untold, !line.n, &line);
	else
		outside(res, &line);
	text_wrap(line.s, v->width, out);
	text_add(out, "\n");
	text_release(&line);
	vec_release(&untold);
}
