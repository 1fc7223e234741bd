/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocators for code that need not survive running out of memory: they end the program with one
 * line then, unless a reserve is left. An arena frees everything at once.
 */
#ifndef ISPOT_BASE_MEM_H
#define ISPOT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program because memory is exhausted; also called for libraries that report it. */
void mem_exhausted(void) __attribute__((noreturn));
/*
 * Sets the line and the exit status with which mem_exhausted() ends the program. The default status
 * is 1, as for any command that reads.
 */
void mem_exhausted_says(const char *line, int exit_status);

/*
 * Keeps bytes of memory back until the functions above find none: then they give it back and go on,
 * and mem_is_short() is true from then on, so that the program can end in order. Ends the program
 * where there is not so much memory. Does nothing while there is a reserve. It
 * helps where a limit (ulimit -v, -d) ends memory, not where the machine's or a cgroup's is used
 * up, and not libraries that allocate themselves.
 */
void mem_reserve(size_t bytes);
bool mem_is_short(void);

struct arena {
	struct arena_block *blocks;
	size_t used_bytes; /* handed out so far */
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed, aligned to 16 */
char *arena_strdup(struct arena *arena, const char *s);
void arena_release(struct arena *arena); /* idempotent; leaves an empty arena */

#endif
