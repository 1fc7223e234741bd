/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of store.h that puts rows into columns and takes them out, and that goes through all of
 * them.
 */
#ifndef ISPOT_ANALYSIS_FLEET_SQLITE_ROWS_H
#define ISPOT_ANALYSIS_FLEET_SQLITE_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct fleet_phases;
struct fleet_rows;
struct fleet_store;
struct fleet_store_block;

/* All or nothing. */
int fleet_store_add(struct fleet_store *s, const struct fleet_rows *rows,
		    const struct fleet_store_block *blocks, size_t n, struct err *err);

struct fleet_store_line {
	uint64_t recording, sequence;
	const char *machine, *type; /* for the time of the visit */
	uint64_t start_ns, samples, alone;
};

/* -errno ends it. */
typedef int fleet_store_block_visit(void *ctx, const struct fleet_store_line *block,
				    struct err *err);
typedef int fleet_store_rows_visit(void *ctx, const struct fleet_rows *rows, struct err *err);

int fleet_store_each_block(struct fleet_store *s, fleet_store_block_visit *visit, void *ctx,
			   struct err *err);
/* Rows, trios and crowds, of all types and buckets, each once: as many at a time as memory takes.
 */
int fleet_store_each_rows(struct fleet_store *s, fleet_store_rows_visit *visit, void *ctx,
			  struct err *err);

/* Rows of all time buckets of a phase together (phases.h), of one machine type: the given, or NULL:
 * the one with the most samples. *others: how many types there are besides. */
int fleet_store_load(struct fleet_store *s, const char *type, const struct fleet_phases *phases,
		     struct fleet_rows *rows, unsigned *others, struct err *err);

#endif
