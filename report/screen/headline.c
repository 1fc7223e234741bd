// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/screen/headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/coactivity_find.h"
#include "analysis/cause/kind.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/result/result.h"
#include "analysis/score/callstack.h"
#include "analysis/score/marker.h"
#include "analysis/threads/wait.h"
#include "base/text.h"
#include "report/block/stacks.h"
#include "report/block/view.h"
#include "report/screen/text.h"
#include "trace/meta/meta.h"

#define STORY_SHARE 0.3 /* less of the excess than this does not tell the story */

static unsigned largest_own_pool(const struct block *b)
{
	unsigned best = POOL_PREEMPTED;

	for (unsigned p = POOL_PREEMPTED; p < CAUSE_POOLS; p++)
		if (b->pools[p] > b->pools[best])
			best = p;
	return best;
}

#define NAME_BYTES	 128 /* more would make the paragraph one name */
#define SEQUENCE_COLUMNS 96

/* A lock is a place in memory, a sequence no single function. */
static void name(const struct block *b, struct text *out)
{
	char buf[NAME_BYTES], sequence[4 * SEQUENCE_COLUMNS + 1];

	if (b->kind == BLOCK_LOCK && strcmp(b->name, b->function->name))
		text_printf(out, "%s ", text_printable(buf, sizeof(buf), b->function->name));
	if (b->kind == BLOCK_SEQUENCE)
		text_add(out,
			 text_shortened(sequence, sizeof(sequence), b->name, SEQUENCE_COLUMNS));
	else
		text_add(out, text_printable(buf, sizeof(buf), b->name));
	if (b->key && block_is_call(b))
		text_printf(out, " %s", text_printable(buf, sizeof(buf), b->key));
}

static void place(const struct block *b, struct text *out)
{
	char file[128];

	name(b, out);
	if (b->kind == BLOCK_LOCK || b->kind == BLOCK_SEQUENCE)
		return;
	if (b->function && b->function->file && *b->function->file && b->function->line)
		text_printf(out, " (%s:%u)",
			    text_printable(file, sizeof(file), text_base_name(b->function->file)),
			    b->function->line);
}

/* The traced function or marker that most of the block's time was in, NULL: none. */
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

/* Of what the block loses itself: what its callees lose is told of them. */
static double own_share(const struct block *b, const struct cause *c)
{
	double all = block_pools_ns(b), share = c->share * all / (all - b->pools[POOL_CALLEE]);

	return share < 1 ? share : 1;
}

const struct cause *report_main_cause(const struct block *b)
{
	vec_for_each (&b->causes, const struct cause, c)
		if (strcmp(c->kind, "unknown") != 0 && strcmp(c->kind, "callee") != 0)
			return own_share(b, c) >= STORY_SHARE && report_tells(b, c) ? c : NULL;
	return NULL;
}

static double own_ns(const struct block *b)
{
	double own = 0;

	for (unsigned p = POOL_PREEMPTED; p < CAUSE_POOLS; p++)
		own += b->pools[p];
	return own;
}

double report_told_share(const struct block *b)
{
	const struct cause *cause = report_main_cause(b);
	double own = own_ns(b);

	if (cause)
		return own_share(b, cause);
	return b->off_known && own > 0 ? b->pools[largest_own_pool(b)] / own : 1;
}

/* Where no cause is known: only where the time went. */
static const char *bare_story(const struct block *b)
{
	switch (b->off_known ? largest_own_pool(b) : CAUSE_POOLS) {
	case POOL_PREEMPTED:
		return "Threads wait for a CPU";
	case POOL_BLOCKED:
		return "Threads block";
	case POOL_IDLE:
		return "Threads wait for what comes from outside";
	default:
		return "Calls take longer than they can";
	}
}

#define CALLER_COLUMNS 64

/* The function that called, or where it has no name the first that has one: *direct is false. */
static const struct meta_frame *named_caller(const struct meta *meta, const struct callstack *c,
					     bool *direct)
{
	const struct meta_stack *m = &meta->stacks.data[c->stack];

	*direct = true;
	for (uint32_t i = c->taken ? 1 : 0; i < m->n_frames; i++) {
		const struct meta_frame *f =
			m->frames[i] < meta->frames.n ? &meta->frames.data[m->frames[i]] : NULL;

		if (f && f->symbol && *f->symbol && !f->inlined)
			return f;
		*direct &= f && f->inlined;
	}
	return NULL;
}

/* Where most of the block's time is called from, traced or not; NULL: from no one place. */
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

/* Of a library's function only: a program's own is known to its reader. */
static void library_called_from(const struct result *res, const struct block *b, struct text *out)
{
	const struct meta_object *object = meta_object(res->meta, b->function->object);
	char buf[4 * CALLER_COLUMNS + 1];
	bool direct = true;
	const struct meta_frame *f = stack_caller(res, b, &direct);

	if (!f || !strcmp(f->object, object->path))
		return;
	text_printf(out, ", called %s %s", direct ? "from" : "under",
		    text_shortened(buf, sizeof(buf), f->symbol, CALLER_COLUMNS));
	if (f->file && *f->file && f->line)
		text_printf(out, " (%s:%u)",
			    text_printable(buf, sizeof(buf), text_base_name(f->file)), f->line);
}

