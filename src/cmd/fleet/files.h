/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads files of samples one after the other, for all verbs of `ispot fleet` that take such files.
 * Files that are damaged, cut off or no such files are reported here.
 */
#ifndef ISPOT_CMD_FLEET_FILES_H
#define ISPOT_CMD_FLEET_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"

struct err;
struct fleet_block;
struct fleet_files;
struct fleet_header;

/* The end of reading a file. A file that is unread now may be readable later; a refused one never
 * is. */
enum fleet_file_end { FLEET_FILE_REFUSED, FLEET_FILE_READ, FLEET_FILE_UNREAD };

/* Receives the blocks. If a function returns -errno, all reading ends. */
struct fleet_sink {
	int (*begin)(void *ctx, const struct fleet_header *h, struct err *err); /* of each file */
	bool (*knows)(void *ctx, uint64_t recording, uint64_t sequence);
	int (*add)(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		   struct err *err);
	/* Reads a database among the files and adds its contents to the counts of f. Returns a
	 * number above 0 if it is refused, as files that are none of samples are. NULL: all
	 * databases are refused. */
	int (*database)(void *ctx, const char *path, struct fleet_files *f, struct err *err);
	/* Returns how many of the block's samples are used. NULL: all are. */
	uint64_t (*count)(void *ctx, const struct fleet_block *b);
};

struct fleet_files {
	const int *opened; /* [file]: descriptors of files of samples; NULL: the paths are opened,
			      which may be databases */
	enum fleet_file_end *ends; /* [file]; NULL: not wanted */
	uint64_t files, refused, blocks, known_blocks, samples;
	struct fleet_block *block; /* the latest */
	struct progress progress;
	uint64_t latest_ns;	 /* start of the latest block of this file */
	bool ahead, back, unset; /* its machine's clock */
	bool several;		 /* a file that cannot be read does not end the reading */
};

/* Reads the files. doing: a word for the progress line, such as "reducing". */
int fleet_files_read(struct fleet_files *f, char **paths, const char *doing,
		     const struct fleet_sink *sink, void *ctx, struct err *err);
/* Returns an error about the files that could not be read, or 0 if there are none. Call it if all
 * else went well. */
int fleet_files_refused(const struct fleet_files *f, struct err *err);
/* Returns an error if none of the files can be opened. Call it before anything is made for them. */
int fleet_files_any(char *const *paths, struct err *err);
void fleet_files_release(struct fleet_files *f);

#endif
