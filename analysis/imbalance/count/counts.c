/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counts.h"

#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"

uint32_t counts_place(struct counts *c, uint32_t object, uint64_t address)
{
	for (uint64_t key = hash_u64(address ^ (uint64_t)object << 48);; key++) {
		uint32_t at = map_get(&c->place_of, key);
		struct counts_place *p;

		if (at == MAP_NONE) {
			at = (uint32_t)c->places.n;
			map_put(&c->place_of, key, at);
			p = vec_add(&c->places);
			p->object = object;
			p->address = address;
			p->file = p->function = MAP_NONE;
			return at;
		}
		if (c->places.data[at].object == object && c->places.data[at].address == address)
			return at;
	}
}

void counts_name(struct counts *c, uint32_t place, struct dso_cache *cache)
{
	struct counts_place *p = &c->places.data[place];
	const struct dso_function *f;
	struct dso_line line;
	struct dso *dso;

	p->function = p->file = strtab_add(&c->names, "");
	if (dso_get(cache, strtab_get(&c->names, p->object), &dso, NULL))
		return;
	f = dso_function_at(dso, p->address);
	p->function = strtab_add(&c->names, !f ? "" : f->name ? f->name : f->symbol);
	line = dso_line_at(dso, p->address);
	p->file = strtab_add(&c->names, line.file);
	p->line = *line.file ? line.line : 0;
}

void counts_release(struct counts *c)
{
	vec_for_each (&c->dumps, struct counts_dump, d)
		vec_release(&d->counts);
	vec_release(&c->dumps);
	vec_release(&c->places);
	map_release(&c->place_of);
	strtab_release(&c->names);
}
