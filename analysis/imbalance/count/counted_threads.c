/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_threads.h"

#include <string.h>

#include "analysis/imbalance/count/counted_graph.h"
#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "base/mem.h"

/* A thread that was created and has not begun yet. */
struct unborn {
	uint32_t brood, order;
};

struct search {
	struct counted_threads *threads;
	const struct counts *run;
	struct map has; /* valgrind's number -> the thread that has it now */
	struct {
		VEC(struct unborn)
	} unborn;      /* in the order of their creation */
	size_t n_born; /* how many of these have begun */
};

const char *counted_trigger(const struct counts *run, const struct counts_dump *d, const char *when)
{
	const char *trigger = strtab_get(&run->names, d->trigger);
	size_t n = strlen(when);

	return strncmp(trigger, when, n) ? NULL : trigger + n;
}

static bool is_before(const struct search *s, const struct counts_dump *d,
		      const char *const *functions)
{
	const char *before = counted_trigger(s->run, d, "--dump-before=");

	return before && counted_matches(functions, before);
}

static uint32_t add_thread(struct search *s, const struct counts_dump *d, struct unborn as)
{
	uint32_t number = (uint32_t)s->threads->all.n;
	struct counted_thread *t = vec_add(&s->threads->all);

	t->brood = as.brood;
	t->order = as.order;
	map_put(&s->has, d->thread, number);
	return number;
}

/* Some C libraries do not show when a thread begins. Then every number is taken for one thread,
 * which the first thread created. */
static uint32_t thread_of(struct search *s, const struct counts_dump *d)
{
	uint32_t number = map_get(&s->has, d->thread);
	struct unborn as = { BROOD_NONE, 0 };

	if (number != MAP_NONE)
		return number;
	if (s->threads->all.n)
		as.brood = broods_made(&s->threads->broods, 0, &as.order);
	return add_thread(s, d, as);
}

/* valgrind has given the number to a new thread, so the counts of the old thread are complete.
 * Counts from before the first thread belong to the C library. */
static void begin(struct search *s, const struct counts_dump *d)
{
	uint32_t before = map_get(&s->has, d->thread);

	if (before != MAP_NONE)
		*vec_add(&s->threads->all.data[before].dumps) = d;
	add_thread(s, d, s->unborn.data[s->n_born++]);
}

static void add_dump(struct search *s, const struct counts_dump *d)
{
	struct broods *broods = &s->threads->broods;
	struct counted_thread *t;
	uint32_t number;

	if (s->n_born < s->unborn.n && is_before(s, d, parallel_births)) {
		begin(s, d);
		return;
	}
	number = thread_of(s, d);
	t = &s->threads->all.data[number];
	*vec_add(&t->dumps) = d;
	if (is_before(s, d, parallel_makers)) {
		struct unborn *u = vec_add(&s->unborn);

		u->brood = broods_made(broods, number, &u->order);
	} else if (is_before(s, d, parallel_joins)) {
		broods_awaited(broods, number, (uint32_t)t->dumps.n - 1);
	}
}

/* Part numbers increase during the run. At its end, all threads have the same number. */
static int by_part(const void *a, const void *b)
{
	const struct counts_dump *x = *(struct counts_dump *const *)a;
	const struct counts_dump *y = *(struct counts_dump *const *)b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

void counted_threads_find(struct counted_threads *t, const struct counts *run)
{
	const struct counts_dump **sorted = xcalloc(run->dumps.n + 1, sizeof(*sorted));
	struct search s = { .threads = t, .run = run };

	for (size_t i = 0; i < run->dumps.n; i++)
		sorted[i] = &run->dumps.data[i];
	qsort(sorted, run->dumps.n, sizeof(*sorted), by_part);
	for (size_t i = 0; i < run->dumps.n; i++)
		add_dump(&s, sorted[i]);
	map_release(&s.has);
	vec_release(&s.unborn);
	free(sorted);
}

void counted_threads_release(struct counted_threads *t)
{
	vec_for_each (&t->all, struct counted_thread, thread)
		vec_release(&thread->dumps);
	vec_release(&t->all);
	broods_release(&t->broods);
}
