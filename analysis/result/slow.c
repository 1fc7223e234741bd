/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "analysis/score/keyed.h"
#include "analysis/score/marker.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "symbol/name.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

static bool named(const struct block *b, const char *name)
{
	return !strcmp(b->name, name) || !strcmp(b->function->symbol, name);
}

static const struct block *nearest(const struct result *res, const char *name)
{
	const struct block *best = NULL;
	unsigned least = text_distance_too_far(strlen(name));

	vec_for_each (&res->blocks, const struct block, b) {
		unsigned d = text_distance(b->name, name, least);

		if (d < least) {
			least = d;
			best = b;
		}
	}
	return best;
}

static bool is_place(const struct result *res, const char *name)
{
	vec_for_each (&res->sites, const struct block, b)
		if (!strcmp(b->name, name))
			return true;
	return false;
}

/* Returns the name of a place's first function, "read" of "[read in fill in main, at locks]". */
static char *first_function(const char *place)
{
	static const char *const ends[] = { " in ", ", at locks", ", at barriers", ", idle" };
	const char *name = place + (*place == '[');
	size_t n = strlen(name) - (name > place && name[strlen(name) - 1] == ']');

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(name, ends[i]);

		if (end && (size_t)(end - name) < n)
			n = (size_t)(end - name);
	}
	return xstrndup(name, n);
}

/* A place has no fast calls that its waits could be compared with. Its first function has. */
static int no_place(const char *name, struct err *err)
{
	char *function = first_function(name), printable[256];
	struct text word = { 0 };
	int ret;

	text_shell_word(&word, text_printable(printable, sizeof(printable), function));
	ret = err_set(err, -ENOENT,
		      "'%s' is where threads wait outside of traced calls, so that it has no fast "
		      "ones; `ispot report --by thread` shows its threads, and a recording with -F "
		      "%s times its calls",
		      name, word.s);
	text_release(&word);
	free(function);
	return ret;
}

static int no_block(const struct result *res, const char *name, struct err *err)
{
	const struct block *near = nearest(res, name);
	char printable[256];

	if (*name == '[' || strstr(name, " in ") || is_place(res, name))
		return no_place(name, err);
	if (near)
		return err_set(err, -ENOENT, "no calls of '%s' in this recording; did you mean %s?",
			       name, text_printable(printable, sizeof(printable), near->name));
	return err_set(err, -ENOENT,
		       "no calls of '%s' in this recording; `ispot report -v` lists "
		       "every function",
		       name);
}

/* The blocks that a name matches. */
struct fit {
	unsigned exact, parts;
	struct text some; /* the titles of the first blocks that the name is a part of */
	/* the exact match that loses most, else the first partial match */
	const struct block *block;
};

#define FITS_NAMED 3

static void name_part(struct fit *fit, const char *title)
{
	if (fit->parts < FITS_NAMED)
		text_printf(&fit->some, "%s'%s'", fit->parts ? ", " : "", title);
}

static void note(struct fit *fit, const struct block *b, const char *title, bool exact, bool part)
{
	if (part && !exact)
		name_part(fit, title);
	if (exact && (!fit->exact++ || b->lost_threads > fit->block->lost_threads))
		fit->block = b;
	if (!exact && part && !fit->parts++ && !fit->exact)
		fit->block = b;
}

static void fit_names(const struct result *res, const char *name, struct fit *fit)
{
	vec_for_each (&res->blocks, const struct block, b)
		note(fit, b, b->name, named(b, name), strstr(b->name, name) != NULL);
}

/*
 * Whether the name is that of the lock which the block takes. A lock's own name means the row of
 * its acquisitions, because a release is fast.
 */
static bool is_lock_called(const struct block *b, const char *name)
{
	const struct lock_function *l = b->function ? lock_function_of(b->function) : NULL;

	return l && l->action != LOCK_RELEASE && !strcmp(b->key, name);
}

