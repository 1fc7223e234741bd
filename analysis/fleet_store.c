/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet_store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fleet_rows.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/fleet_file.h"

/* "ifle", so that no other program's file is taken for one. */
#define APPLICATION_ID 0x69666c65

static const char *const schema =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE apps(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE types(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE machines(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL);"
	"CREATE TABLE blocks(recording INTEGER, sequence INTEGER, machine INTEGER, start_ns INTEGER,"
	" samples INTEGER, alone INTEGER, PRIMARY KEY(recording, sequence)) WITHOUT ROWID;"
	"CREATE TABLE rows(base INTEGER, corunner INTEGER, class TEXT, type INTEGER, bucket INTEGER,"
	" n INTEGER, sum INTEGER, squares BLOB, blocks INTEGER, contrast BLOB, histogram BLOB,"
	" PRIMARY KEY(base, corunner, class, type, bucket)) WITHOUT ROWID;"
	"CREATE TABLE crowds(type INTEGER, bucket INTEGER, kind TEXT, number INTEGER, ns INTEGER,"
	" PRIMARY KEY(type, bucket, kind, number)) WITHOUT ROWID;";

static const char *const crowd_kinds[FLEET_CROWD_KINDS] = { "cpus", "apps" };

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
	MOST_TYPE,
	TOTALS,
	STATEMENTS,
};

static const char *const sql[STATEMENTS] = {
	[ADD_META] = "INSERT OR IGNORE INTO meta VALUES(?, ?)",
	[GET_META] = "SELECT value FROM meta WHERE key = ?",
	[ADD_APP] = "INSERT OR IGNORE INTO apps(name) VALUES(?)",
	[GET_APP] = "SELECT id FROM apps WHERE name = ?",
	[ADD_TYPE] = "INSERT OR IGNORE INTO types(name) VALUES(?)",
	[GET_TYPE] = "SELECT id FROM types WHERE name = ?",
	[ADD_MACHINE] = "INSERT OR IGNORE INTO machines(name, type) VALUES(?, ?)",
	[GET_MACHINE] = "SELECT id FROM machines WHERE name = ?",
	[HAS_BLOCK] = "SELECT 1 FROM blocks WHERE recording = ? AND sequence = ?",
	[ADD_BLOCK] = "INSERT INTO blocks VALUES(?, ?, ?, ?, ?, ?)",
	[GET_ROW] = "SELECT n, sum, squares, blocks, contrast, histogram FROM rows WHERE base = ?"
		    " AND corunner = ? AND class = ? AND type = ? AND bucket = ?",
	[PUT_ROW] =
		"INSERT OR REPLACE INTO rows(base, corunner, class, type, bucket, n, sum, squares,"
		" blocks, contrast, histogram) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ADD_CROWD] = "INSERT INTO crowds VALUES(?, ?, ?, ?, ?)"
		      " ON CONFLICT DO UPDATE SET ns = ns + excluded.ns",
	[LOAD_ROWS] = "SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, class"
		      " FROM rows r JOIN apps b ON b.id = r.base JOIN apps c ON c.id = r.corunner"
		      " WHERE type = ?",
	[LOAD_CROWDS] = "SELECT kind, number, sum(ns) FROM crowds WHERE type = ?"
			" GROUP BY kind, number",
	[MOST_TYPE] =
		"SELECT t.name, (SELECT count(DISTINCT type) FROM rows) FROM rows r JOIN types t"
		" ON t.id = r.type WHERE class = 'all' GROUP BY type"
		" ORDER BY sum(n) DESC, t.name LIMIT 1",
	[TOTALS] =
		"SELECT count(DISTINCT machine), count(*), sum(samples), sum(alone), min(start_ns),"
		" max(start_ns) FROM blocks",
};

struct fleet_store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *statements[STATEMENTS];
};

static int failed(struct fleet_store *s, struct err *err)
{
	int rc = sqlite3_errcode(s->db);

	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return err_set(err, -EBUSY, "%s: another process writes it; try again after that",
			       s->path);
	if (rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT)
		return err_set(err, -EBADMSG, "%s: not a sound SQLite file; name another with --db",
			       s->path);
	return err_set(err, -EIO, "%s: %s; is there room, and may it be written?", s->path,
		       sqlite3_errmsg(s->db));
}

/* ---- statements ---- */

