/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A spool: a directory into which any number of recorders put files of samples (file.h), and from
 * which a collector takes them. It may be on a file system that several machines share.
 *
 * A file has the number of its recording in its name, so that no two recorders make the same one;
 * while it is written its name ends with ".part", and its recorder holds a lock on it. Whole files
 * are taken, and those of recorders that have died as far as they were written. A file goes when
 * what it has counts: a collector that dies before has it come again, and what is known by then
 * counts once.
 */
#ifndef ISPOT_TRACE_FLEET_SPOOL_H
#define ISPOT_TRACE_FLEET_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/fleet/file.h"

struct fleet_spool {
	char *path;
	int dir;	/* -1: not open */
	int lock;	/* the collector's; -1: none */
	bool is_shared; /* with other machines, perhaps: a lock may be known to one of them only */
	uint64_t file_bytes, file_ns;
	uint64_t next, begun_ns; /* file's number; when the open one was begun */
	char *name;		 /* of the open one, without ".part" */
	struct fleet_writer file;
};

/* As output_directory(). A file is whole when it is so large, or so old. */
int fleet_spool_open(struct fleet_spool *s, const char *path, uint64_t file_bytes, uint64_t file_ns,
		     struct err *err);
int fleet_spool_block(struct fleet_spool *s, const struct fleet_header *h,
		      const struct fleet_block *b, struct err *err);
int fleet_spool_end_file(struct fleet_spool *s, struct err *err); /* it is whole now */
int fleet_spool_close(struct fleet_spool *s, struct err *err);	  /* idempotent; err may be NULL */

/* ---- taking ---- */

/* One collector at a time: -EBUSY. Until it is closed. */
int fleet_spool_lock(struct fleet_spool *s, struct err *err);

/* Whole files, and those whose recorder has died, by name; it is locked. */
struct fleet_spool_names {
	VEC(char *)
};
int fleet_spool_list(const struct fleet_spool *s, struct fleet_spool_names *names, struct err *err);
void fleet_spool_names_release(struct fleet_spool_names *names);
/*
 * A descriptor of a listed file, to be closed. -ENOENT: it is gone; -EBADMSG: it is a link, or no
 * file. Whose it is does not matter: nobody but those who may write to the spool has put it there.
 */
int fleet_spool_read(const struct fleet_spool *s, const char *name, struct err *err);
/* What it has counts. */
int fleet_spool_remove(const struct fleet_spool *s, const char *name, struct err *err);
/* It cannot be read: kept as NAME.refused, and not listed again. */
int fleet_spool_refuse(const struct fleet_spool *s, const char *name, struct err *err);

#endif
