/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens regular files by names that others chose. Anything that is not a regular file is refused
 * before it is opened.
 */
#ifndef ISPOT_BASE_REGULAR_H
#define ISPOT_BASE_REGULAR_H

#include <stdio.h>
#include <sys/types.h>

struct stat;

/*
 * Returns a descriptor for reading, close-on-exec, or -errno. -EISDIR: a directory; -EINVAL:
 * another file that is not regular. st may be NULL.
 */
int regular_open(const char *path, struct stat *st);

/* The same as a stream, or NULL with errno set. */
FILE *regular_fopen(const char *path);

/*
 * Copies the first bytes of a file into a sealed memfd, which nobody can change. If the file has
 * become shorter, the rest is a hole. name is what /proc shows. Returns a descriptor, or -errno.
 */
int regular_copy(int from, off_t bytes, const char *name);

#endif
