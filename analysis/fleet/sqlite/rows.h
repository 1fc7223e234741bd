/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of store.h: writes rows to columns, reads them, and visits all blocks and rows. */
#ifndef ISPOT_ANALYSIS_FLEET_SQLITE_ROWS_H
#define ISPOT_ANALYSIS_FLEET_SQLITE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct fleet_phases;
struct fleet_rows;
struct fleet_store;
struct fleet_store_block;
struct fleet_store_count;

struct fleet_store_addition {
	const struct fleet_rows *rows;
	const struct fleet_store_block *blocks; /* that the rows are from */
	size_t n_blocks;
	const struct fleet_store_count *counts; /* of the same blocks */
	size_t n_counts;
	const uint32_t *numbers; /* [indicator in the rows]: in the store; NULL: the same */
};

/* Adds all or nothing. */
int fleet_store_add(struct fleet_store *s, const struct fleet_store_addition *a, struct err *err);

struct fleet_store_line {
	uint64_t recording, sequence;
	const char *machine, *type; /* valid during the visit */
	uint64_t start_ns, samples, alone;
};

/* Visitors end the iteration by returning -errno. */
typedef int fleet_store_block_visit(void *ctx, const struct fleet_store_line *block,
				    struct err *err);
typedef int fleet_store_rows_visit(void *ctx, const struct fleet_rows *rows, struct err *err);

int fleet_store_each_block(struct fleet_store *s, fleet_store_block_visit *visit, void *ctx,
			   struct err *err);
/* Visits rows, trios and crowds of all machine types and time buckets, each once, in batches of
 * bounded size. several: those of indicators beyond the first, and matches, as well. */
int fleet_store_each_rows(struct fleet_store *s, bool several, fleet_store_rows_visit *visit,
			  void *ctx, struct err *err);

/* Loads the rows of one machine type, with the time buckets of each phase merged (phases.h). type
 * NULL: the type with the most samples. *others: number of further types. */
int fleet_store_load(struct fleet_store *s, const char *type, uint32_t indicator,
		     const struct fleet_phases *phases, struct fleet_rows *rows, unsigned *others,
		     struct err *err);
/* Loads the matches of two indicators, over all times: each with its pair as both rows. If
 * indicator is above other, the contrasts change places. */
int fleet_store_load_matches(struct fleet_store *s, const char *type, uint32_t indicator,
			     uint32_t other, struct fleet_rows *rows, struct err *err);

#endif
