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
 * Opens a file, or returns it from the cache, which owns *dso. Errors: -ENOENT, -EACCES, or
 * -ENOEXEC with a sentence that says what the file is instead ("a script for /bin/sh; name the
 * program it starts", "a 32-bit ELF", "empty").
 */
int dso_get(struct dso_cache *cache, const char *path, struct dso **dso, struct err *err);

/* The one who named the path of a file. */
enum dso_origin {
	DSO_OURS,   /* the user of ispot: the file's owner and mode say who can write it */
	DSO_THEIRS, /* a process with another mount namespace, whose root can write files that are
		       root's here, too: the file is copied before it is read */
	DSO_ENDED,  /* a process that has ended, so its namespace is unknown: as DSO_THEIRS, unless
		       the file is in the cache */
};
/* Returns who names the paths of the files that the process has mapped. */
enum dso_origin dso_origin_of_process(pid_t pid);
/*
 * The same as dso_get() for a path of that origin. A file that is opened for DSO_OURS first and for
 * DSO_THEIRS later is opened twice: a dso that the caller already has stays valid.
 */
int dso_get_of(struct dso_cache *cache, enum dso_origin origin, const char *path, struct dso **dso,
	       struct err *err);

#endif
