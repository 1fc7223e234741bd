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

struct err;
struct fleet_header;
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
	uint32_t machine; /* as returned by fleet_store_machine() */
	uint64_t start_ns, samples, alone;
};

/* Totals over all blocks. */
struct fleet_store_totals {
	uint64_t machines, blocks, samples, alone, from_ns, to_ns;
};

void fleet_store_meta_of(const struct fleet_header *h, uint64_t bucket_ns,
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

#endif
