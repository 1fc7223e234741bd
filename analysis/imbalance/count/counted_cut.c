/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_cut.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/counted_graph.h"
#include "analysis/imbalance/count/counted_threads.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "base/mem.h"

/* ---- names of sections ---- */

/* Returns where the thread called one of the functions. The call is open at the next dump, so that
 * dump shows it. Of functions that call each other, the outermost was called by the program. */
static uint32_t site_of(const struct counted *c, const struct counts_dump *next,
			const char *const *functions)
{
	const struct counts *run = c->run;

	vec_for_each (&next->counts, const struct counts_row, k)
		if (k->kind == COUNTS_CALL &&
		    counted_matches(functions,
				    strtab_get(&run->names, run->places.data[k->to].function)) &&
		    !counted_matches(functions,
				     strtab_get(&run->names, run->places.data[k->from].function)) &&
		    !counted_waits(run, k->from))
			return k->from;
	return MAP_NONE;
}

/* Returns the name of a place, "run (lu.c:21)", as an index of names. */
static uint32_t place_name(struct counted *c, uint32_t place, const char *otherwise)
{
	struct counts *run = (struct counts *)(uintptr_t)c->run;
	const struct counts_place *p;
	uint32_t number;
	char *name;

	if (place == MAP_NONE)
		return strtab_add(&run->names, otherwise);
	p = &run->places.data[place];
	name = xasprintf("%s (%s:%u)", strtab_get(&run->names, p->function),
			 strtab_get(&run->names, p->file), p->line);
	number = strtab_add(&run->names, name);
	free(name);
	return number;
}

/* Returns the function's first instruction with a known line. */
static uint32_t function_begin(const struct counted *c, const char *function)
{
	const struct counts *run = c->run;
	uint32_t name = strtab_find(&run->names, function);

	for (uint32_t i = 0; i < run->places.n; i++) {
		const struct counts_place *p = &run->places.data[c->sorted[i]];

		if (p->function == name && p->line)
			return c->sorted[i];
	}
	return MAP_NONE;
}

/* Returns the name of the region whose body's end triggered the dump: "main._omp_fn.0
 * (lu.c:21)". */
static uint32_t body_name(struct counted *c, uint32_t trigger, const char *function)
{
	uint32_t name = map_get(&c->body_names, trigger);

	if (name == MAP_NONE) {
		name = place_name(c, function_begin(c, function), function);
		map_put(&c->body_names, trigger, name);
	}
	return name;
}

/* ---- instances ---- */

/* The state of cutting a thread's dumps. */
struct cutting {
	struct counted *c;
	const struct counted_threads *threads;
	struct map *reached; /* [brood]: section (name and since) -> number of instances so far */
	const struct counted_thread *thread;
	uint32_t number;
	struct map times; /* section -> number of instances so far, including those before the
			   * thread began */
	size_t first;	  /* first dump of the current part */
	uint32_t since;	  /* the barrier that the thread left last */
	bool alone;	  /* no other thread works: it has waited for all that it created, or is
			   * the main thread and has created none */
};

/* Returns the first instance of a thread: if its maker waited for the end of an earlier brood
 * before it created this one, instances continue after those of the earlier brood. */
static uint32_t first_group(const struct cutting *k, uint64_t section)
{
	const struct counted_threads *threads = k->threads;
	uint32_t brood = k->thread->brood, reached;

	while (brood != BROOD_NONE) {
		const struct brood *b = &threads->broods.all.data[brood];

		brood = b->before != BROOD_NONE ? b->before : threads->all.data[b->maker].brood;
		reached = b->before == BROOD_NONE ? MAP_NONE : map_get(&k->reached[brood], section);
		if (reached != MAP_NONE)
			return reached;
	}
	return 0;
}

/* Returns which instance of the section the thread is in now, from 0. Threads that skipped a
 * section must not shift the instances of the others. */
static uint32_t next_group(struct cutting *k, uint64_t section)
{
	uint32_t group = map_get(&k->times, section), reached;
	uint32_t brood = k->thread->brood;

	if (group == MAP_NONE)
		group = first_group(k, section);
	map_put(&k->times, section, group + 1);
	if (brood == BROOD_NONE)
		return group;
	reached = map_get(&k->reached[brood], section);
	if (reached == MAP_NONE || reached < group + 1)
		map_put(&k->reached[brood], section, group + 1);
	return group;
}

