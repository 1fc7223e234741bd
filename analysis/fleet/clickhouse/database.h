/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of engine.h that writes a whole database of SQLite. Its rows are sums over its
 * blocks, and which sums follows from those alone: so its number does, too. All of it is on one
 * server, and counts from when its number is there, which is written last.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_DATABASE_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_DATABASE_H

struct err;
struct fleet_engine;
struct fleet_store;
struct fleet_store_merged;

/* A whole database: all of it, or nothing where all its blocks are known. One that has all blocks
 * of others, that were pushed so, counts instead of those. -EEXIST: else some are known. */
int fleet_engine_add_store(struct fleet_engine *e, struct fleet_store *s,
			   struct fleet_store_merged *counted, struct err *err);

#endif
