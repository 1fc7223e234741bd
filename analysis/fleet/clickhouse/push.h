/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of engine.h: writes rows. */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_PUSH_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_PUSH_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct fleet_block;
struct fleet_counts;
struct fleet_engine;
struct fleet_header;
struct fleet_rows;
struct fleet_store_meta;
struct strtab;

struct fleet_engine_sent {
	uint64_t rows, bytes, inserts, retries;
};

/* Creates the database and its tables, if they do not exist. */
int fleet_engine_make(struct fleet_engine *e, struct err *err);
/* Called for each file. Sets the meta, or compares it with the stored one. Returns -EINVAL if there
 * is another indicator or bucket. */
int fleet_engine_begin(struct fleet_engine *e, const struct fleet_header *h,
		       const struct fleet_store_meta *meta, struct err *err);
/* Same as fleet_store_trios(), but the decision does not change, even without blocks. */
int fleet_engine_trios(struct fleet_engine *e, const struct strtab *asked, struct strtab *kept,
		       struct err *err);
/* Whether a block of the recording that was begun last is known. */
bool fleet_engine_has(const struct fleet_engine *e, uint64_t sequence);
/* Adds the rows of one block, which are of one indicator. They are sent when there are many, and by
 * fleet_engine_flush(). */
int fleet_engine_add(struct fleet_engine *e, const struct fleet_header *h,
		     const struct fleet_block *b, const struct fleet_rows *rows,
		     const struct fleet_counts *counts, struct err *err);
int fleet_engine_flush(struct fleet_engine *e, struct err *err);

struct fleet_engine_sent fleet_engine_sent(const struct fleet_engine *e);

#endif
