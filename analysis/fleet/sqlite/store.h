/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fleet's rows in a SQLite file. No other folder includes sqlite3.h. Each block is counted once,
 * because its key (recording, sequence) is stored in the same transaction as what it adds. The
 * schema is in ispot-fleet(1).
 */
#ifndef ISPOT_ANALYSIS_FLEET_SQLITE_STORE_H
#define ISPOT_ANALYSIS_FLEET_SQLITE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/fleet/file.h"

struct err;

struct fleet_rows;
struct fleet_store;
struct strtab;

/* What all rows of a store have in common. */
struct fleet_store_meta {
	char indicator[64], unit[16], by[32];
	bool higher_is_better;
	uint64_t bucket_ns;
};

struct fleet_store_block {
	uint64_t recording, sequence;
	uint32_t machine;		   /* as returned by fleet_store_machine() */
	uint64_t start_ns, samples, alone; /* samples, alone: of the first indicator */
};

/* The samples that a block has of an indicator beyond the first. */
struct fleet_store_count {
	uint64_t recording, sequence;
	uint32_t indicator; /* number in the store */
	uint64_t samples, alone;
};

/* Indicators beyond the first, whose number is 0; of[i] has the number i + 1. */
struct fleet_store_indicators {
	struct fleet_indicator of[FLEET_INDICATORS - 1];
	uint32_t n;
};

/* Totals over all blocks. */
struct fleet_store_totals {
	uint64_t machines, blocks, samples, alone, from_ns, to_ns;
};

/* indicator: the number of the file's that is the store's first. */
void fleet_store_meta_of(const struct fleet_header *h, uint32_t indicator, uint64_t bucket_ns,
			 struct fleet_store_meta *meta);

/* Opens a store. make: creates it if it does not exist. Errors include -ENOENT, -EBADMSG (no such
 * store) and -EBUSY. */
int fleet_store_open(struct fleet_store **s, const char *path, bool make, struct err *err);
void fleet_store_close(struct fleet_store *s); /* NULL: nothing */

/* Sets the meta of a new store, or compares it with that of an existing one. Returns -EINVAL if the
 * store has another indicator or bucket. */
int fleet_store_begin(struct fleet_store *s, const struct fleet_store_meta *meta, struct err *err);
/* Sets kept to the applications whose trios the store keeps. asked, if not empty, decides that
 * while the store has no blocks. Returns -EINVAL if asked differs later. */
int fleet_store_trios(struct fleet_store *s, const struct strtab *asked, struct strtab *kept,
		      struct err *err);
/* Which of the file's indicators is the store's first: of a new store, the file's first. */
uint32_t fleet_store_first(struct fleet_store *s, const struct fleet_header *h);
/*
 * numbers: [FLEET_INDICATORS] of the n indicators the number in the store, to which new ones are
 * added; of the rest FLEET_LEFT_OUT. Returns -EINVAL if one has another unit there, or if there are
 * too many.
 */
int fleet_store_number(struct fleet_store *s, const struct fleet_indicator *of, uint32_t n,
		       uint32_t *numbers, struct err *err);
int fleet_store_machine(struct fleet_store *s, const struct fleet_header *h, uint32_t *machine,
			struct err *err);
bool fleet_store_has(struct fleet_store *s, uint64_t recording, uint64_t sequence);

/* Adds the names of the applications whose trios the store keeps. */
void fleet_store_trio_bases(struct fleet_store *s, struct strtab *names);
bool fleet_store_same_names(const struct strtab *a, const struct strtab *b);

/* ---- adding one database to another ---- */

/* Counts of what fleet_store_merge() added, and of the blocks that were there already. */
struct fleet_store_merged {
	uint64_t blocks, samples, alone, known_blocks;
};

/*
 * Adds all of another database, or nothing if all its blocks are known. Returns -EEXIST if only
 * some are known, -EINVAL if its indicator, bucket or applications of trios differ, and errors of
 * fleet_store_open().
 */
int fleet_store_merge(struct fleet_store *into, const char *path,
		      struct fleet_store_merged *counted, struct err *err);

/* ---- for reports ---- */

int fleet_store_meta(struct fleet_store *s, struct fleet_store_meta *meta,
		     struct fleet_store_totals *totals, struct err *err);
int fleet_store_indicators(struct fleet_store *s, struct fleet_store_indicators *all,
			   struct err *err);
/* The same of an indicator by its name; NULL: of the first. Returns -ENODATA if there is none. */
int fleet_store_choose(struct fleet_store *s, const char *name, uint32_t *number,
		       struct fleet_store_meta *meta, struct fleet_store_totals *totals,
		       struct err *err);

#endif
