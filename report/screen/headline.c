// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/screen/headline.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/cause/verdict.h"
#include "analysis/lock/section.h"
#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "analysis/score/callstack.h"
#include "analysis/score/marker.h"
#include "analysis/score/pools.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/wait.h"
#include "symbol/name.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "report/block/coactive.h"
#include "report/block/stacks.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/screen/runtime.h"
#include "report/screen/spin.h"
#include "report/screen/text.h"
#include "report/screen/told.h"
#include "report/screen/untold.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"

#define NAME_BYTES	 128 /* a longer name would fill the paragraph */
#define NAME_COLUMNS	 64
#define SEQUENCE_COLUMNS 96
#define WORD_COLUMNS	 80 /* of the usual screen, on which a longer word has no room */
#define PLACE_COLUMNS	 96 /* its callers distinguish a place */

/* Adds the name without templates and parameters, which would fill the paragraph. */
static void short_name(const char *s, size_t columns, struct text *out)
{
	char buf[4 * PLACE_COLUMNS + 1];

	text_add(out, name_brief(buf, sizeof(buf), s, columns));
}

/* Names a place where threads wait, without the kind of futex that tells its rows apart: the
 * sentence says it. */
static void place_name(const char *s, struct text *out)
{
	static const char *const kinds[] = { ", at locks", ", at barriers" };
	char *name = xstrdup(s);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char *end = strstr(name, kinds[i]);

		if (end && !end[strlen(kinds[i])])
			*end = '\0';
	}
	short_name(name, PLACE_COLUMNS, out);
	free(name);
}

/* Names the calls of a sequence. Templates are left out if a word with them fits on no line. */
static void sequence_name(const char *s, struct text *out)
{
	char sequence[4 * SEQUENCE_COLUMNS + 1];

	text_shortened(sequence, sizeof(sequence), s, SEQUENCE_COLUMNS);
	if (text_widest_word(sequence) > WORD_COLUMNS)
		short_name(s, SEQUENCE_COLUMNS, out);
	else
		text_add(out, sequence);
}

/* Names the block. A lock is a place in memory and a sequence has several functions. A bare address
 * helps only in the block's own row. */
static void name(const struct block *b, struct text *out)
{
	char buf[NAME_BYTES];

	if (row_lock(b)) {
		text_printf(
			out, "%s (%s)",
			text_printable(buf, sizeof(buf), b->kind == BLOCK_LOCK ? b->name : b->key),
			row_lock(b));
		return;
	}
	if (b->kind == BLOCK_LOCK && strcmp(b->name, b->function->name))
		text_printf(out, "%s ", text_printable(buf, sizeof(buf), b->function->name));
	if (b->kind == BLOCK_SEQUENCE)
		sequence_name(b->name, out);
	else if (block_is_wait(b))
		place_name(b->name, out);
	else
		short_name(b->name, NAME_COLUMNS, out);
	if (b->key && block_is_call(b) && strncmp(b->key, "0x", 2) != 0)
		text_printf(out, " %s", text_printable(buf, sizeof(buf), b->key));
}

static void place(const struct meta *meta, const struct block *b, struct text *out)
{
	char file[128];

	name(b, out);
	if (b->kind == BLOCK_LOCK || b->kind == BLOCK_SEQUENCE)
		return;
	if (b->function && b->function->file && *b->function->file && b->function->line &&
	    !meta_symbol_in_std(b->function->name) &&
	    !standard_is_library(meta_object(meta, b->function->object)->path))
		text_printf(out, " (%s:%u)",
			    text_printable(file, sizeof(file), text_base_name(b->function->file)),
			    b->function->line);
}

/* Returns the traced function or marker that called the block for most of its time, or NULL if
 * there is none. */
static const struct block *main_caller(const struct result *res, const struct block *b)
{
	const struct block *best = NULL;
	uint64_t most = b->total_ns == BLOCK_NONE ? 0 : b->total_ns / 2;

	vec_for_each (&res->blocks, const struct block, caller)
		for (uint32_t i = 1; i <= caller->sums->n_edges; i++) {
			const struct sci_edge *e = &caller->sums->edges[i];

			if (e->id == b->function->id && caller->function != b->function &&
			    e->ns > most &&
			    marker_encloses(&res->calls, caller->function->id, caller->calls)) {
				most = e->ns;
				best = caller;
			}
		}
	return best;
}

/* Returns where the time went if no cause is known, or NULL if the calls just run longer than the
 * fastest call. */
