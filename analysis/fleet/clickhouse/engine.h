/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fleet's rows on ClickHouse, one server or several: what store.h is to one machine. The
 * servers named in the address are the shards; a block is on the one that its numbers choose.
 *
 * Exactly once: the rows of a block are kept by block, and which rows those are follows from the
 * block alone. So writing a block again, whole or in part, replaces rows by the same rows (a
 * ReplacingMergeTree, read with FINAL). A block counts from when its line in the table blocks is
 * written, which is after its rows: a push that was killed in between has written nothing that
 * counts. The engine only adds up integers by pair, and what the shards answer is merged here, as
 * exactly as rows are anywhere. A database that SQLite holds is kept as a whole in the same way, as
 * if it were one block: its rows follow from its blocks. The schema is in ispot-fleet(1).
 */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_ENGINE_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct fleet_engine;
struct fleet_block;
struct fleet_header;
struct fleet_rows;
struct fleet_store;
struct fleet_store_merged;
struct fleet_store_meta;
struct fleet_store_totals;
struct strtab;

struct fleet_engine_options {
	const char *url; /* clickhouse://HOST:PORT[,HOST:PORT]/DATABASE, or clickhouse+https */
	const char *credentials; /* a file; NULL: the environment */
	const char *ca_file;	 /* NULL: the system's */
	uint64_t retry_ns;	 /* for how long a server that does not answer is asked again */
};

/* -EINVAL: not such an address; -EACCES: credentials that others can read; -ENOSYS: no libcurl.
 * Nothing is asked yet. */
int fleet_engine_open(struct fleet_engine **e, const struct fleet_engine_options *o,
		      struct err *err);
void fleet_engine_close(struct fleet_engine *e); /* NULL is fine */

/* ---- pushing ---- */

/* The database and its tables, where they are not there. */
int fleet_engine_make(struct fleet_engine *e, struct err *err);
/* Of each file. The first to come decides; -EINVAL: there is another indicator or bucket. */
int fleet_engine_begin(struct fleet_engine *e, const struct fleet_header *h,
		       const struct fleet_store_meta *meta, struct err *err);
/* As fleet_store_trios(), but whether blocks are there or not. */
int fleet_engine_trios(struct fleet_engine *e, const struct strtab *asked, struct strtab *kept,
		       struct err *err);
/* Of the recording that was begun last. */
bool fleet_engine_has(const struct fleet_engine *e, uint64_t sequence);
/* rows: of this block alone. They are sent when there are many, and by flush. */
int fleet_engine_add(struct fleet_engine *e, const struct fleet_header *h,
		     const struct fleet_block *b, const struct fleet_rows *rows, uint64_t alone,
		     struct err *err);
int fleet_engine_flush(struct fleet_engine *e, struct err *err);

/* A whole database: all of it, or nothing where all its blocks are known. One that has all blocks
 * of others, that were pushed so, counts instead of those. -EEXIST: else some are known. */
int fleet_engine_add_store(struct fleet_engine *e, struct fleet_store *s,
			   struct fleet_store_merged *counted, struct err *err);

struct fleet_engine_sent {
	uint64_t rows, bytes, inserts, retries;
};
struct fleet_engine_sent fleet_engine_sent(const struct fleet_engine *e);

/* ---- reading, as fleet_store_meta() and fleet_store_load() ---- */

int fleet_engine_meta(struct fleet_engine *e, struct fleet_store_meta *meta,
		      struct fleet_store_totals *totals, struct err *err);
int fleet_engine_load(struct fleet_engine *e, const char *type, struct fleet_rows *rows,
		      unsigned *others, struct err *err);

#endif
