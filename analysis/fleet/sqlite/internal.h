/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of store.h share: the database and its statements. */
#ifndef ISPOT_ANALYSIS_FLEET_SQLITE_INTERNAL_H
#define ISPOT_ANALYSIS_FLEET_SQLITE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/fleet/sqlite/store.h"

struct fleet_contrast;
struct fleet_store_addition;
struct fleet_store_count;
struct tally;

enum statement {
	ADD_META,
	GET_META,
	ADD_APP,
	GET_APP,
	ADD_TYPE,
	GET_TYPE,
	ADD_MACHINE,
	GET_MACHINE,
	HAS_BLOCK,
	ADD_BLOCK,
	GET_ROW,
	PUT_ROW,
	ADD_CROWD,
	LOAD_ROWS,
	LOAD_CROWDS,
	GET_TRIO,
	PUT_TRIO,
	LOAD_TRIOS,
	ADD_TRIO_BASE,
	LOAD_TRIO_BASES,
	ANY_BLOCK,
	MOST_TYPE,
	MOST_TYPE_OF,
	EACH_BLOCK,
	EACH_ROW,
	EACH_TRIO,
	EACH_CROWD,
	TOTALS,
	ADD_INDICATOR,
	EACH_INDICATOR,
	ADD_COUNT,
	TOTALS_OF,
	EACH_COUNT,
	GET_ROW_OF,
	PUT_ROW_OF,
	LOAD_ROWS_OF,
	EACH_ROW_OF,
	GET_MATCH,
	PUT_MATCH,
	LOAD_MATCHES,
	EACH_MATCH,
	STATEMENTS,
};

struct fleet_store {
	sqlite3 *db;
	char *path;
	int copy;     /* descriptor of a copy of a foreign database in memory; -1: the file
		       * itself is read */
	bool as_user; /* under sudo, files are accessed as the user until the database is closed */
	sqlite3_stmt *statements[STATEMENTS];
	uint64_t turns, most_turns; /* units of WORK_TURN SQLite instructions that the running
				     * statement has executed, and may execute */
};

/* Returns the name of ispot's SQLite VFS (vfs.c), or NULL for SQLite's default. */
const char *store_vfs(void);

/* Sets err by SQLite's last error, and returns -errno. */
int store_failed(struct fleet_store *s, struct err *err);

/* Returns a statement, which is prepared at its first use and reset at each use; NULL if it cannot
 * be prepared. Functions that step a statement fail for NULL. */
sqlite3_stmt *store_statement(struct fleet_store *s, enum statement which);
void store_bind_text(sqlite3_stmt *st, int i, const char *text);
void store_bind_number(sqlite3_stmt *st, int i, uint64_t number);
/* Steps and resets a statement that returns no rows, or whose rows are not needed. */
bool store_done(sqlite3_stmt *st);
bool store_execute(struct fleet_store *s, const char *what);

/* Whether the database has tables of trios, or of several indicators. Older databases do not. */
bool store_has_trios(struct fleet_store *s);
bool store_has_indicators(struct fleet_store *s);

/* Add blocks, or blocks and rows, in a transaction of the caller's. Return false on failure. */
bool store_add_blocks(struct fleet_store *s, const struct fleet_store_block *b, size_t n);
bool store_add_counts(struct fleet_store *s, const struct fleet_store_count *c, size_t n);
bool store_add_all(struct fleet_store *s, const struct fleet_store_addition *a);

/* Add the present row of a statement: columns n, sum, squares, blocks, contrast, histogram; or
 * kind, number, ns. Return false if the columns are invalid. */
bool store_read_row(sqlite3_stmt *st, struct tally *tally, struct fleet_contrast *contrast);
bool store_read_crowd(sqlite3_stmt *st, struct fleet_rows *rows, uint32_t stratum);
int store_damaged(const struct fleet_store *s, struct err *err);

/* Returns the id of a name, which is added if it is new, or 0 on failure. */
uint32_t store_number(struct fleet_store *s, enum statement add, enum statement get,
		      const char *name, const char *more);

#endif
