/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Temporary files and directories: in TMPDIR, else where the caller says. Their names end in what
 * nobody foresees, and only their owner may read them. What has a name is removed when it is
 * released, and before ispot ends otherwise: by SIGINT, SIGTERM or SIGHUP, unless somebody handles
 * that, or because memory is out.
 */
#ifndef ISPOT_BASE_TEMPORARY_H
#define ISPOT_BASE_TEMPORARY_H

/* /tmp is memory on many machines: what may be as large as a recording is not for it. */
#define TEMPORARY_SMALL "/tmp"
#define TEMPORARY_LARGE "/var/tmp"

struct err;

/* A directory "NAME.XXXXXX". *path: freed by temporary_release(); NULL where it cannot be made. */
int temporary_directory(char **path, const char *name, const char *otherwise, struct err *err);
/* With the files in it, which are all it may hold. NULL: nothing. */
void temporary_release(char *path);

/* A file without a name, which is gone when its descriptor is closed. Returns that, or -errno. */
int temporary_file(const char *otherwise, struct err *err);

/* The files of a directory, and it; not through a link. Allocates nothing, for signal handlers. */
void temporary_remove(const char *directory);
void temporary_remove_at(int in, const char *directory); /* of the directory that is open as in */
/*
 * Removes the temporary files that are not released yet, as this process ends. Allocates nothing.
 */
void temporary_remove_all(void);

#endif
