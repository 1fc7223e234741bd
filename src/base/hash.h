/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hashing, and a map from a 64-bit key to a 32-bit value (open addressing; an index into one's
 * own array is the usual value). String keys: intern them first (strtab).
 */
#ifndef ISPOT_BASE_HASH_H
#define ISPOT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t n);

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ (x >> 32);
}

#define MAP_NONE UINT32_MAX

struct map {
	struct map_slot {
		uint64_t key;
		uint32_t value; /* MAP_NONE: empty */
	} * slots;
	uint32_t n, mask; /* mask + 1 slots, a power of two, or no slots */
};

uint32_t map_get(const struct map *map, uint64_t key);	     /* MAP_NONE: absent */
void map_put(struct map *map, uint64_t key, uint32_t value); /* value < MAP_NONE; replaces */
/* Returns the key's value, which is `fresh` from now on if the key was absent. */
uint32_t map_add(struct map *map, uint64_t key, uint32_t fresh);
bool map_remove(struct map *map, uint64_t key); /* false: was absent */
void map_release(struct map *map);

/* Strings stored once; equal strings have equal numbers, counted from 0 in order of arrival. */
struct strtab {
	char **strings;
	uint32_t n, room;
	struct map by_hash; /* hash of the string (probed upwards on collision) -> number */
};

uint32_t strtab_add(struct strtab *tab, const char *s);	       /* copies s if it is new */
uint32_t strtab_find(const struct strtab *tab, const char *s); /* MAP_NONE: absent */
static inline const char *strtab_get(const struct strtab *tab, uint32_t i)
{
	return i < tab->n ? tab->strings[i] : "";
}
void strtab_release(struct strtab *tab);

#endif