/* Makes the dumps up to this one the thread's part of an instance. */
static void merge_dumps(struct cutting *k, size_t last, struct counted_dump cut)
{
	if (cut.kind == SECTION_JOIN) {
		cut.key.thread = k->thread->order;
		cut.key.group = k->thread->brood;
	} else {
		cut.key.thread = k->number + 1;
		cut.key.group = next_group(k, (uint64_t)cut.name << 32 | cut.since);
	}
	for (size_t i = k->first; i <= last; i++)
		cut.time += counted_graph_dump(k->c, k->thread->dumps.data[i], &cut.counts);
	*vec_add(&k->c->dumps) = cut;
	k->alone = false;
}

/* ---- dumps that end a part ---- */

/* Returns the name of the place where the thread's maker waited for its end. */
static uint32_t join_name(const struct cutting *k)
{
	const struct brood *b = &k->threads->broods.all.data[k->thread->brood];
	const struct counted_thread *maker = &k->threads->all.data[b->maker];
	uint32_t site = MAP_NONE;

	if (b->site != BROOD_NONE && b->site + 1 < maker->dumps.n)
		site = site_of(k->c, maker->dumps.data[b->site + 1], parallel_joins);
	return place_name(k->c, site, "the threads' end");
}

/* The maker's work before it creates threads belongs to no section: no other thread runs then. */
static void before_maker(struct cutting *k, size_t at)
{
	if (!k->alone)
		return;
	k->first = at + 1;
	k->since = strtab_find(&k->c->run->names, "");
}

/* Whether the thread's part continues after this dump, which was made before that function. */
static bool goes_on(struct cutting *k, size_t at, const char *before)
{
	if (counted_matches(parallel_makers, before)) {
		before_maker(k, at);
		return true;
	}
	if (!counted_matches(parallel_joins, before))
		return counted_matches(parallel_births, before);
	k->alone = true;
	return true;
}

static struct counted_dump at_barrier(struct cutting *k, size_t at, const char *function,
				      uint32_t none)
{
	bool ends = at + 1 == k->thread->dumps.n;
	uint32_t site =
		ends ? MAP_NONE : site_of(k->c, k->thread->dumps.data[at + 1], parallel_barriers);
	struct counted_dump cut = { .kind = SECTION_BARRIER, .key = { .section = MAP_NONE } };

	cut.name = place_name(k->c, site, function);
	cut.since = k->since == cut.name ? none : k->since;
	k->since = cut.name;
	return cut;
}

/* Ends a part, or counts that belong to no section, at a dump. */
static void end_part(struct cutting *k, size_t at, const char *before)
{
	const struct counts_dump *d = k->thread->dumps.data[at];
	const char *after = counted_trigger(k->c->run, d, "--dump-after=");
	uint32_t none = strtab_find(&k->c->run->names, "");
	struct counted_dump cut = { .key = { .section = MAP_NONE }, .since = none };

	if (after) {
		cut.kind = SECTION_REGION;
		cut.name = body_name(k->c, d->trigger, after);
		merge_dumps(k, at, cut);
	} else if (before && counted_matches(parallel_barriers, before)) {
		merge_dumps(k, at, at_barrier(k, at, before, none));
	} else if (!before && !k->times.n && k->thread->brood != BROOD_NONE) {
		cut.kind = SECTION_JOIN;
		cut.name = join_name(k);
		merge_dumps(k, at, cut);
	} else if (before) {
		k->since = none; /* a region begins a new section */
	}
	k->first = at + 1;
}

static void cut_thread(struct cutting *k)
{
	for (size_t i = 0; i < k->thread->dumps.n; i++) {
		const char *before =
			counted_trigger(k->c->run, k->thread->dumps.data[i], "--dump-before=");

		/* the thread has ended: valgrind has given its number to a new thread */
		if (i + 1 == k->thread->dumps.n && before &&
		    counted_matches(parallel_births, before))
			before = NULL;
		if (!before || !goes_on(k, i, before))
			end_part(k, i, before);
	}
}

uint32_t counted_cut(struct counted *c)
{
	struct counted_threads threads = { 0 };
	struct map *reached;
	uint32_t n, none = strtab_add(&((struct counts *)(uintptr_t)c->run)->names, "");

	counted_threads_find(&threads, c->run);
	reached = xcalloc(threads.broods.all.n + 1, sizeof(*reached));
	n = (uint32_t)threads.all.n;
	for (uint32_t i = 0; i < n; i++) {
		struct cutting k = {
			.c = c,
			.threads = &threads,
			.reached = reached,
			.thread = &threads.all.data[i],
			.number = i,
			.since = none,
			.alone = threads.all.data[i].brood == BROOD_NONE,
		};

		cut_thread(&k);
		map_release(&k.times);
	}
	for (size_t i = 0; i < threads.broods.all.n; i++)
		map_release(&reached[i]);
	free(reached);
	counted_threads_release(&threads);
	return n;
}
