/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regular files by names that others have chosen: nothing else is opened, not even for a moment. */
#ifndef ISPOT_BASE_REGULAR_H
#define ISPOT_BASE_REGULAR_H

#include <stdio.h>
#include <sys/types.h>

struct stat;

/*
 * A descriptor for reading, close-on-exec; or -EISDIR, -EINVAL: the name leads to a directory, or
 * to something else that is no regular file; or -errno of open(). st may be NULL.
 */
int regular_open(const char *path, struct stat *st);

/* The same as a stream; NULL: errno says why. */
FILE *regular_fopen(const char *path);

/*
 * A copy of its first bytes in memory of this process alone, which nobody can change (memfd,
 * sealed); what is missing by now is a hole. name: in /proc. A descriptor, or -errno.
 */
int regular_copy(int from, off_t bytes, const char *name);

#endif
