/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regular files by names that others have chosen: nothing else is opened, not even for a moment. */
#ifndef ISPOT_BASE_REGULAR_H
#define ISPOT_BASE_REGULAR_H

struct stat;

/*
 * A descriptor for reading, close-on-exec; or -EISDIR, -EINVAL: the name leads to a directory, or
 * to something else that is no regular file; or -errno of open(). st may be NULL.
 */
int regular_open(const char *path, struct stat *st);

#endif
