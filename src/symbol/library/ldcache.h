/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/ld.so.cache: the libraries that ldconfig has found, as glibc's loader reads them. Only the
 * new format ("glibc-ld.so.cache1.1"), which also follows the old one in the caches of glibc
 * before 2.32. The file is not believed: every offset is checked.
 */
#ifndef ISPOT_SYMBOL_LIBRARY_LDCACHE_H
#define ISPOT_SYMBOL_LIBRARY_LDCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/dso/dso.h"

struct ldcache {
	uint8_t *data; /* NULL: there is no cache, or it is damaged */
	size_t n;
	size_t base; /* of the new format: what its offsets count from */
};

/* The place of a glibc-hwcaps subdirectory among those that this CPU has, 0 the best one;
 * UINT32_MAX: this CPU has it not. And the names of those that it has, best first, NULL behind the
 * last. */
uint32_t hwcaps_rank(const char *name, size_t n);
const char *const *hwcaps_names(void);

void ldcache_open(struct ldcache *cache, const char *path);
/* The best path of a library for that machine; NULL: none. Valid as long as the cache is open.
 * *compared grows by the entries that were read. */
const char *ldcache_find(const struct ldcache *cache, const char *name, enum dso_machine machine,
			 uint64_t *compared);
void ldcache_release(struct ldcache *cache);

#endif
