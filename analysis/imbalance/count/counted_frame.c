/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_frame.h"

#include "analysis/imbalance/count/counted.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"

#define INLINES_MAX 16

void counted_frames_at(struct counted *c, uint32_t place, struct dso_cache *cache,
		       struct counted_frames *frames)
{
	struct strtab *names = &((struct counts *)(uintptr_t)c->run)->names;
	const struct counts_place *p = &c->run->places.data[place];
	struct counted_frame f = { .file = p->file, .line = p->line };
	struct dso_inline chain[INLINES_MAX];
	struct dso *dso;
	size_t n = 0;

	if (!dso_get(cache, strtab_get(names, p->object), &dso, NULL))
		n = dso_inlines_at(dso, p->address, chain, INLINES_MAX);
	for (size_t i = 0; i < n; i++) {
		f.function = strtab_add(names, chain[i].name);
		*vec_add(frames) = f;
		f.file = strtab_add(names, chain[i].call.file);
		f.line = chain[i].call.line;
	}
	f.function = p->function;
	*vec_add(frames) = f;
}
