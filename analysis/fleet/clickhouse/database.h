/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Part of engine.h: writes a whole SQLite database. Its rows are sums over its blocks, and depend
 * on these alone, and so does its number. The database is on one server. It counts when its number
 * is written, which is done last.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_DATABASE_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_DATABASE_H

struct err;
struct fleet_engine;
struct fleet_store;
struct fleet_store_merged;

/*
 * Adds a whole database, or nothing if all its blocks are known. A database that has all blocks of
 * databases that were pushed before replaces these. Returns -EEXIST if some blocks are known
 * otherwise.
 */
int fleet_engine_add_store(struct fleet_engine *e, struct fleet_store *s,
			   struct fleet_store_merged *counted, struct err *err);

#endif