/* Matches "write fd=3", as the screen shows the rows. */
static void fit_keys(const struct blocks *blocks, const char *name, struct fit *fit)
{
	struct text title = { 0 };

	vec_for_each (blocks, const struct block, b) {
		if (!b->key)
			continue;
		text_printf(&title, "%s %s", b->name, b->key);
		note(fit, b, title.s, !strcmp(title.s, name) || is_lock_called(b, name),
		     strstr(title.s, name) != NULL);
		text_release(&title);
	}
}

static bool matches(const char *pattern, const char *name, const char *key)
{
	struct text title = { 0 };
	bool is_match;

	text_printf(&title, "%s%s%s", name, key ? " " : "", key ? key : "");
	is_match = !fnmatch(pattern, title.s, 0);
	text_release(&title);
	return is_match;
}

/* Chooses the row that loses most among those whose names match the pattern, either in full or as
 * the screen shortens them. */
static void fit_pattern(const struct blocks *blocks, const char *pattern, struct fit *fit)
{
	struct text brief = { 0 };

	vec_for_each (blocks, const struct block, b) {
		name_add_short(&brief, b->name);
		note(fit, b, b->name,
		     matches(pattern, b->name, b->key) || matches(pattern, brief.s, b->key), false);
		text_release(&brief);
	}
}

static int find_block(const struct result *res, const char *name, const struct block **block,
		      struct err *err)
{
	struct fit fit = { 0 };
	char printable[512];
	int ret = 0;

	fit_names(res, name, &fit);
	if (!fit.exact && !fit.parts) {
		fit_keys(&res->blocks, name, &fit);
		fit_keys(&res->groups, name, &fit);
	}
	if (!fit.exact && !fit.parts && strchr(name, '*')) {
		fit_pattern(&res->blocks, name, &fit);
		fit_pattern(&res->groups, name, &fit);
	}
	*block = fit.block;
	if (fit.parts > FITS_NAMED)
		text_printf(&fit.some, " and %u more", fit.parts - FITS_NAMED);
	if (!fit.exact && fit.parts > 1)
		ret = err_set(err, -EINVAL,
			      "'%s' is part of the names of %u rows; give one in full: %s", name,
			      fit.parts, text_printable(printable, sizeof(printable), fit.some.s));
	text_release(&fit.some);
	return ret || fit.block ? ret : no_block(res, name, err);
}

static void add(struct slow_group *g, const struct call *c)
{
	if (!g->calls++ || c->duration_ns < g->min_ns)
		g->min_ns = c->duration_ns;
	if (c->duration_ns > g->max_ns)
		g->max_ns = c->duration_ns;
	g->ns += c->duration_ns;
	g->callees_ns += c->children_ns;
	g->callees += c->inside;
	g->migrated += c->entry_cpu != c->exit_cpu;
	offcpu_add(&g->own_off, &c->own_off);
}

static void add_if_slowest(struct slow *s, const struct thread *t, const struct call *c,
			   const struct call *caller)
{
	uint32_t i = s->n_top < SLOW_TOP ? s->n_top++ : SLOW_TOP - 1;

	if (i == SLOW_TOP - 1 && s->top[i].duration_ns && s->top[i].duration_ns >= c->duration_ns)
		return;
	for (; i && s->top[i - 1].duration_ns < c->duration_ns; i--)
		s->top[i] = s->top[i - 1];
	s->top[i] = (struct slow_call){
		.entry_ns = c->entry_ns,
		.duration_ns = c->duration_ns,
		.tid = t->tid,
		.caller = caller ? caller->id : UINT32_MAX,
		.off = c->off,
	};
}

/*
 * Whether the call belongs to the block; sets *recursive if it is inside another call of the block.
 */
static bool is_of_block(const struct slow *s, const struct call *c, bool *recursive)
{
	const struct call_group *group = s->grouped ? &s->grouped->latest : NULL;

	*recursive = group ? group->inner : c->recursive;
	return (group ? group->number : c->id) == s->block->id;
}

