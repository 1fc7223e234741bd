/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens ELF files, each once per (device, inode), and keeps them until dso_cache_free().
 */
#ifndef ISPOT_SYMBOL_DSO_CACHE_H
#define ISPOT_SYMBOL_DSO_CACHE_H

#include <sys/types.h>

#include "symbol/dso/dso.h"

struct err;
struct dso_cache;

struct dso_cache *dso_cache_new(void);
void dso_cache_free(struct dso_cache *cache);

/*
 * Borrowed from the cache. Errors: -ENOENT, -EACCES, -ENOEXEC with a sentence saying what the
 * file is instead ("a script for /bin/sh; name the program it starts", "a 32-bit ELF", "empty").
 */
int dso_get(struct dso_cache *cache, const char *path, struct dso **dso, struct err *err);

/* Who has led to a path. */
enum dso_origin {
	DSO_OURS,   /* its owner and mode say who writes it */
	DSO_THEIRS, /* a process with another mount namespace, whose root may write what is root's
		       here, too: it is copied before it is read */
	DSO_ENDED,  /* a process that cannot be asked any more: as THEIRS, unless it is known */
};
/* Of paths to what the process has mapped. */
enum dso_origin dso_origin_of_process(pid_t pid);
/* A file that DSO_OURS has led to first may be two: who keeps that one goes on with it. */
int dso_get_of(struct dso_cache *cache, enum dso_origin origin, const char *path, struct dso **dso,
	       struct err *err);

#endif
