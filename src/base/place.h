/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths that others may have a hand in. */
#ifndef ISPOT_BASE_PLACE_H
#define ISPOT_BASE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Nobody but root and that user can put a file there, or another one in its place: of what there is
 * of the path, links resolved, no directory is anybody else's to write to. One that is sticky may
 * be, if it is not the deepest.
 */
bool place_is_safe(const char *path, uid_t user);
/*
 * The same of a path as realpath() gives it, part by part as it is written: nobody else can have it
 * lead elsewhere, now or later.
 */
bool place_is_fixed(const char *real, uid_t user);

/*
 * Opens the directory of a path's last part, each part by itself, so that nobody can change the way
 * while it is gone: *name, to be freed, is the last part in it, no link if links are followed to
 * the end. A link that neither root nor that user made is not followed: -EPERM. A descriptor with
 * O_PATH, or -errno.
 */
int place_open_parent(const char *path, uid_t user, bool follow_last, char **name);

#endif