/*
 * Returns the innermost open call around the call, or NULL. It skips a marker that was left without
 * an end, which stays open for too long.
 */
static const struct call *caller_of(const struct slow *s, const struct thread *t,
				    const struct call *c)
{
	for (const struct call *outer = c; outer-- > t->open;)
		if (!s->open_too_long[outer->id])
			return outer;
	return NULL;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct slow *s = self;
	bool recursive;
	const struct call *caller;

	if (!is_of_block(s, c, &recursive))
		return;
	callstacks_add(&s->callstacks, s->block->id, recursive, c);
	if (recursive || c->end != CALL_TIMED)
		return;
	if (c->duration_ns <= s->fast_max_ns)
		add(&s->fast, c);
	else if (c->duration_ns >= s->slow_min_ns)
		add(&s->slow, c);
	else
		add(&s->rest, c);
	while (s->by_thread.n <= t->index)
		(void)vec_add(&s->by_thread);
	add(&s->by_thread.data[t->index], c);
	caller = caller_of(s, t, c);
	add(&s->by_caller.data[caller ? caller->id + 1 : 0], c);
	add_if_slowest(s, t, c, caller);
}

/* Returns a call's mean time on a CPU or in callees. */
static double running(const struct slow_group *g)
{
	double ns = (double)g->ns - (double)offcpu_ns(&g->own_off);

	return g->calls ? ns / (double)g->calls : 0;
}

int slow_read(struct slow *s, const struct result *result, struct trace_reader *r,
	      const struct result_options *o, const char *name, struct err *err)
{
	struct result_options again = *o;
	struct result second;
	int rc = find_block(result, name, &s->block, err);

	if (rc)
		return rc;
	if (!s->block->sums->durations.count)
		return err_set(err, -ENODATA,
			       "no call of %s has a duration; `ispot report -v` says "
			       "how its calls ended",
			       name);
	s->fast_max_ns = block_fast_max_ns(s->block);
	s->slow_min_ns = block_slow_min_ns(s->block);
	while (s->by_caller.n <= result->meta->functions.n)
		(void)vec_add(&s->by_caller);
	s->open_too_long = xcalloc(result->meta->functions.n + 1, sizeof(*s->open_too_long));
	vec_for_each (&result->blocks, const struct block, b)
		s->open_too_long[b->id] = !marker_encloses(&result->calls, b->id, b->calls);
	again.from_ns = result->window_from_ns;
	if (result->interrupted)
		again.to_ns = result->window_to_ns;
	again.visitors[0] = (struct call_visitor){ .self = s, .call = on_call };
	callstacks_init(&s->callstacks, result->meta);
	s->callstacks.slow_min_ns = s->slow_min_ns;
	s->callstacks.of_groups = s->block->grouped;
	/*
	 * The second pass groups the same way, because groups are numbered in the order of their
	 * calls.
	 */
	again.rule = s->block->grouped ? o->rule : NULL;
	s->grouped = s->block->grouped ? &second.keyed : NULL;
	trace_reader_rewind(r);
	rc = result_read(&second, r, &again, err);
	s->grouped = NULL;
	if (rc)
		return rc;
	if (second.interrupted && !result->interrupted)
		log_notice("interrupted: slow calls are those that were read until then");
	s->unwritten =
		s->block->sums->durations.count - s->fast.calls - s->rest.calls - s->slow.calls;
	/* samples are known only by function */
	if (!s->block->grouped)
		samples_compare(&result->samples, s->block, s->slow.calls, s->fast.calls,
				running(&s->slow) - running(&s->fast), &s->differences);
	result_release(&second);
	return 0;
}

void slow_release(struct slow *s)
{
	vec_release(&s->by_thread);
	vec_release(&s->by_caller);
	free(s->open_too_long);
	callstacks_release(&s->callstacks);
	differences_release(&s->differences);
}
