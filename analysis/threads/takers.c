/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/takers.h"

#include "base/mem.h"

void takers_add(struct takers *t, enum taker_kind kind, uint32_t pid, uint64_t ns)
{
	uint64_t key = (uint64_t)kind << 32 | pid;
	uint32_t i = map_get(&t->by_key, key);

	if (!ns)
		return;
	if (i == MAP_NONE) {
		i = (uint32_t)t->n;
		*vec_add(t) = (struct taker){ .kind = kind, .pid = pid };
		map_put(&t->by_key, key, i);
	}
	t->data[i].ns += ns;
}

void takers_release(struct takers *t)
{
	map_release(&t->by_key);
	vec_release(t);
}