static const char *bare_story(const struct block *b)
{
	switch (b->off_known ? told_largest_pool(b) : CAUSE_POOLS) {
	case POOL_PREEMPTED:
		return "Waiting for a CPU";
	case POOL_BLOCKED:
		return "Blocking";
	case POOL_IDLE:
		return "Waiting for input";
	default:
		return NULL;
	}
}

/* Returns whether the frame is a part of its caller that a library's header has put there, such as
 * std::lock_guard. A function of the program itself stays a caller where it is inlined. */
static bool is_put_there(const struct meta_frame *f)
{
	return f->inlined && meta_frame_is_wrapper(f);
}

/* Returns the calling function. If it has no name, returns the first caller with a name and sets
 * *direct to false. */
static const struct meta_frame *named_caller(const struct meta *meta, const struct callstack *c,
					     bool *direct)
{
	const struct meta_stack *m = &meta->stacks.data[c->stack];

	*direct = true;
	for (uint32_t i = c->taken ? meta_stack_own(meta, m) : 0; i < m->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, m, i);

		if (f && f->symbol && *f->symbol && !is_put_there(f) &&
		    !meta_symbol_in_std(f->symbol))
			return standard_is_start(f->object, f->symbol) ? NULL : f;
		*direct &= f && f->inlined;
	}
	return NULL;
}

/* Returns the caller, traced or not, that accounts for most of the block's time, or NULL if there
 * is no such caller. */
static const struct meta_frame *stack_caller(const struct result *res, const struct block *b,
					     bool *direct)
{
	struct callstack_list list = { 0 };
	const struct meta_frame *f = NULL;
	double all = 0, same = 0;
	bool also;

	callstacks_of(report_callstacks(res, b), b, &list);
	if (list.n)
		f = named_caller(res->meta, &list.data[0], direct);
	vec_for_each (&list, const struct callstack, c) {
		const struct meta_frame *other = f ? named_caller(res->meta, c, &also) : NULL;

		all += c->ns;
		if (other && !strcmp(f->symbol, other->symbol))
			same += c->ns;
	}
	vec_release(&list);
	return same > all / 2 ? f : NULL;
}

/* Adds the caller of a library's function, or nothing. The reader knows the program's own
 * functions. Returns whether it is known. */
static bool library_called_from(const struct result *res, const struct block *b, struct text *out)
{
	const struct meta_object *object = meta_object(res->meta, b->function->object);
	char buf[NAME_BYTES];
	bool direct = true;
	const struct meta_frame *f = stack_caller(res, b, &direct);

	if (!f || !strcmp(f->object, object->path))
		return false;
	text_printf(out, ", %s %s ", row_lock(b) ? "taken" : "called",
		    !direct	  ? "under"
		    : row_lock(b) ? "in"
				  : "from");
	short_name(f->symbol, NAME_COLUMNS, out);
	if (f->file && *f->file && f->line)
		text_printf(out, " (%s:%u)",
			    text_printable(buf, sizeof(buf), text_base_name(f->file)), f->line);
	text_add(out, ",");
	return true;
}

/*
 * The program's function that calls a library's to sleep between tries for a lock; NULL: there is
 * none.
 */
static const char *tries_in(const struct meta *meta, const struct block *b)
{
	const char *function;

	if (!b->function || b->kind != BLOCK_FUNCTION || !b->waits ||
	    !standard_is_library(meta_object(meta, b->function->object)->path))
		return NULL;
	function = wait_tried(b->all_threads, b->waits);
	return function && *function ? function : NULL;
}

static void other_takers(const struct block *b, struct text *out)
{
	uint32_t n = b->section ? b->section->takers.n : 0;

	if (n > 1)
		text_printf(out, " and %u more place%s", n - 1, n == 2 ? "" : "s");
}

/* Adds the traced function that makes the calls, with the line of the call, if stacks show it. The
 * line of the function's beginning would be read as that of the call. */
static void traced_caller(const struct result *res, const struct block *b,
			  const struct block *caller, struct text *out)
{
	bool direct = true;
	const struct meta_frame *f = stack_caller(res, b, &direct);
	char file[128];

	if (caller->kind == BLOCK_MARKER) {
		place(res->meta, caller, out);
		return;
	}
	name(caller, out);
	if (f && f->line && *f->file && !strcmp(f->symbol, caller->function->name))
		text_printf(out, " (%s:%u)",
			    text_printable(file, sizeof(file), text_base_name(f->file)), f->line);
}

