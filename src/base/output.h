/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that is written for the user: a regular file (an existing one is kept as FILE.old), a
 * pipe or a device. It is written front to back, without seeking. After the first failure the file
 * is cut back to whole frames and nothing more is written. The caller ignores SIGPIPE.
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
	const char *option; /* of a directory: the option that named it */
};

/*
 * Opens a file; "-" and /dev/stdout mean standard output. A link to a regular file is renamed to
 * FILE.old, and the file that it leads to is left alone. As root, ispot does not follow a link of
 * another user (-EPERM), nor write into another user's pipe. Under sudo the file is created with
 * the rights of the user who called it, if they suffice, and belongs to that user in any case.
 */
int output_open(struct output *out, const char *path, struct err *err);

/* Whether owner is root, this user, or the user who called sudo. */
bool output_owner_is_trusted(uid_t owner);

/* Checks, as far as possible in advance, whether output_open() will succeed; changes nothing. */
int output_try(const char *path, struct err *err);

/*
 * Opens a directory for files that are created and removed while ispot runs, and makes it (0700) if
 * it does not exist. option is the option that named it, for messages. Returns a descriptor, which
 * the caller closes. -EPERM: somebody other than root, this user and the user who called sudo owns
 * the directory or may write to it.
 */
int output_directory(const char *path, const char *option, struct err *err);

/* Creates a new file in such a directory; -EEXIST: the name exists. */
int output_open_at(struct output *out, int dir, const char *name, struct err *err);

/* Writes all n bytes, or fails. */
int output_write(struct output *out, const void *data, size_t n);

/*
 * Overwrites n bytes of a regular file at an offset that was written before. -ESPIPE: not a regular
 * file.
 */
int output_patch(struct output *out, uint64_t offset, const void *data, size_t n);

/* Shortens a regular file to its first bytes. */
void output_cut(struct output *out, uint64_t bytes);

/*
 * After a full disk: clears the failure, so that the caller can try to write something small into
 * the room that the frame which did not fit has left. False: the failure is another one, or the
 * file is not a regular one.
 */
bool output_retry(struct output *out);

/* Stores the sentence for out->failed in err; returns out->failed. */
int output_explain(const struct output *out, struct err *err);

/* Returns the first failure of a write or of close(2), with its sentence in err. */
int output_close(struct output *out, struct err *err);

#endif
