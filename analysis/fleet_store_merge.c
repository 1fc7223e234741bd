/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of fleet_store.h that adds one database to another. Rows are sums, and blocks are
 * counted in them: two databases can only be added if they have no block in common. */
#include "analysis/fleet_store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/fleet_rows.h"
#include "base/err.h"
#include "base/text.h"

#define BATCH 50000 /* rows that are in memory at once */

struct merge {
	struct fleet_store *into, *from;
	struct fleet_rows rows; /* the batch */
	struct fleet_store_merged *counted;
};

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

/* What all rows of both have in common, and whose trios are kept. */
static int agree(struct merge *m, struct err *err)
{
	struct strtab theirs = { 0 }, kept = { 0 };
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	int rc = fleet_store_meta(m->from, &meta, &totals, err);

	rc = rc ? rc : fleet_store_begin(m->into, &meta, err);
	store_trio_bases(m->from, &theirs);
	rc = rc ? rc : fleet_store_trios(m->into, &theirs, &kept, err);
	if (!rc && !store_same_names(&theirs, &kept))
		rc = err_set(err, -EINVAL,
			     "%s keeps trios that %s does not; reduce into another database "
			     "with --db",
			     m->into->path, m->from->path);
	strtab_release(&theirs);
	strtab_release(&kept);
	return rc;
}

static bool add_block(struct merge *m, sqlite3_stmt *st)
{
	char machine[256], type[256];
	struct fleet_store_block b = {
		.recording = (uint64_t)sqlite3_column_int64(st, 0),
		.sequence = (uint64_t)sqlite3_column_int64(st, 1),
		.machine = store_number(m->into, ADD_MACHINE, GET_MACHINE,
					column_text(st, 2, machine, sizeof(machine)),
					column_text(st, 3, type, sizeof(type))),
		.start_ns = (uint64_t)sqlite3_column_int64(st, 4),
		.samples = (uint64_t)sqlite3_column_int64(st, 5),
		.alone = (uint64_t)sqlite3_column_int64(st, 6),
	};

	m->counted->blocks++;
	m->counted->samples += b.samples;
	m->counted->alone += b.alone;
	return b.machine && store_add_blocks(m->into, &b, 1);
}

/* Those that are new; what both have is counted. */
static int add_blocks(struct merge *m, struct err *err)
{
	sqlite3_stmt *st = store_statement(m->from, EACH_BLOCK);
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW)
		if (fleet_store_has(m->into, (uint64_t)sqlite3_column_int64(st, 0),
				    (uint64_t)sqlite3_column_int64(st, 1)))
			m->counted->known_blocks++;
		else if (!add_block(m, st))
			return store_failed(m->into, err);
	return step == SQLITE_DONE ? 0 : store_failed(m->from, err);
}

static int flush(struct merge *m, struct err *err)
{
	bool added = store_add_all(m->into, &m->rows, NULL, 0);

	fleet_rows_release(&m->rows);
	return added ? 0 : store_failed(m->into, err);
}

/* Columns as of LOAD_ROWS or LOAD_TRIOS, then type and bucket. */
static struct fleet_row *row_of(struct merge *m, sqlite3_stmt *st, bool trios)
{
	uint32_t base = column_name(st, 6, &m->rows.apps), co = column_name(st, 7, &m->rows.apps);
	uint32_t stratum = fleet_rows_stratum(&m->rows, column_name(st, 9, &m->rows.types),
					      (uint64_t)sqlite3_column_int64(st, 10));
	enum corunner_class class;
	char name[32];

	if (trios)
		return fleet_rows_trio(&m->rows, base, co, column_name(st, 8, &m->rows.apps),
				       stratum);
	class = corunner_class_find(column_text(st, 8, name, sizeof(name)));
	return class >= CORUNNER_TRIO ? NULL : fleet_rows_get(&m->rows, base, co, class, stratum);
}

static int add_rows(struct merge *m, enum statement which, struct err *err)
{
	sqlite3_stmt *st = store_statement(m->from, which);
	int step, rc = 0;

	while (!rc && (step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		struct fleet_row *row = row_of(m, st, which == EACH_TRIO);

		if (!row || !store_read_row(st, &row->tally, &row->contrast))
			return store_damaged(m->from, err);
		if (m->rows.rows.n >= BATCH)
			rc = flush(m, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = store_failed(m->from, err);
	return rc ? rc : flush(m, err);
}

static int add_crowds(struct merge *m, struct err *err)
{
	sqlite3_stmt *st = store_statement(m->from, EACH_CROWD);
	int step;

	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t type = column_name(st, 3, &m->rows.types);
		uint64_t bucket = (uint64_t)sqlite3_column_int64(st, 4);

		if (!store_read_crowd(st, &m->rows, fleet_rows_stratum(&m->rows, type, bucket)))
			return store_damaged(m->from, err);
	}
	return step == SQLITE_DONE ? flush(m, err) : store_failed(m->from, err);
}

static int add_all(struct merge *m, struct err *err)
{
	int rc = agree(m, err);

	rc = rc ? rc : add_blocks(m, err);
	if (rc || !m->counted->blocks)
		return rc;
	if (m->counted->known_blocks)
		return err_set(err, -EEXIST,
			       "%s has %" PRIu64 " blocks that are in %s, too, and others, which "
			       "cannot be told apart any more; reduce the files that it is of",
			       m->from->path, m->counted->known_blocks, m->into->path);
	rc = add_rows(m, EACH_ROW, err);
	if (!rc && store_has_trios(m->from))
		rc = add_rows(m, EACH_TRIO, err);
	return rc ? rc : add_crowds(m, err);
}

int fleet_store_merge(struct fleet_store *into, const char *path,
		      struct fleet_store_merged *counted, struct err *err)
{
	struct merge m = { .into = into, .counted = counted };
	int rc;

	*counted = (struct fleet_store_merged){ 0 };
	rc = fleet_store_open(&m.from, path, false, err);
	if (rc)
		return rc;
	rc = store_execute(into, "BEGIN IMMEDIATE") ? add_all(&m, err) : store_failed(into, err);
	if (!rc && counted->blocks && !store_execute(into, "COMMIT"))
		rc = store_failed(into, err);
	if (rc || !counted->blocks)
		store_execute(into, "ROLLBACK");
	fleet_rows_release(&m.rows);
	fleet_store_close(m.from);
	return rc;
}