/* Adds where the calls come from: the row's call site, or else the traced function around them. */
static void called_from(const struct result *res, const struct block *b, struct text *out)
{
	bool by_place = b->kind == BLOCK_SITE || b->kind == BLOCK_LOCK;
	const struct block *caller;
	char key[NAME_BYTES];

	if (b->function && by_place && b->key) {
		text_add(out, row_lock(b) ? ", taken in " : ", called from ");
		text_place(text_printable(key, sizeof(key), b->key), out);
		other_takers(b, out);
		text_add(out, ",");
		return;
	}
	if (tries_in(res->meta, b)) {
		text_add(out, ", called from ");
		short_name(tries_in(res->meta, b), NAME_COLUMNS, out);
		text_add(out, ",");
		return;
	}
	/* a traced caller of a lock may have joined late: until then, its own caller was the
	 * nearest */
	if (b->function && b->kind == BLOCK_FUNCTION && row_lock(b) &&
	    library_called_from(res, b, out))
		return;
	caller = b->function && !by_place && b->kind != BLOCK_SEQUENCE ? main_caller(res, b) : NULL;
	if (!caller && b->function && b->kind == BLOCK_FUNCTION)
		library_called_from(res, b, out);
	if (!caller)
		return;
	text_add(out, caller->kind == BLOCK_MARKER ? ", inside of "
		      : row_lock(b)		   ? ", taken in "
						   : ", called from ");
	traced_caller(res, b, caller, out);
	text_add(out, ",");
}

void text_via(const struct result *res, const struct block *b, struct text *out)
{
	const bool function = b->kind == BLOCK_FUNCTION && b->function;
	const struct block *caller = function ? main_caller(res, b) : NULL;
	const struct meta_frame *f = NULL;
	bool direct;

	if (!caller && tries_in(res->meta, b)) {
		text_add(out, " via ");
		short_name(tries_in(res->meta, b), NAME_COLUMNS, out);
		return;
	}
	/* the reader knows the program's own functions; of a lock, as in the sentence on it, a
	 * traced caller may have joined late */
	if ((!caller || row_lock(b)) && function && b->object &&
	    place_is_installed(b->object->path))
		f = stack_caller(res, b, &direct);
	if (f && !strcmp(f->object, b->object->path))
		f = NULL;
	if (!caller && !f)
		return;
	text_add(out, " via ");
	short_name(f ? f->symbol : caller->name, NAME_COLUMNS, out);
}

static const char *unit(const struct block *b)
{
	if (!b->function || b->function->contended_only)
		return "wait";
	return b->kind == BLOCK_SEQUENCE ? "run" : "call";
}

/* Adds the causes, as in "Lock contention and waiting for a CPU". Returns their number. */
static size_t stories(const struct block *b, const struct told *told, struct text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < told->n; i++) {
		const struct cause_kind *kind = cause_kind_of(b, told->causes[i]->kind);

		if (!kind || !kind->story)
			continue;
		if (n++)
			text_printf(out, "%s%c%s", i + 1 < told->n ? ", " : " and ",
				    tolower((unsigned char)*kind->story), kind->story + 1);
		else
			text_add(out, kind->story);
	}
	return n;
}

static bool is_plural(const struct block *b, const struct told *told)
{
	const struct cause_kind *kind = told->n ? cause_kind_of(b, told->causes[0]->kind) : NULL;

	return kind && kind->plural;
}

void text_headline(const struct result *res, const struct block *b, struct text *out)
{
	struct told told = report_told(b);
	size_t n = stories(b, &told, out);
	const char *bare = n ? NULL : bare_story(b);

	if (n || bare)
		text_printf(out, "%s %s ", bare ? bare : "", row_lock(b) ? "on" : "in");
	else
		text_printf(out, "Slow %ss of ", unit(b));
	place(res->meta, b, out);
	called_from(res, b, out);
	text_add(out, n > 1 || (!n && !bare) || is_plural(b, &told) ? " cost" : " costs");
}

/* Adds a typical duration: that of the lowest quantile that is slow. If only the tail is slow, the
 * median says nothing. */
static void typical(const struct block *b, struct text *out)
{
	double mean = b->timed_calls ? (double)b->total_ns / (double)b->timed_calls : 0;
	double much = (double)b->min_ns + (mean - (double)b->min_ns) / 2;
	char min[TEXT_NUMBER], slow[TEXT_NUMBER];

	if (!b->timed_calls) {
		text_printf(out, "%" PRIu64 " %s%s went on when the recording ended", b->open_calls,
			    unit(b), b->open_calls == 1 ? "" : "s");
		return;
	}
	text_time(min, b->min_ns);
	if ((double)b->p50_ns >= much)
		text_printf(out, "the median %s takes %s", unit(b), text_time(slow, b->p50_ns));
	else if ((double)b->p90_ns >= much)
		text_printf(out, "1 %s in 10 takes %s or more", unit(b),
			    text_time(slow, b->p90_ns));
	else if ((double)b->p99_ns >= much)
		text_printf(out, "1 %s in 100 takes %s or more", unit(b),
			    text_time(slow, b->p99_ns));
	else
		text_printf(out, "the slowest %s took %s", unit(b), text_time(slow, b->max_ns));
	/* the shortest wait ended early by chance, so other waits are not compared with it */
	if (!b->function || b->function->contended_only)
		return;
	text_printf(out, ", the fastest %s", text_time(slow, block_seen_min_ns(b)));
	if (block_seen_min_ns(b) > b->min_ns)
		text_printf(out, " (%s without its wait)", min);
}

