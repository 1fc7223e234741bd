/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

uint64_t hash_bytes(const void *data, size_t n)
{
	const char *p = data;
	uint64_t h = hash_u64(n + 1), word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		h = hash_u64(h ^ word) + 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return hash_u64(h ^ word);
}

/* The slot that holds key, or the empty one where it would go. Needs one empty slot. */
static struct map_slot *slot_of(const struct map *map, uint64_t key)
{
	uint32_t i = (uint32_t)hash_u64(key) & map->mask;

	while (map->slots[i].value != MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

static void map_grow(struct map *map)
{
	size_t n = map->slots ? (size_t)map->mask + 1 : 0;
	struct map bigger = { .n = map->n, .mask = n ? (uint32_t)(n * 2 - 1) : 15 };

	bigger.slots = xmalloc(((size_t)bigger.mask + 1) * sizeof(*bigger.slots));
	for (size_t i = 0; i <= bigger.mask; i++)
		bigger.slots[i] = (struct map_slot){ 0, MAP_NONE };
	for (size_t i = 0; i < n; i++)
		if (map->slots[i].value != MAP_NONE)
			*slot_of(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
}

uint32_t map_get(const struct map *map, uint64_t key)
{
	return map->slots ? slot_of(map, key)->value : MAP_NONE;
}

void map_put(struct map *map, uint64_t key, uint32_t value)
{
	struct map_slot *slot;

	/* At most two thirds full: linear probing stays short. */
	if (!map->slots || map->n >= (uint32_t)(((uint64_t)map->mask + 1) * 2 / 3))
		map_grow(map);
	slot = slot_of(map, key);
	if (slot->value == MAP_NONE)
		map->n++;
	*slot = (struct map_slot){ key, value };
}

uint32_t map_add(struct map *map, uint64_t key, uint32_t fresh)
{
	uint32_t value = map_get(map, key);

	if (value != MAP_NONE)
		return value;
	map_put(map, key, fresh);
	return fresh;
}

bool map_remove(struct map *map, uint64_t key)
{
	uint32_t hole, i, home;

	if (map_get(map, key) == MAP_NONE)
		return false;
	hole = (uint32_t)(slot_of(map, key) - map->slots);
	/* Pull back what the hole would cut off from its home slot. */
	for (i = (hole + 1) & map->mask; map->slots[i].value != MAP_NONE; i = (i + 1) & map->mask) {
		home = (uint32_t)hash_u64(map->slots[i].key) & map->mask;
		if (((i - home) & map->mask) < ((i - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].value = MAP_NONE;
	map->n--;
	return true;
}

void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

/* The key under which s is, or would be, in by_hash. */
static uint64_t strtab_key(const struct strtab *tab, const char *s)
{
	uint64_t key = hash_bytes(s, strlen(s));
	uint32_t i;

	while ((i = map_get(&tab->by_hash, key)) != MAP_NONE && strcmp(tab->strings[i], s))
		key++;
	return key;
}

uint32_t strtab_find(const struct strtab *tab, const char *s)
{
	return map_get(&tab->by_hash, strtab_key(tab, s));
}

uint32_t strtab_add(struct strtab *tab, const char *s)
{
	uint64_t key = strtab_key(tab, s);
	uint32_t i = map_get(&tab->by_hash, key);

	if (i != MAP_NONE)
		return i;
	if (tab->n == tab->room) {
		tab->room = tab->room ? tab->room * 2 : 16;
		tab->strings = xrealloc(tab->strings, tab->room * sizeof(*tab->strings));
	}
	tab->strings[tab->n] = xstrdup(s);
	map_put(&tab->by_hash, key, tab->n);
	return tab->n++;
}

void strtab_release(struct strtab *tab)
{
	for (uint32_t i = 0; i < tab->n; i++)
		free(tab->strings[i]);
	free(tab->strings);
	map_release(&tab->by_hash);
	*tab = (struct strtab){ 0 };
}
