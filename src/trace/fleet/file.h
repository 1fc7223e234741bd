/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of a fleet's samples, one of a recording of one machine: a header that says once what the
 * machine is and what was measured, then blocks. Nothing is sought, so a file may be a pipe; one
 * that was cut off is read up to its last whole block. The layout is in ispot-fleet(1).
 */
#ifndef ISPOT_TRACE_FLEET_FILE_H
#define ISPOT_TRACE_FLEET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/output.h"
#include "base/text.h"
#include "trace/fleet/topology.h"
#include "trace/fleet/block.h"

struct err;

#define FLEET_MAGIC	  "ispotflt"
#define FLEET_BLOCK_MAGIC 0x6b626c66u /* "flbk" */
#define FLEET_VERSION	  1	      /* of files of one indicator */
#define FLEET_SEVERAL	  2	      /* of several; ispot-fleet(1) has what differs */
#define FLEET_HEADER_MAX  (1u << 20)

/* Little-endian, 40 bytes. */
struct fleet_block_head {
	uint32_t magic, body_bytes;
	uint64_t sequence, start_ns;
	uint32_t n_samples, n_runs;
	uint32_t body_crc, head_crc; /* CRC-32: of the body; of the 36 bytes before */
};

struct fleet_indicator {
	char name[64], unit[16];
	bool higher_is_better;
};

struct fleet_header {
	uint64_t id; /* random: tells recordings apart, so that none is counted twice */
	char machine[128], type[128];
	bool type_known; /* as read: else type is "unknown" */
	char indicator[64], unit[16];
	bool higher_is_better; /* all three: of the first indicator */
	uint32_t n_more;       /* further ones, measured at the same times */
	struct fleet_indicator more[FLEET_INDICATORS - 1];
	uint64_t period; /* in the event's unit; 0: none */
	char by[32];	 /* what an application is: "executable", "cgroup", "container", "user" */
	struct topology topology;
};

/* The indicator of this number, at most n_more; 0: the first. */
struct fleet_indicator fleet_header_indicator(const struct fleet_header *h, uint32_t number);
/* Returns the number of an indicator, or UINT32_MAX if the file has none of that name. */
uint32_t fleet_header_find(const struct fleet_header *h, const char *name);

struct fleet_writer {
	struct output out;
	uint32_t indicators;
	struct text body;
	uint64_t bytes;
};

/* Opens the file as output_open() does: an existing file is kept as FILE.old. */
int fleet_writer_open(struct fleet_writer *w, const char *path, const struct fleet_header *h,
		      struct err *err);
/* A new file in a directory of output_directory(). */
int fleet_writer_open_at(struct fleet_writer *w, int dir, const char *name,
			 const struct fleet_header *h, struct err *err);
bool fleet_writer_is_open(const struct fleet_writer *w);
int fleet_writer_block(struct fleet_writer *w, const struct fleet_block *b, struct err *err);
int fleet_writer_close(struct fleet_writer *w, struct err *err); /* idempotent; err may be NULL */

struct fleet_reader {
	FILE *file;
	char *path;
	struct fleet_header header;
	uint8_t *body;
	uint64_t damaged_blocks; /* were skipped */
	bool truncated;		 /* the file ends inside of a block */
};

int fleet_reader_open(struct fleet_reader *r, const char *path, struct err *err);
/* Of a regular file that is open, and stays so. path: for messages. */
int fleet_reader_open_fd(struct fleet_reader *r, int fd, const char *path, struct err *err);
/* The head of the next block; 0: there is none. -errno: the file cannot be read. */
int fleet_reader_next(struct fleet_reader *r, struct fleet_block_head *head, struct err *err);
/*
 * Reads the block's body, or skips it; one of both once after each fleet_reader_next() that
 * returned 1. False: damaged or cut off; go on with the next block.
 */
bool fleet_reader_block(struct fleet_reader *r, const struct fleet_block_head *head,
			struct fleet_block *b);
void fleet_reader_skip(struct fleet_reader *r, const struct fleet_block_head *head);
void fleet_reader_close(struct fleet_reader *r);

#endif
