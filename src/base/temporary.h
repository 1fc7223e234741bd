/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Temporary files and directories, in TMPDIR or else in a directory that the caller names. Their
 * names end in random characters, and only their owner may read them. Directories are removed when
 * they are released, or when ispot ends early: by SIGINT, SIGTERM or SIGHUP without another
 * handler, or because memory is exhausted.
 */
#ifndef ISPOT_BASE_TEMPORARY_H
#define ISPOT_BASE_TEMPORARY_H

/*
 * For small files only: on many machines /tmp is in memory, so a file that may be as large as a
 * recording belongs elsewhere.
 */
#define TEMPORARY_SMALL "/tmp"
#define TEMPORARY_LARGE "/var/tmp"

struct err;

/*
 * Makes a directory "NAME.XXXXXX". *path is freed by temporary_release(); NULL: it cannot be made.
 */
int temporary_directory(char **path, const char *name, const char *otherwise, struct err *err);
/* Removes the directory and the files in it; it may not hold directories. NULL: does nothing. */
void temporary_release(char *path);

/*
 * Makes a file without a name, which exists until its descriptor is closed. Returns the descriptor,
 * or -errno.
 */
int temporary_file(const char *otherwise, struct err *err);

/*
 * Removes a directory and the files in it; does not follow a link. Allocates nothing, for signal
 * handlers.
 */
void temporary_remove(const char *directory);
void temporary_remove_at(int in, const char *directory); /* relative to the descriptor in */
/* Removes what this process has not released yet, before it ends. Allocates nothing. */
void temporary_remove_all(void);

#endif
