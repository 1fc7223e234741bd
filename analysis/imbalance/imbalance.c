/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/imbalance.h"

#include <string.h>

static const char *const kinds[] = {
	[SECTION_BARRIER] = "barrier",
	[SECTION_JOIN] = "join",
	[SECTION_REGION] = "region",
	[SECTION_NAMED] = "named",
};

const char *section_kind_name(enum section_kind kind)
{
	return kinds[kind];
}

static uint32_t section_find(struct imbalance *i, enum section_kind kind, const char *name,
			     const char *since)
{
	uint64_t key = hash_u64((uint64_t)strtab_add(&i->names, name) << 32 |
				strtab_add(&i->names, since)) ^
		       (uint64_t)kind;

	for (;; key++) {
		uint32_t at = map_get(&i->section_of, key);
		struct parallel_section *s;

		if (at == MAP_NONE) {
			map_put(&i->section_of, key, (uint32_t)i->sections.n);
			s = vec_add(&i->sections);
			s->number = (uint32_t)i->sections.n - 1;
			s->step_instances = 1;
			s->kind = kind;
			s->name = strtab_get(&i->names, strtab_find(&i->names, name));
			s->since = strtab_get(&i->names, strtab_find(&i->names, since));
			return (uint32_t)i->sections.n - 1;
		}
		s = &i->sections.data[at];
		if (s->kind == kind && !strcmp(s->name, name) && !strcmp(s->since, since))
			return at;
	}
}

void imbalance_name(struct imbalance *i, uint32_t tid, const char *comm)
{
	struct thread_name *name = vec_add(&i->thread_names);

	name->tid = tid;
	strncpy(name->comm, comm, sizeof(name->comm) - 1);
}

static struct section_thread *thread_of(struct parallel_section *s, uint32_t thread)
{
	struct section_thread *t;

	vec_for_each (&s->threads, struct section_thread, it)
		if (it->thread == thread)
			return it;
	t = vec_add(&s->threads);
	t->thread = thread;
	return t;
}

/* Adds an instance to its step. When all steps are in use, each two neighbours are merged. */
static void add_step(struct parallel_section *s, double worked, double idle)
{
	uint64_t at = s->instances / s->step_instances;

	if (at == SECTION_STEPS) {
		for (size_t i = 0; i < SECTION_STEPS / 2; i++)
			s->steps[i] = (struct section_step){
				.worked = s->steps[2 * i].worked + s->steps[2 * i + 1].worked,
				.idle = s->steps[2 * i].idle + s->steps[2 * i + 1].idle,
			};
		memset(s->steps + SECTION_STEPS / 2, 0, sizeof(s->steps) / 2);
		s->step_instances *= 2;
		at /= 2;
	}
	s->steps[at].worked += worked;
	s->steps[at].idle += idle;
}

size_t section_steps(const struct parallel_section *s)
{
	return (size_t)((s->instances + s->step_instances - 1) / s->step_instances);
}

static void update_largest(struct parallel_section *s, const struct section_part *parts, size_t n,
			   double lost)
{
	if (s->largest && lost <= s->largest_lost)
		return;
	s->largest = s->instances + 1;
	s->largest_lost = lost;
	s->largest_parts.n = 0;
	for (size_t i = 0; i < n; i++)
		*vec_add(&s->largest_parts) = parts[i];
}

static void add_instance(struct parallel_section *s, const struct section_part *parts, size_t n,
			 double duration, double lost)
{
	struct section_instance *of = vec_add(&s->each);

	*of = (struct section_instance){ .begin_ns = UINT64_MAX,
					 .duration = duration,
					 .lost = lost,
					 .first = s->parts.n,
					 .n = n };
	for (const struct section_part *p = parts; p < parts + n; p++) {
		of->begin_ns = p->from_ns < of->begin_ns ? p->from_ns : of->begin_ns;
		*vec_add(&s->parts) = *p;
	}
}

uint32_t imbalance_add(struct imbalance *i, enum section_kind kind, const char *name,
		       const char *since, const struct section_part *parts, size_t n)
{
	struct parallel_section *s;
	const struct section_part *last = parts;
	uint32_t number;
	double lost = 0;

	if (n < 2)
		return MAP_NONE;
	number = section_find(i, kind, name, since);
	s = &i->sections.data[number];
	for (const struct section_part *p = parts; p < parts + n; p++)
		if (p->time > last->time)
			last = p;
	for (const struct section_part *p = parts; p < parts + n; p++) {
		struct section_thread *t = thread_of(s, p->thread);

		t->instances++;
		t->last += p == last;
		t->time += p->time;
		t->idle += last->time - p->time;
		t->cpu_wait += p->cpu_wait;
		t->asleep += p->asleep;
		lost += last->time - p->time;
	}
	update_largest(s, parts, n, lost);
	if (i->keeps_each)
		add_instance(s, parts, n, last->time, lost);
	add_step(s, last->time * (double)n - lost, lost);
	s->lost += lost;
	s->instances++;
	s->duration += last->time;
	s->thread_time += last->time * (double)n;
	if (i->seen)
		i->seen(i->seen_ctx, number, parts, n);
	return number;
}

double section_imbalance(const struct parallel_section *s)
{
	return s->thread_time > 0 ? s->lost / s->thread_time : 0;
}

const struct section_thread *section_worst(const struct parallel_section *s)
{
	const struct section_thread *worst = NULL;

	vec_for_each (&s->threads, const struct section_thread, t)
		if (!worst || t->last > worst->last)
			worst = t;
	return worst;
}

static int by_lost(const void *a, const void *b)
{
	const struct parallel_section *x = a, *y = b;
	int names;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	names = strcmp(x->name, y->name);
	return names ? names : strcmp(x->since, y->since);
}

void imbalance_sort(struct imbalance *i)
{
	vec_sort(&i->sections, by_lost);
	map_release(&i->section_of);
}

void imbalance_release(struct imbalance *i)
{
	vec_for_each (&i->sections, struct parallel_section, s) {
		vec_release(&s->threads);
		vec_release(&s->largest_parts);
		vec_release(&s->each);
		vec_release(&s->parts);
	}
	vec_release(&i->sections);
	vec_release(&i->thread_names);
	map_release(&i->section_of);
	strtab_release(&i->names);
}
