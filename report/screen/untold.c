// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/screen/untold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/cause/verdict.h"
#include "analysis/evidence/untold.h"
#include "analysis/result/result.h"
#include "analysis/threads/handout.h"
#include "analysis/threads/standard.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/runtime.h"
#include "report/screen/spin.h"
#include "report/table/table.h"
#include "symbol/name.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

#define NAME_COLUMNS 48
#define NAMES_MAX    3
#define FAULTS_LEAST 0.2  /* of the CPU time: less in page faults gets no words */
#define NAME_LEAST   0.05 /* of the CPU time: a smaller share is not named */

const struct cause *text_cache_misses(const struct block *b)
{
	const struct cause *first = b->causes.n ? &b->causes.data[0] : NULL;

	return first && !strcmp(first->kind, "cache-misses") ? first : NULL;
}

void text_unexplained(const struct view *v, const struct block *b, struct text *out)
{
	char name[4 * NAME_COLUMNS + 1], key[4 * NAME_COLUMNS + 1];
	const struct result *res = v->result;
	const double waits = block_unexplained_waits_ns(b) / b->unexplained_ns;
	const double percent =
		100 * b->unexplained_threads * (double)res->probed_ns / (double)res->threads_ns;
	bool misses = text_cache_misses(b);

	text_new_sentence(out);
	text_printf(out, "%s%s%s ", name_brief(name, sizeof(name), b->name, NAME_COLUMNS),
		    b->key ? " " : "",
		    b->key ? text_shortened(key, sizeof(key), b->key, NAME_COLUMNS) : "");
	if (block_waits_for_unknown(b)) {
		text_printf(out,
			    "blocks for %.1f%% of thread time, for work or for other threads: "
			    "unknown which, as wakeups were not recorded.",
			    fmin(waits, 1) * percent);
		return;
	}
	text_printf(out, "varies while it runs, %s: ",
		    misses ? "mostly with its cache misses" : "for an unknown reason");
	text_printf(out, "its calls run for %.1f%% of thread time longer than its fastest call. %s",
		    (1 - waits) * percent,
		    misses ? "Their data is spread over more memory, or others have the cache."
			   : "They do more work, or threads interfere in a way that only hardware "
			     "counters show.");
}

void text_unjudged(const struct view *v, const struct block *b, struct text *out)
{
	const struct result *res = v->result;
	char name[4 * NAME_COLUMNS + 1], count[TEXT_COUNTED], share[TEXT_NUMBER];

	text_new_sentence(out);
	text_printf(out,
		    "Cannot tell whether threads interfere: the slow calls of %s take %s of thread "
		    "time, but %s %s too few to judge (%d are needed). Record for longer.",
		    name_brief(name, sizeof(name), b->name, NAME_COLUMNS),
		    text_share(share,
			       b->lost_threads * (double)res->probed_ns / (double)res->threads_ns),
		    text_counted(count, b->calls, block_is_wait(b) ? "sleep" : "call"),
		    b->calls == 1 ? "is" : "are", CALLS_MIN);
}

void text_untold_name(const struct untold_function *f, struct text *out)
{
	char name[4 * NAME_COLUMNS + 1], file[128];
	const struct meta_frame *frame = f->frame;
	uint32_t line = frame->loop ? frame->loop : frame->line;
	struct text function = { 0 };

	meta_add_function(frame->symbol, &function);
	if (!*frame->symbol)
		text_printf(out, "%s (no symbols)",
			    text_shortened(name, sizeof(name), text_base_name(frame->object),
					   NAME_COLUMNS));
	else
		text_add(out, name_brief(name, sizeof(name), function.s, NAME_COLUMNS));
	if (*frame->symbol && frame->file && *frame->file && line &&
	    !standard_is_library(frame->object))
		text_printf(out, " (%s:%u)",
			    text_printable(file, sizeof(file), text_base_name(frame->file)), line);
	text_release(&function);
}

static bool is_in_faults(const struct untold_function *f)
{
	return f->faults >= FAULTS_LEAST && f->faults >= f->share / 2;
}

