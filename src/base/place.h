/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths: whether other users may be able to change a file, and whether it belongs to the system. */
#ifndef ISPOT_BASE_PLACE_H
#define ISPOT_BASE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether nobody but root and that user can create or replace a file at path: nobody else may write
 * to the directories of the part of the path that exists, links resolved. Others may write to a
 * sticky directory unless it is the deepest one.
 */
bool place_is_safe(const char *path, uid_t user);
/*
 * The same for a path as realpath() returns it, without resolving links: whether nobody else can
 * make it lead elsewhere, now or later.
 */
bool place_is_fixed(const char *real, uid_t user);

/* The kernel's command lines for probes can name it: they are parted at blanks, of which 0xa0 is
 * one to it. */
bool place_is_plain(const char *path);

/*
 * Whether the file belongs to the system (/usr, /lib, …), so that the user will not edit its
 * source.
 */
bool place_is_installed(const char *path);

/*
 * Opens the directory that holds a path's last part. Follows the path part by part through
 * descriptors, so that nobody can redirect it meanwhile. *name, which the caller frees, is the last
 * part in that directory; with follow_last it is not a link. Returns a descriptor with O_PATH, or
 * -errno; -EPERM: a link belongs to neither root nor that user.
 */
int place_open_parent(const char *path, uid_t user, bool follow_last, char **name);

#endif