/* Adds who has the CPUs, the program's own threads or other programs, if that is clear: in the
 * waits of this row, which need not be as those of all rows (taken.h). */
static void who_has_the_cpus(const struct block *b, struct text *out)
{
	double foreign = b->pools[POOL_PREEMPTED] > 0
				 ? 100 * block_foreign_ns(b) / b->pools[POOL_PREEMPTED]
				 : 0;

	if (cause_cpus_crowded(b))
		text_printf(out, " (%.0f%% of that with more threads to run than CPUs)",
			    100 - foreign);
	else if (cause_cpus_taken(b) && foreign > 99.5)
		text_add(out, " (due to other programs)");
	else if (cause_cpus_taken(b))
		text_printf(out, " (%.0f%% of that due to other programs)", foreign);
}

/* Adds the shares of the causes: "48% of its lost time is barrier wait, 45% run queue (…)". */
static void shares(const struct block *b, const struct told *told, struct text *out)
{
	for (size_t i = 0; i < told->n; i++) {
		const struct cause *c = told->causes[i];

		text_printf(out, "%s%.0f%% %s%s", i ? ", " : "", 100 * report_cause_share(b, c),
			    i ? "" : "of its lost time is ", cause_name(b, c->kind));
		if (!strcmp(c->kind, "cpu-wait"))
			who_has_the_cpus(b, out);
	}
}

#define CALL_LEAST 0.3 /* of a sequence's lost time: a call with less is not named */

/* Adds which of a sequence's calls has most of its lost time. */
static void call_of_it(const struct block *b, struct text *out)
{
	char name[NAME_BYTES];

	if (!out->n || !b->owned_most || b->owned_most_share < CALL_LEAST)
		return;
	text_printf(out, "; %s has %.0f%% of the lost time",
		    text_printable(name, sizeof(name), b->owned_most->name),
		    100 * b->owned_most_share);
}

static void share_of_it(const struct block *b, struct text *out)
{
	struct told told = report_told(b);
	unsigned pool = told_largest_pool(b);
	double share = 100 * report_told_share(b);

	if (!(share > 0) || !b->off_known || (!b->function && told.n < 2))
		return;
	if (told.n)
		shares(b, &told, out);
	else if (pool == POOL_RUNNING)
		text_printf(out, "unknown: it runs during %.0f%% of its lost time", share);
	else
		text_printf(out, "%.0f%% of its lost time is %s", share,
			    pool == POOL_PREEMPTED ? "waiting for a CPU" : "blocked");
}

/* Returns whether the function releases locks. Every holder calls it, so it identifies none. */
static bool is_release(const struct meta_function *f)
{
	const struct lock_function *l = lock_function_of(f);

	return l && l->action == LOCK_RELEASE;
}

/* Whether the thread that released a lock is all that is known: the function is its outermost. */
static bool is_released_anywhere(const struct meta *meta, const char *kind,
				 const struct meta_function *f)
{
	return !strcmp(kind, "lock") && standard_begins_thread(meta, f);
}

/* Adds which thread ends the waits. For a lock, that is the place where the holder releases it. */
static void woken_by(const struct result *res, const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);
	struct wait_part part;
	char name[128];

	if (!cause || !b->waits || !b->waits->n)
		return;
	part = wait_part(b->all_threads, b->waits, cause->kind);
	if (part.waker.function >= res->meta->functions.n || !part.waker.sleeps ||
	    is_release(&res->meta->functions.data[part.waker.function]) ||
	    is_released_anywhere(res->meta, cause->kind,
				 &res->meta->functions.data[part.waker.function]))
		return;
	if (b->function && part.waker.function == b->function->id) {
		/* the holder of this lock releases it elsewhere, so this wakeup belongs to another
		 * lock */
		if (!strcmp(cause->kind, "condition-wait"))
			text_add(out, "another thread in it, most often");
		return;
	}
	text_printf(out, "a thread in %s, most often",
		    text_printable(name, sizeof(name),
				   res->meta->functions.data[part.waker.function].name));
}

