/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of samples, read one after the other by those verbs of `ispot fleet` that take them. What
 * is damaged, cut off or no such file is said here, once for all of them.
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

/* What became of a file of samples: one that cannot be read now may be another time. */
enum fleet_file_end { FLEET_FILE_REFUSED, FLEET_FILE_READ, FLEET_FILE_UNREAD };

/* Where the blocks go. -errno ends all. */
struct fleet_sink {
	int (*begin)(void *ctx, const struct fleet_header *h, struct err *err); /* of each file */
	bool (*knows)(void *ctx, uint64_t recording, uint64_t sequence);
	int (*add)(void *ctx, const struct fleet_header *h, const struct fleet_block *b,
		   struct err *err);
	/*
	 * Reads a database among the files and counts its contents into f. Above 0: it cannot be
	 * read, or taken, just as other files that are no such. NULL: databases are refused.
	 */
	int (*database)(void *ctx, const char *path, struct fleet_files *f, struct err *err);
	/* How many of the block's samples are taken; NULL: all of them. */
	uint64_t (*count)(void *ctx, const struct fleet_block *b);
};

struct fleet_files {
	const int *
		opened; /* [file]: of samples; NULL: the paths are opened, which may be databases */
	enum fleet_file_end *ends; /* [file]; NULL: nobody asks */
	uint64_t files, refused, blocks, known_blocks, samples;
	struct fleet_block *block; /* the latest */
	struct progress progress;
	uint64_t latest_ns;	 /* of this file the latest block's start */
	bool ahead, back, unset; /* its machine's clock */
	bool several;		 /* one that cannot be read does not end it */
};

/* doing: for the progress, "reducing". */
int fleet_files_read(struct fleet_files *f, char **paths, const char *doing,
		     const struct fleet_sink *sink, void *ctx, struct err *err);
/* The sentence for those that could not be read, after all else went well; 0: there are none. */
int fleet_files_refused(const struct fleet_files *f, struct err *err);
/* At least one can be opened, or it is the user's fault: asked before anything is made of them. */
int fleet_files_any(char *const *paths, struct err *err);
void fleet_files_release(struct fleet_files *f);

#endif
