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
	const bool *ended; /* a signal that was taken asks for the end; NULL: those that wait */
};

/* -EINVAL: not such an address; -EACCES: credentials that others can read; -ENOSYS: no libcurl.
 * Nothing is asked yet. */
int fleet_engine_open(struct fleet_engine **e, const struct fleet_engine_options *o,
		      struct err *err);
void fleet_engine_close(struct fleet_engine *e); /* NULL is fine */

/* ---- pushing ---- */

/* ---- reading, as fleet_store_meta() and fleet_store_load() ---- */

#endif