/* Adds what runs concurrently. A thread in the run queue waits for any CPU, so what runs meanwhile
 * is no reason. */
static void meanwhile(const struct result *res, const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);

	if (cause && !strcmp(cause->kind, "cpu-wait"))
		return;
	vec_for_each (&b->coactive, const struct coactive, c)
		if (c->part != COACTIVE_CPU && c->name && !report_coactive_is_outer(res, b, c)) {
			text_meanwhile(c, out);
			return;
		}
}

/* Adds why nothing is known of the lock's holder, and how to record it. The view of locks has a
 * note on that below its table. */
static void unknown_holder(const struct view *v, const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);
	const struct lock_function *lock = b->function ? lock_function_of(b->function) : NULL;
	const struct holding_most most = holding_most(b->holding);
	const struct meta_not_traced *costly;

	if (!cause || strcmp(cause->kind, "lock") != 0 || !lock || b->kind == BLOCK_LOCK ||
	    most.doing || holding_function(v->result->meta, &most))
		return;
	costly = next_costly_release(v->result->meta, lock);
	if (!costly)
		return;
	text_printf(out, "unknown: %s is too costly (-F '%s')", lock_release_of(lock->kind),
		    lock_pattern_of(lock->kind));
}

#define LABEL_COLUMNS 12

void text_detail(const struct view *v, const char *label, const char *s, struct text *out)
{
	struct text wrapped = { 0 };
	const char *line;

	text_wrap(s, v->width - LABEL_COLUMNS, &wrapped);
	for (line = wrapped.s; line && *line;) {
		size_t n = strcspn(line, "\n");

		text_printf(out, "  %-*s", LABEL_COLUMNS - 2, label);
		text_addn(out, line, n + 1);
		line += n + 1;
		label = "";
	}
	text_release(&wrapped);
}

static void detail(const struct view *v, const char *label, struct text *line, struct text *out)
{
	if (line->n)
		text_detail(v, label, line->s, out);
	text_release(line);
}

/* Adds the advice on a runtime's time, on spinning, on the thread that limits the program and on
 * the row that loses most, in the order of their sentences; a screen that leaves a sentence out has
 * no advice for it.
 */
static void advice(const struct view *v, const struct block *worst, struct text *out)
{
	const struct giver giver = report_giver(v);
	const bool others = !worst || v->shortened < SHORTEN_OTHERS;
	struct text limits = { 0 }, runtime = { 0 }, spins = { 0 }, faults = { 0 };
	size_t before = out->n;
	const bool runtime_leads = report_runtime_leads(v);
	const bool spins_lead = text_spins_advice(v, &spins);

	text_giver_advice(&giver, &limits);
	text_runtime_advice(v, &runtime);
	if (runtime_leads)
		detail(v, "Try", &runtime, out);
	if (spins_lead)
		detail(v, out->n == before ? "Try" : "", &spins, out);
	if (giver.leads)
		detail(v, out->n == before ? "Try" : "", &limits, out);
	if (worst)
		text_what_to_try(v, worst, out->n == before ? "Try" : "", out);
	if (others && limits.n)
		detail(v, out->n == before ? "Try" : "", &limits, out);
	if (others && spins.n)
		detail(v, out->n == before ? "Try" : "", &spins, out);
	if (others && runtime.n)
		detail(v, out->n == before ? "Try" : "", &runtime, out);
	if (others)
		text_faults_advice(v, &faults);
	detail(v, out->n == before ? "Try" : "", &faults, out);
	text_release(&limits);
	text_release(&runtime);
	text_release(&spins);
	text_release(&faults);
}

void text_details(const struct view *v, struct text *out)
{
	const struct block *b = report_told_row(v);
	struct text line = { 0 };

	if (b) {
		if (v->shortened < SHORTEN_CALLS)
			typical(b, &line);
		detail(v, b->function ? "Calls" : "Waits", &line, out);
		share_of_it(b, &line);
		if (v->shortened < SHORTEN_MOST)
			call_of_it(b, &line);
		detail(v, "Why", &line, out);
		if (v->shortened < SHORTEN_MOST)
			unknown_holder(v, b, &line);
		detail(v, "Holder", &line, out);
		if (v->shortened < SHORTEN_MOST)
			woken_by(v->result, b, &line);
		detail(v, "Woken by", &line, out);
		if (v->shortened < SHORTEN_MOST)
			meanwhile(v->result, b, &line);
		detail(v, "Meanwhile", &line, out);
	}
	advice(v, b, out);
}
