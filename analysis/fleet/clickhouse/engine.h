/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fleet's rows on one or several ClickHouse servers, as store.h keeps them in a file. The servers
 * named in the address are the shards. The shard of a block depends on the block's numbers.
 *
 * Every block counts exactly once. The rows of a block are stored by block, and depend on the block
 * alone. So writing a block again, wholly or in part, replaces rows by equal rows (a
 * ReplacingMergeTree, read with FINAL). A block counts when its line in the table blocks is
 * written, which is after its rows, so a push that was killed in between wrote nothing that counts.
 * The servers only sum integers by pair; the answers of the shards are merged here, exactly as rows
 * always are. A SQLite database is stored as a whole in the same way, like one block, because its
 * rows depend on its blocks alone. The schema is in ispot-fleet(1).
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
	const char *credentials; /* path of a file; NULL: from the environment */
	const char *ca_file;	 /* NULL: the system's certificates */
	uint64_t retry_ns;	 /* how long requests to a server that does not answer are
				  * repeated */
	const bool *ended;	 /* set when a handled signal asks ispot to end; NULL: only pending
				  * signals do */
};

/* Opens an engine without a request. Returns -EINVAL if the address is invalid, -EACCES if others
 * can read the credentials, -ENOSYS without libcurl. */
int fleet_engine_open(struct fleet_engine **e, const struct fleet_engine_options *o,
		      struct err *err);
void fleet_engine_close(struct fleet_engine *e); /* NULL: nothing */

/* ---- pushing ---- */

/* ---- reading, as fleet_store_meta() and fleet_store_load() ---- */

#endif
