/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of section.c: what locks and those who held them are called, when all are known. */
#include <stdlib.h>

#include "analysis/lock/internal.h"
#include "analysis/lock/section.h"
#include "analysis/lock/table.h"
#include "base/text.h"

static const char *keep(struct sections *s, const char *name)
{
	return strtab_get(&s->names, strtab_add(&s->names, name));
}

static int longer_wait(const void *a, const void *b)
{
	const struct section_holder *x = a, *y = b;

	return (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns);
}

static void name_holders(struct sections *s, struct section *section)
{
	qsort(section->holders, section->n_holders, sizeof(*section->holders), longer_wait);
	for (uint32_t i = 0; i < section->n_holders; i++) {
		struct section_holder *h = &section->holders[i];
		struct text name = { 0 };

		if (h->site != MAP_NONE)
			callsites_name(&s->sites, h->site, &name);
		h->name = keep(s, name.n ? name.s : "an unrecorded place");
		text_release(&name);
	}
}

static const struct block *hold_of(const struct sections *s, const struct keyed_group *wait)
{
	vec_for_each (&s->hold_blocks, const struct block, b) {
		const struct keyed_group *g = &s->holds.groups.data[b->id];

		if (g->function == wait->function && g->key == wait->key && g->rest == wait->rest)
			return b;
	}
	return NULL;
}

void sections_name(struct sections *s, uint32_t group, struct text *name)
{
	const struct keyed_group *g = &s->holds.groups.data[group];
	char hex[24];

	if (g->rest) {
		text_add(name, "other locks");
		return;
	}
	text_printf(name, "%s taken in ",
		    argkeys_place(&s->places, s->locks.data[g->key >> 32].address, hex));
	if ((uint32_t)g->key)
		callsites_name(&s->sites, (uint32_t)g->key - 1, name);
	else
		text_add(name, "an unrecorded place");
}

static bool is_clear(const struct lock *first)
{
	return first->released && first->unclear <= first->taken / 100;
}

bool sections_see_waits(const struct sections *s)
{
	for (size_t id = 0; id < s->meta->functions.n; id++)
		if (s->functions[id] && s->functions[id]->action == LOCK_WAIT)
			return true;
	return false;
}

void sections_finish(struct sections *s, const struct block_options *o, struct blocks *blocks)
{
	keyed_build(&s->holds, NULL, o, &s->hold_blocks);
	vec_for_each (&s->locks, const struct lock, l)
		s->unclear += l->released && !is_clear(l) ? l->unclear : 0;
	vec_for_each (blocks, struct block, b) {
		const struct keyed_group *g = &s->waits->groups.data[b->id];
		struct section *section = &s->all.data[b->id];
		char hex[24];

		section->hold = hold_of(s, g);
		section->is_clear =
			g->rest || is_clear(&s->locks.data[s->locks.data[g->key >> 32].first]);
		name_holders(s, section);
		b->section = section;
		if (!g->rest)
			b->name = keep(s, argkeys_place(&s->places,
							s->locks.data[g->key >> 32].address, hex));
	}
}
