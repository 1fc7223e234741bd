/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of store.h that goes through a whole database. */
#include "analysis/fleet/sqlite/internal.h"

#include "analysis/fleet/rows.h"
#include "base/err.h"
#include "base/text.h"

#define BATCH 50000 /* rows that are in memory at once */

static const char *column_text(sqlite3_stmt *st, int column, char *printable, size_t n)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text_printable(printable, n, text ? text : "");
}

static uint32_t column_name(sqlite3_stmt *st, int column, struct strtab *names)
{
	char name[256];

	return strtab_add(names, column_text(st, column, name, sizeof(name)));
}

int fleet_store_each_block(struct fleet_store *s, fleet_store_block_visit *visit, void *ctx,
			   struct err *err)
{
	sqlite3_stmt *st = store_statement(s, EACH_BLOCK);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		char machine[256], type[256];

		rc = visit(ctx,
			   &(struct fleet_store_line){
				   .recording = (uint64_t)sqlite3_column_int64(st, 0),
				   .sequence = (uint64_t)sqlite3_column_int64(st, 1),
				   .machine = column_text(st, 2, machine, sizeof(machine)),
				   .type = column_text(st, 3, type, sizeof(type)),
				   .start_ns = (uint64_t)sqlite3_column_int64(st, 4),
				   .samples = (uint64_t)sqlite3_column_int64(st, 5),
				   .alone = (uint64_t)sqlite3_column_int64(st, 6),
			   },
			   err);
	}
	if (rc || step == SQLITE_DONE)
		return rc;
	return store_failed(s, err);
}

/* ---- rows ---- */

struct batch {
	struct fleet_store *store;
	struct fleet_rows rows;
	fleet_store_rows_visit *visit;
	void *ctx;
};

static int flush(struct batch *b, struct err *err)
{
	int rc = b->visit(b->ctx, &b->rows, err);

	fleet_rows_release(&b->rows);
	return rc;
}

/* Columns as of LOAD_ROWS or LOAD_TRIOS, then type and bucket. */
static struct fleet_row *row_of(struct fleet_rows *rows, sqlite3_stmt *st, bool trios)
{
	uint32_t base = column_name(st, 6, &rows->apps), co = column_name(st, 7, &rows->apps);
	uint32_t stratum = fleet_rows_stratum(rows, column_name(st, 9, &rows->types),
					      (uint64_t)sqlite3_column_int64(st, 10));
	enum corunner_class class;
	char name[32];

	if (trios)
		return fleet_rows_trio(rows, base, co, column_name(st, 8, &rows->apps), stratum);
	class = corunner_class_find(column_text(st, 8, name, sizeof(name)));
	return class >= CORUNNER_TRIO ? NULL : fleet_rows_get(rows, base, co, class, stratum);
}

static int each_row(struct batch *b, enum statement which, struct err *err)
{
	sqlite3_stmt *st = store_statement(b->store, which);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		struct fleet_row *row = row_of(&b->rows, st, which == EACH_TRIO);

		if (!row || !store_read_row(st, &row->tally, &row->contrast))
			return store_damaged(b->store, err);
		if (b->rows.rows.n >= BATCH)
			rc = flush(b, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = store_failed(b->store, err);
	return rc ? rc : flush(b, err);
}

static int each_crowd(struct batch *b, struct err *err)
{
	sqlite3_stmt *st = store_statement(b->store, EACH_CROWD);
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t type = column_name(st, 3, &b->rows.types);
		uint64_t bucket = (uint64_t)sqlite3_column_int64(st, 4);

		if (!store_read_crowd(st, &b->rows, fleet_rows_stratum(&b->rows, type, bucket)))
			return store_damaged(b->store, err);
	}
	return step == SQLITE_DONE ? flush(b, err) : store_failed(b->store, err);
}

int fleet_store_each_rows(struct fleet_store *s, fleet_store_rows_visit *visit, void *ctx,
			  struct err *err)
{
	struct batch b = { .store = s, .visit = visit, .ctx = ctx };
	int rc = each_row(&b, EACH_ROW, err);

	if (!rc && store_has_trios(s))
		rc = each_row(&b, EACH_TRIO, err);
	rc = rc ? rc : each_crowd(&b, err);
	fleet_rows_release(&b.rows);
	return rc;
}
