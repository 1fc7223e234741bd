/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of store.h share: the database and its statements. */
#ifndef ISPOT_ANALYSIS_FLEET_SQLITE_INTERNAL_H
#define ISPOT_ANALYSIS_FLEET_SQLITE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/fleet/sqlite/store.h"

struct fleet_contrast;
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
	EACH_BLOCK,
	EACH_ROW,
	EACH_TRIO,
	EACH_CROWD,
	TOTALS,
	STATEMENTS,
};

struct fleet_store {
	sqlite3 *db;
	char *path;
	int copy;     /* of a foreign database, in memory; -1: it is read itself */
	bool as_user; /* files are the sudo user's until it is closed */
	sqlite3_stmt *statements[STATEMENTS];
	uint64_t turns,
		most_turns; /* of WORK_TURN instructions of SQLite's, of the statement that runs */
};

/* The name by which SQLite opens files (vfs.c); NULL: its own. */
const char *store_vfs(void);

/* The sentence for what SQLite said last. */
int store_failed(struct fleet_store *s, struct err *err);

/* Prepared once, and reset; NULL: it cannot be, and stepping NULL fails, too. */
sqlite3_stmt *store_statement(struct fleet_store *s, enum statement which);
void store_bind_text(sqlite3_stmt *st, int i, const char *text);
void store_bind_number(sqlite3_stmt *st, int i, uint64_t number);
/* Steps and resets a statement that gives no rows, or of which the first one is not looked at. */
bool store_done(sqlite3_stmt *st);
bool store_execute(struct fleet_store *s, const char *what);

/* A database of before there were trios has no table of them. */
bool store_has_trios(struct fleet_store *s);

/* Within a transaction that is the caller's. False: failed. */
bool store_add_blocks(struct fleet_store *s, const struct fleet_store_block *b, size_t n);
bool store_add_all(struct fleet_store *s, const struct fleet_rows *rows,
		   const struct fleet_store_block *blocks, size_t n);

/* Columns n, sum, squares, blocks, contrast, histogram, added to the row; kind, number, ns. False:
 * not such. */
bool store_read_row(sqlite3_stmt *st, struct tally *tally, struct fleet_contrast *contrast);
bool store_read_crowd(sqlite3_stmt *st, struct fleet_rows *rows, uint32_t stratum);
int store_damaged(const struct fleet_store *s, struct err *err);

/* The number of a name, which is added if it is new; 0: failed. */
uint32_t store_number(struct fleet_store *s, enum statement add, enum statement get,
		      const char *name, const char *more);

#endif
