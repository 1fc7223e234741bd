/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/section/brood.h"

void broods_release(struct broods *b)
{
	map_release(&b->latest);
	vec_release(&b->all);
}

uint32_t broods_made(struct broods *b, uint32_t maker, uint32_t *order)
{
	uint32_t latest = map_get(&b->latest, maker);

	if (latest == MAP_NONE || b->all.data[latest].awaited) {
		*vec_add(&b->all) = (struct brood){
			.maker = maker,
			.before = latest == MAP_NONE ? BROOD_NONE : latest,
			.site = BROOD_NONE,
		};
		latest = (uint32_t)b->all.n - 1;
		map_put(&b->latest, maker, latest);
	}
	*order = b->all.data[latest].made++;
	return latest;
}

void broods_awaited(struct broods *b, uint32_t maker, uint32_t site)
{
	uint32_t latest = map_get(&b->latest, maker);

	if (latest == MAP_NONE)
		return;
	b->all.data[latest].awaited = true;
	b->all.data[latest].site = site;
}
