/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/edged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- parts that meet ---- */

static int by_meeting(const void *a, const void *b)
{
	const struct edged_part *x = a, *y = b;

	if (!x->leave_ns != !y->leave_ns)
		return x->leave_ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->kind == SECTION_JOIN)
		return (x->order > y->order) - (x->order < y->order);
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Whether the next part belongs to the meeting that is open until until_ns. */
static bool joins(const struct edged_part *first, const struct edged_part *p, uint64_t until_ns)
{
	if (p->process != first->process || p->kind != first->kind || p->object != first->object)
		return false;
	return p->kind != SECTION_BARRIER || p->end_ns <= until_ns;
}

/* Returns a part's time without waits for a CPU. If the thread never slept, this is its CPU time,
 * which also excludes time that other virtual machines had the CPU. */
static double own_of(const struct edged_part *p)
{
	if (!p->sleeps || isnan(p->cpu_wait_ns))
		return p->cpu_ns;
	return (double)(p->end_ns - p->begin_ns) - p->cpu_wait_ns;
}

static struct section_part part_of(const struct edged_part *p, uint64_t begin_ns)
{
	double time = (double)(p->end_ns - p->begin_ns);
	double asleep = p->sleeps ? time - p->cpu_ns - p->cpu_wait_ns : 0;

	return (struct section_part){
		.thread = p->key.thread,
		.time = (double)(p->end_ns - begin_ns),
		.cpu_wait = p->cpu_wait_ns,
		.asleep = isnan(asleep) || asleep > 0 ? asleep : 0,
		.own = p->own,
		.tid = p->tid,
		.from_ns = p->begin_ns,
		.to_ns = p->end_ns,
	};
}

static void add_instance(struct edged_part *parts, size_t n, uint32_t instance, struct imbalance *i)
{
	struct section_part *own = xcalloc(n + 1, sizeof(*own));
	uint64_t begin_ns = UINT64_MAX;
	const char *since = parts->since;
	uint32_t section;

	for (struct edged_part *p = parts; p < parts + n; p++) {
		begin_ns = p->begin_ns < begin_ns ? p->begin_ns : begin_ns;
		if (strcmp(p->since, since) != 0 || p->kind == SECTION_JOIN)
			since = "";
		p->own = own_of(p);
	}
	for (size_t k = 0; k < n; k++) {
		if (parts->kind == SECTION_JOIN)
			parts[k].key.thread = parts[k].order;
		own[k] = part_of(&parts[k], begin_ns);
	}
	section = imbalance_add(i, parts->kind, parts->name,
				strcmp(since, parts->name) != 0 ? since : "", own, n);
	for (struct edged_part *p = parts; p < parts + n; p++) {
		p->key.section = section;
		p->key.instance = instance;
	}
	free(own);
}

/* Finds the barrier that each part follows. A part that contains others is no part itself. */
static void prepare(struct edged_part *parts, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		struct edged_part *p = &parts[k];
		bool follows = k && p[-1].key.thread == p->key.thread;

		p->key.section = MAP_NONE;
		/* a region does not follow a barrier */
		p->since = follows && p[-1].kind == SECTION_BARRIER && p->begin_ns == p[-1].leave_ns
				   ? p[-1].name
				   : "";
		if ((p->kind == SECTION_JOIN && follows) || p->end_ns < p->begin_ns)
			p->leave_ns = 0;
	}
}

/* ---- instances that are analysed together ---- */

/* Groups successive instances of a section until they have enough time. The remaining ones belong
 * to its last group. */
static void make_groups(struct edged_part *parts, size_t n)
{
	struct edged_part *p = parts, *end = parts + n;
	uint32_t group = 0;

	while (p < end && p->key.section != MAP_NONE) {
		struct edged_part *first = p;
		bool is_first = first == parts || first[-1].key.section != first->key.section;
		double mean = 0;

		while (p < end && p->key.section == first->key.section && mean < EDGED_ENOUGH_NS) {
			struct edged_part *of = p;
			double sum = 0;

			for (; p < end && part_key_same_instance(&p->key, &of->key); p++)
				sum += p->own;
			mean += sum / (double)(p - of);
		}
		group += mean >= EDGED_ENOUGH_NS || is_first;
		for (; first < p; first++)
			first->key.group = group;
	}
}

void edged_find(struct edged_part *parts, size_t n, struct imbalance *i)
{
	uint32_t instance = 0;
	uint64_t until_ns;

	prepare(parts, n);
	if (n)
		qsort(parts, n, sizeof(*parts), by_meeting);
	for (struct edged_part *p = parts, *first; p < parts + n && p->leave_ns;) {
		first = p;
		until_ns = UINT64_MAX;
		/* Threads meet at a barrier until the first one leaves it. */
		for (; p < parts + n && p->leave_ns && joins(first, p, until_ns); p++)
			until_ns = p->leave_ns < until_ns ? p->leave_ns : until_ns;
		add_instance(first, (size_t)(p - first), instance++, i);
	}
	if (n)
		qsort(parts, n, sizeof(*parts), part_key_by_instance);
	make_groups(parts, n);
	if (n)
		qsort(parts, n, sizeof(*parts), part_key_by_group);
}