/* A function whose probes were removed may have a row: its calls until then. */
static void add_traced_until(const struct result *res, const struct meta_frame *frame,
			     struct text *out)
{
	char until[TEXT_NUMBER];

	vec_for_each (&res->meta->not_traced, const struct meta_not_traced, n)
		if (n->traced_until_ns && !n->traced_again_ns && !strcmp(n->name, frame->symbol) &&
		    !strcmp(n->object, frame->object)) {
			text_printf(out, " (not traced after %s)",
				    text_time(until, result_since_start(res, n->traced_until_ns)));
			return;
		}
}

/* Adds "work (app.c:12) 61%". */
static void name_function(const struct untold_function *f, struct text *out)
{
	text_untold_name(f, out);
	text_printf(out, " %.0f%%", 100 * f->share);
	if (is_in_faults(f))
		text_add(out, " (mostly in the kernel, likely in page faults)");
}

const char *report_alone(const struct result *res)
{
	/* without switches it is unknown whether there was a second thread */
	return res->threads.n == 1 && res->calls.threads.have_switch
		       ? "The program has one thread, so none waits for another. "
		       : "Cannot tell whether threads interfere: ";
}

void text_untold(const struct result *res, const struct untold_functions *untold, bool alone,
		 struct text *out)
{
	text_new_sentence(out);
	if (alone)
		text_add(out, report_alone(res));
	text_printf(out, "%.0f%% of the CPU time is outside the calls that were compared",
		    100 * untold->share);
	for (size_t i = 0; i < untold->n && i < NAMES_MAX; i++) {
		if (untold->data[i].share < NAME_LEAST)
			break;
		text_add(out, i ? ", " : ", mostly in ");
		name_function(&untold->data[i], out);
		add_traced_until(res, untold->data[i].frame, out);
	}
	text_add(out, ".");
}

#define GIVER_WAITED 0.1  /* of the threads' lives: a shorter wait gets no sentence */
#define GIVER_BUSY   0.75 /* of the giver's time: an idler thread does not limit others */
#define GIVER_ALWAYS 0.9  /* of it: the program takes as long as the giver's work does */
#define QUEUED_LEAST 0.1  /* of its time in the run queue: above this, "busy" would mislead */
#define NAPS_LEAST   0.1  /* of its time in timed sleeps: from here on they are named */
#define GIVER_MOSTLY 0.2  /* of its CPU time: a function with this much is named */

static double life_ns(const struct thread *t)
{
	return (double)(t->end_ns - t->born_ns - t->lost_ns);
}

static double busy_part(const struct thread *t)
{
	double alive = life_ns(t);

	return alive > 0 ? 1 - ((double)(t->off.blocked_ns + t->off.idle_ns) -
				(double)sleep_naps_ns(t)) /
					   alive
			 : 0;
}

static double naps_part(const struct thread *t)
{
	double alive = life_ns(t);

	return alive > 0 ? (double)sleep_naps_ns(t) / alive : 0;
}

static double queued_part(const struct thread *t)
{
	double alive = life_ns(t);

	return alive > 0 ? (double)t->off.preempted_ns / alive : 0;
}

/* Returns the part of all threads' lives. Waits are seen from the beginning, before there are
 * probes, so the part of thread time would be too large. */
static double part_of_lives(const struct threads *th, uint64_t ns)
{
	double lives_ns = 0;

	vec_for_each (&th->all, struct thread *, t)
		lives_ns += life_ns(*t);
	return lives_ns > 0 ? (double)ns / lives_ns : 0;
}

/* Adds "thread 7 (app, in worker)". The threads of a program often all have its name, so the
 * function tells more. */