/* Which calls these are: where they come from, by the row itself or by what was traced around. */
static void called_from(const struct result *res, const struct block *b, struct text *out)
{
	bool by_place = b->kind == BLOCK_SITE || b->kind == BLOCK_LOCK;
	const struct block *caller;
	char key[NAME_BYTES];

	if (b->function && by_place && b->key) {
		text_printf(out, ", called from %s", text_printable(key, sizeof(key), b->key));
		return;
	}
	caller = b->function && !by_place && b->kind != BLOCK_SEQUENCE ? main_caller(res, b) : NULL;
	if (!caller && b->function && b->kind == BLOCK_FUNCTION)
		library_called_from(res, b, out);
	if (!caller)
		return;
	text_add(out, caller->kind == BLOCK_MARKER ? ", inside of " : ", called from ");
	place(caller, out);
}

static void story(const struct result *res, const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);
	const struct cause_kind *kind = cause ? cause_kind_find(cause->kind) : NULL;

	text_add(out, kind && kind->story ? kind->story : bare_story(b));
	text_add(out, b->function ? " in " : " outside every traced block, in ");
	place(b, out);
	called_from(res, b, out);
}

/* The quantile from which on calls are slow: where that is the tail, its median says nothing. */
static void typical(const struct block *b, struct text *out)
{
	const char *unit = !b->function ? "wait" : b->kind == BLOCK_SEQUENCE ? "execution" : "call";
	double mean = b->timed_calls ? (double)b->total_ns / (double)b->timed_calls : 0;
	double much = (double)b->min_ns + (mean - (double)b->min_ns) / 2;
	char min[TEXT_NUMBER], slow[TEXT_NUMBER];

	text_time(min, b->min_ns);
	if ((double)b->p50_ns >= much)
		text_printf(out, "its median %s takes %s", unit, text_time(slow, b->p50_ns));
	else if ((double)b->p90_ns >= much)
		text_printf(out, "one %s in ten takes %s or more", unit,
			    text_time(slow, b->p90_ns));
	else if ((double)b->p99_ns >= much)
		text_printf(out, "one %s in a hundred takes %s or more", unit,
			    text_time(slow, b->p99_ns));
	else
		text_printf(out, "its slowest %s took %s", unit, text_time(slow, b->max_ns));
	/* the shortest wait was cut short by chance: no measure of the others */
	if (b->function)
		text_printf(out, ", its fastest %s", min);
}

/* Threads of its own, or other programs: the one where it is clear. */
static const char *who_has_the_cpus(const struct block *b)
{
	if (cause_cpus_crowded(b))
		return ", mostly as the program has more threads to run than CPUs";
	if (cause_cpus_taken(b))
		return ", mostly as other programs have the CPUs";
	return "";
}

/* Where nothing says why calls run longer: who ran beside them. */
static void beside(const struct block *b, struct text *out)
{
	const struct coactive *c = coactive_interferer(&b->coactive);
	char buf[NAME_BYTES];

	if (c)
		text_printf(out, ", with %s%s at work in other threads",
			    c->part == COACTIVE_AFTER ? "code after " : "",
			    text_printable(buf, sizeof(buf), c->name));
}

static void share_of_it(const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);
	unsigned pool = largest_own_pool(b);
	double own = own_ns(b), told = 100 * report_told_share(b);

	if (!(own > 0) || !b->off_known || !b->function)
		return;
	if (cause)
		text_printf(out, "; %s is %.0f %% of what it loses%s%s", cause->kind, told,
			    b->pools[POOL_CALLEE] >= 0.01 * (own + b->pools[POOL_CALLEE])
				    ? " itself"
				    : "",
			    !strcmp(cause->kind, "cpu-wait") ? who_has_the_cpus(b) : "");
	else
		text_printf(out, "; %.0f %% of what it loses itself is time %s", told,
			    pool == POOL_PREEMPTED ? "runnable without a CPU"
			    : pool == POOL_RUNNING ? "on the CPU"
						   : "asleep");
	if (!cause && pool == POOL_RUNNING)
		beside(b, out);
}

/* Who ends the waiting: for a lock, where its holder gives it up. */
static void released_in(const struct result *res, const struct block *b, struct text *out)
{
	const struct cause *cause = report_main_cause(b);
	struct wait_part part;
	char name[128];

	if (!cause || !b->waits || !b->waits->n)
		return;
	part = wait_part(b->all_threads, b->waits, cause->kind);
	if (part.waker.function >= res->meta->functions.n || !part.waker.sleeps)
		return;
	if (b->function && part.waker.function == b->function->id) {
		/* a lock's holder gives it up elsewhere: that was another lock's */
		if (!strcmp(cause->kind, "condition-wait"))
			text_add(out, ", most often ended by another thread in it");
		return;
	}
	text_printf(out, ", most often ended by a thread in %s",
		    text_printable(name, sizeof(name),
				   res->meta->functions.data[part.waker.function].name));
}

void text_headline(const struct result *res, const struct block *b, struct text *out)
{
	story(res, b, out);
	text_add(out, ": ");
	typical(b, out);
	share_of_it(b, out);
	released_in(res, b, out);
	text_add(out, ".");
}
