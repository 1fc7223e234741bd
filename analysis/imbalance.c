/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance.h"

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

uint32_t imbalance_add(struct imbalance *i, enum section_kind kind, const char *name,
		       const char *since, const struct section_part *parts, size_t n)
{
	struct parallel_section *s;
	const struct section_part *last = parts;
	uint32_t number;

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
		s->lost += last->time - p->time;
	}
	s->instances++;
	s->duration += last->time;
	s->thread_time += last->time * (double)n;
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
	vec_for_each (&i->sections, struct parallel_section, s)
		vec_release(&s->threads);
	vec_release(&i->sections);
	vec_release(&i->thread_names);
	map_release(&i->section_of);
	strtab_release(&i->names);
}