static void name_thread(const struct untold *u, const struct thread *t, struct text *out)
{
	const struct meta_frame *begin = untold_begin(u, t->index);
	char name[4 * NAME_COLUMNS + 1];

	text_printf(out, "thread %u", t->tid);
	if (*t->comm || begin)
		text_printf(out, " (%s%s",
			    text_shortened(name, sizeof(name), t->comm, NAME_COLUMNS),
			    *t->comm && begin ? ", " : "");
	if (begin)
		text_printf(out, "in %s",
			    name_brief(name, sizeof(name), begin->symbol, NAME_COLUMNS));
	text_add(out, *t->comm || begin ? ")" : "");
}

/* Less time lost elsewhere shortens the run only if that thread loses it, and one that is always
 * busy waits for nobody. */
static bool leads(const struct view *v, const struct giver *g)
{
	const struct result *res = v->result;
	const struct block *worst = report_worst(v);

	return !worst ||
	       worst->lost_threads * (double)res->probed_ns < g->waited * (double)res->threads_ns ||
	       busy_part(g->thread) >= GIVER_ALWAYS;
}

struct giver report_giver(const struct view *v)
{
	const struct result *res = v->result;
	struct giver g = { 0 };
	uint64_t waited_ns;

	g.thread = handouts_giver(&res->calls.threads, &waited_ns);
	g.waited = part_of_lives(&res->calls.threads, waited_ns);
	if (!g.thread || g.waited < GIVER_WAITED || busy_part(g.thread) < GIVER_BUSY ||
	    result_fills_cpus(res))
		return (struct giver){ 0 };
	g.leads = leads(v, &g);
	return g;
}

const struct block *report_told_row(const struct view *v)
{
	const struct block *worst = report_worst(v);
	struct untold_functions untold = { 0 };
	bool leads;

	if (!worst || report_loses_much(v, worst))
		return worst;
	result_untold(v->result, &untold);
	leads = report_giver(v).leads || report_spins_lead(v, &untold) || report_runtime_leads(v);
	vec_release(&untold);
	return leads ? NULL : worst;
}

void text_giver(const struct view *v, const struct giver *giver, struct text *out)
{
	const struct result *res = v->result;
	const struct meta_frame *busiest;
	char share[TEXT_NUMBER];
	struct untold_function f = { 0 };

	if (!giver->thread)
		return;
	text_new_sentence(out);
	text_printf(out, "Threads wait %s of thread time for work from ",
		    text_share(share, giver->waited));
	name_thread(&res->untold, giver->thread, out);
	text_printf(out, ", which %s %s of the time",
		    queued_part(giver->thread) < QUEUED_LEAST ? "is busy"
							      : "runs or waits for a CPU",
		    text_share(share, busy_part(giver->thread) - naps_part(giver->thread)));
	busiest = untold_busiest(&res->untold, giver->thread->index, &f.share);
	if (busiest && f.share >= GIVER_MOSTLY) {
		f.frame = busiest;
		text_add(out, ", mostly in ");
		name_function(&f, out);
	}
	if (naps_part(giver->thread) >= NAPS_LEAST)
		text_printf(out, "%s and sleeps on a timer for %s", f.frame ? "," : "",
			    text_share(share, naps_part(giver->thread)));
	text_add(out, ": the program is no faster than that thread.");
}

void text_faults_advice(const struct view *v, struct text *out)
{
	const struct cause_kind *faults = cause_kind_find("page-fault");
	struct untold_functions untold = { 0 };
	bool named = false; /* a function that the sentence names is in page faults */

	result_untold(v->result, &untold);
	for (size_t i = 0; i < untold.n && i < NAMES_MAX; i++)
		named |= untold.data[i].share >= NAME_LEAST && is_in_faults(&untold.data[i]);
	if (named)
		text_add(out, faults->advice[0].text);
	vec_release(&untold);
}

void text_giver_advice(const struct giver *giver, struct text *out)
{
	if (giver->thread && naps_part(giver->thread) >= busy_part(giver->thread) / 4)
		text_printf(out,
			    "if thread %u need not keep a rate, let it go on without sleeping for "
			    "a time",
			    giver->thread->tid);
	else if (giver->thread)
		text_printf(out,
			    "split the work of thread %u, or let those that wait do some of it",
			    giver->thread->tid);
}
