/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that is written for the user: a regular file (an existing one is kept as FILE.old), a
 * pipe or a device. Written front to back, never sought. The first failure stays: what was written
 * before it is cut back to whole frames and nothing more is written. A SIGPIPE is the caller's to
 * ignore.
 */
#ifndef ISPOT_BASE_OUTPUT_H
#define ISPOT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct output {
	int fd;			      /* -1: not open */
	bool is_regular, is_borrowed; /* borrowed: standard output, not to be closed */
	int failed;		      /* 0 or the first failure, negative errno */
	uint64_t bytes;
	char *path;	    /* as the user named it, for messages */
	const char *option; /* with which, of a directory */
};

/*
 * "-" and /dev/stdout: standard output. A link to a regular file is kept as FILE.old in its stead:
 * what it leads to is left alone. As root a link owned by somebody else is not followed
 * (-EPERM), nor written into a pipe of somebody else. Under sudo the file is made as the user who
 * called it, where he may, and is his in any case.
 */
int output_open(struct output *out, const char *path, struct err *err);

/* Root, this user, or the user behind sudo. */
bool output_owner_is_trusted(uid_t owner);

/* Whether output_open() will succeed, as far as that can be known before; changes nothing. */
int output_try(const char *path, struct err *err);

/*
 * A directory for files that are made and removed while ispot goes on, made (0700) if there is
 * none. Returns its descriptor, which the caller closes; option: the user's. -EPERM: others than
 * the user, root and the user behind sudo own it or may write to it.
 */
int output_directory(const char *path, const char *option, struct err *err);

/* A new file in such a directory; -EEXIST: there is something of that name. */
int output_open_at(struct output *out, int dir, const char *name, struct err *err);

/* All of it or a failure. */
int output_write(struct output *out, const void *data, size_t n);

/* Overwrites n bytes at an offset that was written before, of a regular file; else -ESPIPE. */
int output_patch(struct output *out, uint64_t offset, const void *data, size_t n);

/* Takes back what was written behind the first bytes of a regular file. */
void output_cut(struct output *out, uint64_t bytes);

/*
 * Where the disk is full: forgets the failure, so that something small can be tried. The frame that
 * did not fit has been cut off again and left its room. False: it is of no use.
 */
bool output_retry(struct output *out);

/* The sentence for out->failed; returns out->failed. */
int output_explain(const struct output *out, struct err *err);

/* Returns the failure of any write or of close(2), with its sentence. */
int output_close(struct output *out, struct err *err);

#endif
