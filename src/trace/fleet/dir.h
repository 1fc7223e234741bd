/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory of files of samples (file.h) for a recording without end: when a file is full
 * the next one begins, and the oldest goes when there are too many. One recorder writes at a time;
 * what an earlier one left there, killed or not, stays until its turn comes.
 */
#ifndef ISPOT_TRACE_FLEET_DIR_H
#define ISPOT_TRACE_FLEET_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/fleet/file.h"

struct fleet_dir {
	char *path;
	int dir, lock;			/* descriptors; -1: not open */
	uint64_t files_max, file_bytes; /* in all as many bytes as both say, and a block more */
	uint64_t next;			/* number of the next file */
	uint64_t removed;		/* files, so far */
	struct fleet_writer file;
};

/*
 * Opens the directory as output_directory() does, which makes it if there is none. -EBUSY: another
 * recorder writes there.
 */
int fleet_dir_open(struct fleet_dir *d, const char *path, uint64_t files_max, uint64_t file_bytes,
		   struct err *err);
/* Into the file of now, or the next; *begun: a file was. */
int fleet_dir_block(struct fleet_dir *d, const struct fleet_header *h, const struct fleet_block *b,
		    bool *begun, struct err *err);
/* The next block begins a file: the header has changed. */
int fleet_dir_end_file(struct fleet_dir *d, struct err *err);
int fleet_dir_close(struct fleet_dir *d, struct err *err); /* idempotent; err may be NULL */

#endif
