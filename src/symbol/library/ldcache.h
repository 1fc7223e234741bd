/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/ld.so.cache lists the libraries that ldconfig found; ispot reads it as glibc's loader does.
 * Only the new format ("glibc-ld.so.cache1.1") is read; caches of glibc before 2.32 have it behind
 * the old one. The file is not trusted: every offset is checked.
 */
#ifndef ISPOT_SYMBOL_LIBRARY_LDCACHE_H
#define ISPOT_SYMBOL_LIBRARY_LDCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/dso/dso.h"

struct ldcache {
	uint8_t *data; /* NULL: there is no cache, or it is damaged */
	size_t n;
	size_t base; /* where the new format begins; its offsets count from here */
};

/*
 * hwcaps_rank() returns the rank of a glibc-hwcaps subdirectory among those that this CPU can use,
 * 0 being the best, or UINT32_MAX if the CPU cannot use it. hwcaps_names() lists those that it can
 * use, best first, ending with NULL.
 */
uint32_t hwcaps_rank(const char *name, size_t n);
const char *const *hwcaps_names(void);

void ldcache_open(struct ldcache *cache, const char *path);
/*
 * Returns the best path of a library for that machine, or NULL if the cache has none. The path is
 * valid as long as the cache is open. *compared grows by the number of entries read.
 */
const char *ldcache_find(const struct ldcache *cache, const char *name, enum dso_machine machine,
			 uint64_t *compared);
void ldcache_release(struct ldcache *cache);

#endif
