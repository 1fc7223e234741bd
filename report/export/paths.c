/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folded: a line per call path, "main;f;g 1234", with its own time in ns. folded-diff: two numbers,
 * the own time that the path would have if every call were as fast as its function's fastest call,
 * and its real own time. A differential flame graph of these shows interference.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "report/export/paths.h"
#include "trace/meta/meta.h"

uint64_t path_least_ns(const struct paths *paths, const struct path *p)
{
	return p->own_calls ? p->own_calls * paths->own_min_ns.data[p->id] : 0;
}

void paths_begin(struct export *e)
{
	e->state = xcalloc(1, sizeof(struct paths));
}

static uint32_t step(struct paths *paths, uint32_t parent, uint32_t id)
{
	uint64_t key = (uint64_t)parent << 32 | id;
	uint32_t i = map_get(&paths->by_step, key);

	if (i != MAP_NONE)
		return i;
	i = (uint32_t)paths->all.n;
	*vec_add(&paths->all) = (struct path){ .parent = parent, .id = id };
	map_put(&paths->by_step, key, i);
	return i;
}

/* Returns the path of c: the thread's open calls up to its parent, then c itself. */
static uint32_t path_of(struct paths *paths, const struct thread *t, const struct call *c)
{
	uint32_t at = PATH_ROOT;

	for (const struct call *outer = t->open; c->parent && outer <= c->parent; outer++)
		at = step(paths, at, outer->id);
	return step(paths, at, c->id);
}

void paths_call(struct export *e, const struct thread *t, const struct call *c)
{
	struct paths *paths = e->state;
	uint32_t i = path_of(paths, t, c); /* may reallocate paths->all */
	struct path *p = &paths->all.data[i];

	p->calls++;
	if (c->own_unknown)
		return;
	p->own_calls++;
	p->own_ns += c->own_ns;
	while (paths->own_min_ns.n <= c->id)
		*vec_add(&paths->own_min_ns) = UINT64_MAX;
	if (c->own_ns < paths->own_min_ns.data[c->id])
		paths->own_min_ns.data[c->id] = c->own_ns;
}

/* Appends a name without semicolons, which separate the names of a path. */
static void print_name(struct text *out, const char *name)
{
	char clean[512];

	text_printable(clean, sizeof(clean), name);
	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
	text_add(out, clean);
}

static void print_path(struct export *e, const struct paths *paths, const struct path *p)
{
	if (p->parent != PATH_ROOT) {
		print_path(e, paths, &paths->all.data[p->parent]);
		text_add(&e->out, ";");
	}
	print_name(&e->out, export_function_name(e, p->id));
}

void paths_release(struct export *e)
{
	struct paths *paths = e->state;

	map_release(&paths->by_step);
	vec_release(&paths->all);
	vec_release(&paths->own_min_ns);
	free(paths);
}

/* Prints the own time of each path. least: also prints the time of as many fastest calls before
 * it. */
static void print_paths(struct export *e, bool least)
{
	const struct paths *paths = e->state;

	vec_for_each (&paths->all, const struct path, p) {
		if (!p->own_calls)
			continue;
		print_path(e, paths, p);
		if (least)
			text_printf(&e->out, " %llu", (unsigned long long)path_least_ns(paths, p));
		text_printf(&e->out, " %llu\n", (unsigned long long)p->own_ns);
	}
	paths_release(e);
}

static void folded_end(struct export *e)
{
	print_paths(e, false);
}

static void folded_diff_end(struct export *e)
{
	print_paths(e, true);
}

const struct export_format export_folded = {
	.name = "folded",
	.what = "call paths with their own time: flamegraph.pl, inferno",
	.begin = paths_begin,
	.call = paths_call,
	.end = folded_end,
};

const struct export_format export_folded_diff = {
	.name = "folded-diff",
	.what = "call paths: own time had every call been the fastest, and as it was",
	.begin = paths_begin,
	.call = paths_call,
	.end = folded_diff_end,
};