/* NULL: it cannot be prepared; stepping NULL fails, too. */
static sqlite3_stmt *statement(struct fleet_store *s, enum statement which)
{
	sqlite3_stmt **st = &s->statements[which];

	if (!*st)
		sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
	else
		sqlite3_reset(*st);
	return *st;
}

static void bind_text(sqlite3_stmt *st, int i, const char *text)
{
	sqlite3_bind_text(st, i, text, -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *st, int i, uint64_t number)
{
	sqlite3_bind_int64(st, i, (sqlite3_int64)number);
}

/* Steps and resets a statement that gives no rows, or of which the first one is not looked at. */
static bool done(sqlite3_stmt *st)
{
	int rc = st ? sqlite3_step(st) : SQLITE_ERROR;

	if (st)
		sqlite3_reset(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

static bool execute(struct fleet_store *s, const char *what)
{
	return sqlite3_exec(s->db, what, NULL, NULL, NULL) == SQLITE_OK;
}

/* The number of a name, which is added if it is new; 0: failed. */
static uint32_t number_of(struct fleet_store *s, enum statement add, enum statement get,
			  const char *name, const char *more)
{
	uint32_t id = 0;
	sqlite3_stmt *st = statement(s, get);

	bind_text(st, 1, name);
	if (st && sqlite3_step(st) == SQLITE_ROW)
		id = (uint32_t)sqlite3_column_int64(st, 0);
	if (st)
		sqlite3_reset(st);
	if (id)
		return id;
	st = statement(s, add);
	bind_text(st, 1, name);
	if (more)
		bind_text(st, 2, more);
	return done(st) ? (uint32_t)sqlite3_last_insert_rowid(s->db) : 0;
}

/* ---- opening ---- */

static int64_t pragma(struct fleet_store *s, const char *what)
{
	sqlite3_stmt *st = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(s->db, what, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return value;
}

static int make_tables(struct fleet_store *s, bool make, struct err *err)
{
	char mark[64];

	if (pragma(s, "PRAGMA application_id") == APPLICATION_ID)
		return 0;
	if (sqlite3_errcode(s->db) == SQLITE_NOTADB || !make ||
	    pragma(s, "SELECT count(*) FROM sqlite_master"))
		return err_set(err, -EBADMSG,
			       "%s: not a fleet's database; ispot fleet reduce makes them",
			       s->path);
	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d", APPLICATION_ID);
	return execute(s, "BEGIN IMMEDIATE") && execute(s, schema) && execute(s, mark) &&
			       execute(s, "COMMIT")
		       ? 0
		       : failed(s, err);
}

int fleet_store_open(struct fleet_store **store, const char *path, bool make, struct err *err)
{
	struct fleet_store *s = xcalloc(1, sizeof(*s));
	int flags = make ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, rc;

	*store = NULL;
	s->path = xstrdup(path);
	if (!make && access(path, R_OK))
		rc = err_set(err, -errno, "%s: %s; make it with ispot fleet reduce", path,
			     strerror(errno));
	else if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
		rc = failed(s, err);
	else {
		sqlite3_busy_timeout(s->db, 10000);
		rc = make_tables(s, make, err);
	}
	if (rc)
		fleet_store_close(s);
	else
		*store = s;
	return rc;
}

void fleet_store_close(struct fleet_store *s)
{
	if (!s)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

/* ---- what is stored once ---- */

static void get_meta(struct fleet_store *s, const char *key, char *value, size_t n)
{
	sqlite3_stmt *st = statement(s, GET_META);

	*value = '\0';
	bind_text(st, 1, key);
	if (st && sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		text_printable(value, n, (const char *)sqlite3_column_text(st, 0));
	if (st)
		sqlite3_reset(st);
}

/* Stores it, or compares with what is stored. */
static int agree(struct fleet_store *s, const char *key, const char *value, struct err *err)
{
	sqlite3_stmt *st = statement(s, ADD_META);
	char stored[128];

	bind_text(st, 1, key);
	bind_text(st, 2, value);
	if (!done(st))
		return failed(s, err);
	get_meta(s, key, stored, sizeof(stored));
	if (strcmp(stored, value))
		return err_set(err, -EINVAL,
			       "%s has %s %s, and not %s; reduce into another database with --db",
			       s->path, key, stored, value);
	return 0;
}

int fleet_store_begin(struct fleet_store *s, const struct fleet_store_meta *meta, struct err *err)
{
	char bucket[32];
	int rc;

	snprintf(bucket, sizeof(bucket), "%llu", (unsigned long long)meta->bucket_ns);
	rc = agree(s, "indicator", meta->indicator, err);
	rc = rc ? rc : agree(s, "unit", meta->unit, err);
	rc = rc ? rc : agree(s, "better", meta->higher_is_better ? "higher" : "lower", err);
	rc = rc ? rc : agree(s, "by", meta->by, err);
	return rc ? rc : agree(s, "bucket_ns", bucket, err);
}

int fleet_store_machine(struct fleet_store *s, const struct fleet_header *h, uint32_t *machine,
			struct err *err)
{
	*machine = number_of(s, ADD_MACHINE, GET_MACHINE, h->machine, h->type);
	return *machine ? 0 : failed(s, err);
}

bool fleet_store_has(struct fleet_store *s, uint64_t recording, uint64_t sequence)
{
	sqlite3_stmt *st = statement(s, HAS_BLOCK);
	bool has;

	bind_number(st, 1, recording);
	bind_number(st, 2, sequence);
	has = st && sqlite3_step(st) == SQLITE_ROW;
	if (st)
		sqlite3_reset(st);
	return has;
}

/* ---- rows ---- */

static void add_wide(struct text *out, tally_u128 value)
{
	for (int shift = 120; shift >= 0; shift -= 8) {
		char byte = (char)(uint8_t)(value >> shift);

		text_addn(out, &byte, 1);
	}
}

static tally_u128 wide_at(const uint8_t *p)
{
	tally_u128 value = 0;

	for (int i = 0; i < 16; i++)
		value = value << 8 | p[i];
	return value;
}

static void pack_contrast(const struct fleet_contrast *c, struct text *out)
{
	add_wide(out, (tally_u128)c->w);
	add_wide(out, (tally_u128)c->wd);
	add_wide(out, (tally_u128)c->w2);
	add_wide(out, (tally_u128)c->wd_w);
	add_wide(out, (tally_u128)c->wd2);
}

static void read_contrast(struct fleet_contrast *c, const uint8_t *p)
{
	c->w = (fleet_i128)wide_at(p);
	c->wd = (fleet_i128)wide_at(p + 16);
	c->w2 = (fleet_i128)wide_at(p + 32);
	c->wd_w = (fleet_i128)wide_at(p + 48);
	c->wd2 = (fleet_i128)wide_at(p + 64);
}

/* Columns n, sum, squares, blocks, contrast, histogram, added to the row. False: not such. */
static bool read_row(sqlite3_stmt *st, struct tally *tally, struct fleet_contrast *contrast)
{
	struct fleet_contrast more = { .blocks = (uint64_t)sqlite3_column_int64(st, 3) };
	uint64_t n = tally->n + (uint64_t)sqlite3_column_int64(st, 0);

	if (sqlite3_column_bytes(st, 2) != 16 || sqlite3_column_bytes(st, 4) != 80 ||
	    tally_unpack(tally, sqlite3_column_blob(st, 5), (size_t)sqlite3_column_bytes(st, 5)) ||
	    tally->n != n)
		return false;
	tally->sum += (uint64_t)sqlite3_column_int64(st, 1);
	tally->squares += wide_at(sqlite3_column_blob(st, 2));
	read_contrast(&more, sqlite3_column_blob(st, 4));
	fleet_contrast_merge(contrast, &more);
	return true;
}

static void bind_key(sqlite3_stmt *st, const struct fleet_row *row, const uint32_t *apps,
		     uint32_t type, uint64_t bucket)
{
	bind_number(st, 1, apps[row->base]);
	bind_number(st, 2, apps[row->corunner]);
	sqlite3_bind_text(st, 3, corunner_class_names[row->class], -1, SQLITE_STATIC);
	bind_number(st, 4, type);
	bind_number(st, 5, bucket);
}

static void bind_blob(sqlite3_stmt *st, int i, const struct text *bytes)
{
	sqlite3_bind_blob(st, i, bytes->n ? bytes->s : "", (int)bytes->n, SQLITE_TRANSIENT);
}

static bool write_row(sqlite3_stmt *st, const struct tally *tally,
		      const struct fleet_contrast *contrast)
{
	struct text squares = { 0 }, sums = { 0 }, histogram = { 0 };
	bool written;

	add_wide(&squares, tally->squares);
	pack_contrast(contrast, &sums);
	tally_pack(tally, &histogram);
	bind_number(st, 6, tally->n);
	bind_number(st, 7, tally->sum);
	bind_blob(st, 8, &squares);
	bind_number(st, 9, contrast->blocks);
	bind_blob(st, 10, &sums);
	bind_blob(st, 11, &histogram);
	written = done(st);
	text_release(&squares);
	text_release(&sums);
	text_release(&histogram);
	return written;
}

/* What is stored and what comes, together. */
static bool add_row(struct fleet_store *s, const struct fleet_row *row, const uint32_t *apps,
		    uint32_t type, uint64_t bucket)
{
	struct fleet_contrast contrast = row->contrast;
	sqlite3_stmt *st = statement(s, GET_ROW);
	struct tally sum = { 0 };
	bool sound = true;

	tally_merge(&sum, &row->tally);
	bind_key(st, row, apps, type, bucket);
	if (st && sqlite3_step(st) == SQLITE_ROW)
		sound = read_row(st, &sum, &contrast);
	if (st)
		sqlite3_reset(st);
	st = statement(s, PUT_ROW);
	if (sound && st) {
		bind_key(st, row, apps, type, bucket);
		sound = write_row(st, &sum, &contrast);
	}
	tally_release(&sum);
	return sound && st;
}

static uint32_t *number_all(struct fleet_store *s, const struct strtab *names, enum statement add,
			    enum statement get)
{
	uint32_t *numbers = xcalloc(names->n + 1, sizeof(*numbers));

	for (uint32_t i = 0; i < names->n; i++)
		numbers[i] = number_of(s, add, get, names->strings[i], NULL);
	return numbers;
}

static bool add_blocks(struct fleet_store *s, const struct fleet_store_block *b, size_t n)
{
	bool added = true;

	for (; added && n; n--, b++) {
		sqlite3_stmt *st = statement(s, ADD_BLOCK);

		bind_number(st, 1, b->recording);
		bind_number(st, 2, b->sequence);
		bind_number(st, 3, b->machine);
		bind_number(st, 4, b->start_ns);
		bind_number(st, 5, b->samples);
		bind_number(st, 6, b->alone);
		added = done(st);
	}
	return added;
}

static bool add_crowds(struct fleet_store *s, const struct fleet_rows *rows, const uint32_t *types)
{
	bool added = true;

	vec_for_each (&rows->crowds, const struct fleet_crowd, c) {
		const struct fleet_stratum *stratum = &rows->strata.data[c->stratum];
		sqlite3_stmt *st = statement(s, ADD_CROWD);

		bind_number(st, 1, types[stratum->type]);
		bind_number(st, 2, stratum->bucket);
		bind_text(st, 3, crowd_kinds[c->kind]);
		bind_number(st, 4, c->number);
		bind_number(st, 5, c->ns);
		added = added && done(st);
	}
	return added;
}

static bool add_all(struct fleet_store *s, const struct fleet_rows *rows,
		    const struct fleet_store_block *blocks, size_t n)
{
	uint32_t *apps = number_all(s, &rows->apps, ADD_APP, GET_APP);
	uint32_t *types = number_all(s, &rows->types, ADD_TYPE, GET_TYPE);
	bool added = add_blocks(s, blocks, n) && add_crowds(s, rows, types);

	vec_for_each (&rows->rows, const struct fleet_row, row) {
		const struct fleet_stratum *stratum = &rows->strata.data[row->stratum];

		added = added && add_row(s, row, apps, types[stratum->type], stratum->bucket);
	}
	free(apps);
	free(types);
	return added;
}

int fleet_store_add(struct fleet_store *s, const struct fleet_rows *rows,
		    const struct fleet_store_block *blocks, size_t n, struct err *err)
{
	int rc;

	if (execute(s, "BEGIN IMMEDIATE") && add_all(s, rows, blocks, n) && execute(s, "COMMIT"))
		return 0;
	rc = failed(s, err);
	execute(s, "ROLLBACK");
	return rc;
}

/* ---- reading ---- */

static enum corunner_class class_of(const char *name)
{
	for (int i = 0; i < CORUNNER_CLASSES; i++)
		if (name && !strcmp(corunner_class_names[i], name))
			return i;
	return CORUNNER_CLASSES;
}

static int load_rows(struct fleet_store *s, uint32_t type, struct fleet_rows *rows, struct err *err)
{
	sqlite3_stmt *st = statement(s, LOAD_ROWS);
	uint32_t stratum = fleet_rows_stratum(rows, 0, 0);
	int step;

	bind_number(st, 1, type);
	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint32_t base = strtab_add(&rows->apps, (const char *)sqlite3_column_text(st, 6));
		uint32_t co = strtab_add(&rows->apps, (const char *)sqlite3_column_text(st, 7));
		enum corunner_class class = class_of((const char *)sqlite3_column_text(st, 8));
		struct fleet_row *row = class == CORUNNER_CLASSES
						? NULL
						: fleet_rows_get(rows, base, co, class, stratum);

		if (!row || !read_row(st, &row->tally, &row->contrast))
			return err_set(err, -EBADMSG, "%s: a row is damaged; reduce again",
				       s->path);
	}
	return step == SQLITE_DONE ? 0 : failed(s, err);
}

static int load_crowds(struct fleet_store *s, uint32_t type, struct fleet_rows *rows,
		       struct err *err)
{
	sqlite3_stmt *st = statement(s, LOAD_CROWDS);
	int step;

	bind_number(st, 1, type);
	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		const char *kind = (const char *)sqlite3_column_text(st, 0);

		fleet_rows_crowd(rows, 0, kind && !strcmp(kind, crowd_kinds[FLEET_APPS]),
				 (uint32_t)sqlite3_column_int64(st, 1),
				 (uint64_t)sqlite3_column_int64(st, 2));
	}
	return step == SQLITE_DONE ? 0 : failed(s, err);
}

int fleet_store_load(struct fleet_store *s, const char *type, struct fleet_rows *rows,
		     unsigned *others, struct err *err)
{
	sqlite3_stmt *st = statement(s, MOST_TYPE);
	char name[128] = "";
	uint32_t id;
	int rc;

	*others = 0;
	if (st && sqlite3_step(st) == SQLITE_ROW) {
		snprintf(name, sizeof(name), "%s", (const char *)sqlite3_column_text(st, 0));
		*others = (unsigned)sqlite3_column_int64(st, 1) - 1;
	}
	if (st)
		sqlite3_reset(st);
	if (type)
		snprintf(name, sizeof(name), "%s", type);
	st = statement(s, GET_TYPE);
	bind_text(st, 1, name);
	if (!st || sqlite3_step(st) != SQLITE_ROW)
		return err_set(err, -ENODATA,
			       type ? "%s has no machine type %s; SELECT name FROM types lists them"
				    : "%s has no samples%s; add some with ispot fleet reduce",
			       s->path, name);
	id = (uint32_t)sqlite3_column_int64(st, 0);
	strtab_add(&rows->types, name);
	rc = load_rows(s, id, rows, err);
	return rc ? rc : load_crowds(s, id, rows, err);
}

int fleet_store_meta(struct fleet_store *s, struct fleet_store_meta *meta,
		     struct fleet_store_totals *totals, struct err *err)
{
	sqlite3_stmt *st = statement(s, TOTALS);
	char text[64];

	get_meta(s, "indicator", meta->indicator, sizeof(meta->indicator));
	get_meta(s, "unit", meta->unit, sizeof(meta->unit));
	get_meta(s, "by", meta->by, sizeof(meta->by));
	get_meta(s, "better", text, sizeof(text));
	meta->higher_is_better = !strcmp(text, "higher");
	get_meta(s, "bucket_ns", text, sizeof(text));
	meta->bucket_ns = strtoull(text, NULL, 10);
	if (!st || sqlite3_step(st) != SQLITE_ROW)
		return failed(s, err);
	totals->machines = (uint64_t)sqlite3_column_int64(st, 0);
	totals->blocks = (uint64_t)sqlite3_column_int64(st, 1);
	totals->samples = (uint64_t)sqlite3_column_int64(st, 2);
	totals->alone = (uint64_t)sqlite3_column_int64(st, 3);
	totals->from_ns = (uint64_t)sqlite3_column_int64(st, 4);
	totals->to_ns = (uint64_t)sqlite3_column_int64(st, 5);
	return 0;
}
