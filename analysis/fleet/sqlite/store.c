/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/sqlite/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/fleet/rows.h"
#include "analysis/fleet/sqlite/rows.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/identity.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/place.h"
#include "base/regular.h"
#include "base/text.h"
#include "trace/fleet/file.h"

/* "ifle"; distinguishes the file from those of other programs. */
#define APPLICATION_ID 0x69666c65

/*
 * Limit of a statement's cost in instructions of SQLite's virtual machine: a constant, and an
 * amount for each byte of the file. Adding a row takes about 50 instructions; a row has over 100
 * bytes.
 */
#define WORK_TURN     100000
#define WORK_LEAST    100000000ull
#define WORK_PER_BYTE 20
#define HEAP_MOST     (1ll << 30)
#define COPY_SHARE    4 /* a copy of a foreign database may use 1 / COPY_SHARE of the memory */

/* The definitions of the tables, as in sqlite_master. A file with other definitions is refused. */
static const char *const tables[] = {
	"TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
	"TABLE apps(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
	"TABLE types(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
	"TABLE machines(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL)",
	"TABLE blocks(recording INTEGER, sequence INTEGER, machine INTEGER, start_ns INTEGER,"
	" samples INTEGER, alone INTEGER, PRIMARY KEY(recording, sequence)) WITHOUT ROWID",
	"TABLE rows(base INTEGER, corunner INTEGER, class TEXT, type INTEGER, bucket INTEGER,"
	" n INTEGER, sum INTEGER, squares BLOB, blocks INTEGER, contrast BLOB, histogram BLOB,"
	" PRIMARY KEY(base, corunner, class, type, bucket)) WITHOUT ROWID",
	"TABLE crowds(type INTEGER, bucket INTEGER, kind TEXT, number INTEGER, ns INTEGER,"
	" PRIMARY KEY(type, bucket, kind, number)) WITHOUT ROWID",
	/* Added later: older databases do not have the tables of trios. */
	"TABLE trio_bases(name TEXT PRIMARY KEY) WITHOUT ROWID",
	"TABLE trios(base INTEGER, corunner INTEGER, second INTEGER,"
	" type INTEGER, bucket INTEGER, n INTEGER, sum INTEGER, squares BLOB, blocks INTEGER,"
	" contrast BLOB, histogram BLOB, PRIMARY KEY(base, corunner, second, type, bucket))"
	" WITHOUT ROWID",
	/* Added later: the tables of indicators beyond the first, which are made when there is one.
	 */
	"TABLE indicators(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,"
	" better TEXT NOT NULL)",
	"TABLE indicator_blocks(recording INTEGER, sequence INTEGER, indicator INTEGER,"
	" samples INTEGER, alone INTEGER, PRIMARY KEY(recording, sequence, indicator))"
	" WITHOUT ROWID",
	"TABLE indicator_rows(base INTEGER, corunner INTEGER, class TEXT, type INTEGER,"
	" bucket INTEGER, n INTEGER, sum INTEGER, squares BLOB, blocks INTEGER, contrast BLOB,"
	" histogram BLOB, indicator INTEGER,"
	" PRIMARY KEY(indicator, base, corunner, class, type, bucket)) WITHOUT ROWID",
	"TABLE matches(base INTEGER, corunner INTEGER, class TEXT, type INTEGER, bucket INTEGER,"
	" indicator INTEGER, other INTEGER, blocks INTEGER, sums BLOB,"
	" PRIMARY KEY(indicator, other, base, corunner, class, type, bucket)) WITHOUT ROWID",
};

#define TABLES		 (sizeof(tables) / sizeof(tables[0]))
#define TRIO_TABLES	 (TABLES - 6) /* index of the first table of trios */
#define INDICATOR_TABLES (TABLES - 4) /* of the first of several indicators */

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
	[LOAD_ROWS] =
		"SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, class,"
		" bucket % ?2 / ?3 FROM rows r JOIN apps b ON b.id = r.base"
		" JOIN apps c ON c.id = r.corunner WHERE type = ?1",
	[LOAD_CROWDS] = "SELECT kind, number, sum(ns), bucket % ?2 / ?3 AS phase FROM crowds"
			" WHERE type = ?1 GROUP BY kind, number, phase",
	[GET_TRIO] = "SELECT n, sum, squares, blocks, contrast, histogram FROM trios WHERE base = ?"
		     " AND corunner = ? AND second = ? AND type = ? AND bucket = ?",
	[PUT_TRIO] =
		"INSERT OR REPLACE INTO trios(base, corunner, second, type, bucket, n, sum, squares,"
		" blocks, contrast, histogram) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[LOAD_TRIOS] =
		"SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, s.name,"
		" bucket % ?2 / ?3 FROM trios r JOIN apps b ON b.id = r.base JOIN apps c ON c.id = r.corunner"
		" JOIN apps s ON s.id = r.second WHERE type = ?1",
	[ADD_TRIO_BASE] = "INSERT OR IGNORE INTO trio_bases VALUES(?)",
	[LOAD_TRIO_BASES] = "SELECT name FROM trio_bases ORDER BY name",
	[ANY_BLOCK] = "SELECT 1 FROM blocks LIMIT 1",
	[MOST_TYPE] =
		"SELECT t.name, (SELECT count(DISTINCT type) FROM rows) FROM rows r JOIN types t"
		" ON t.id = r.type WHERE class = 'all' GROUP BY type"
		" ORDER BY sum(n) DESC, t.name LIMIT 1",
	[MOST_TYPE_OF] =
		"SELECT t.name, (SELECT count(DISTINCT type) FROM indicator_rows WHERE indicator = ?1)"
		" FROM indicator_rows r JOIN types t ON t.id = r.type WHERE indicator = ?1"
		" AND class = 'all' GROUP BY type ORDER BY sum(n) DESC, t.name LIMIT 1",
	[EACH_BLOCK] =
		"SELECT recording, sequence, m.name, m.type, start_ns, samples, alone FROM blocks b"
		" JOIN machines m ON m.id = b.machine ORDER BY recording, sequence",
	[EACH_ROW] = "SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, class,"
		     " t.name, bucket FROM rows r JOIN apps b ON b.id = r.base"
		     " JOIN apps c ON c.id = r.corunner JOIN types t ON t.id = r.type",
	[EACH_TRIO] = "SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name,"
		      " s.name, t.name, bucket FROM trios r JOIN apps b ON b.id = r.base"
		      " JOIN apps c ON c.id = r.corunner JOIN apps s ON s.id = r.second"
		      " JOIN types t ON t.id = r.type",
	[EACH_CROWD] = "SELECT kind, number, ns, t.name, bucket FROM crowds r"
		       " JOIN types t ON t.id = r.type",
	[TOTALS] =
		"SELECT count(DISTINCT machine), count(*), sum(samples), sum(alone), min(start_ns),"
		" max(start_ns) FROM blocks",
	[ADD_INDICATOR] = "INSERT INTO indicators(id, name, unit, better) VALUES(?, ?, ?, ?)",
	[EACH_INDICATOR] = "SELECT id, name, unit, better FROM indicators ORDER BY id",
	[ADD_COUNT] = "INSERT INTO indicator_blocks VALUES(?, ?, ?, ?, ?)",
	[TOTALS_OF] = "SELECT count(DISTINCT machine), count(*), sum(i.samples), sum(i.alone),"
		      " min(start_ns), max(start_ns) FROM indicator_blocks i JOIN blocks b"
		      " ON b.recording = i.recording AND b.sequence = i.sequence"
		      " WHERE i.indicator = ?",
	[EACH_COUNT] = "SELECT indicator, samples, alone FROM indicator_blocks"
		       " WHERE recording = ? AND sequence = ?",
	[GET_ROW_OF] = "SELECT n, sum, squares, blocks, contrast, histogram FROM indicator_rows"
		       " WHERE base = ? AND corunner = ? AND class = ? AND type = ? AND bucket = ?"
		       " AND indicator = ?12",
	[PUT_ROW_OF] = "INSERT OR REPLACE INTO indicator_rows"
		       " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[LOAD_ROWS_OF] =
		"SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, class,"
		" bucket % ?2 / ?3 FROM indicator_rows r JOIN apps b ON b.id = r.base"
		" JOIN apps c ON c.id = r.corunner WHERE type = ?1 AND indicator = ?4",
	[EACH_ROW_OF] =
		"SELECT n, sum, squares, r.blocks, contrast, histogram, b.name, c.name, class,"
		" t.name, bucket, indicator FROM indicator_rows r JOIN apps b ON b.id = r.base"
		" JOIN apps c ON c.id = r.corunner JOIN types t ON t.id = r.type",
	[GET_MATCH] = "SELECT blocks, sums FROM matches WHERE base = ? AND corunner = ?"
		      " AND class = ? AND type = ? AND bucket = ? AND indicator = ? AND other = ?",
	[PUT_MATCH] = "INSERT OR REPLACE INTO matches VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[LOAD_MATCHES] = "SELECT m.blocks, sums, b.name, c.name, class FROM matches m"
			 " JOIN apps b ON b.id = m.base JOIN apps c ON c.id = m.corunner"
			 " WHERE type = ?1 AND indicator = ?2 AND other = ?3",
	[EACH_MATCH] = "SELECT m.blocks, sums, b.name, c.name, class, t.name, bucket, indicator,"
		       " other FROM matches m JOIN apps b ON b.id = m.base JOIN apps c"
		       " ON c.id = m.corunner JOIN types t ON t.id = m.type",
};

int store_failed(struct fleet_store *s, struct err *err)
{
	int rc = sqlite3_errcode(s->db);

	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return err_set(err, -EBUSY,
			       "%s: another process has it in use; try again after that", s->path);
	if (rc == SQLITE_INTERRUPT)
		return err_set(
			err, -EBADMSG,
			"%s: reading it takes longer than what a fleet's database of its size "
			"can hold; name another with --db",
			s->path);
	if (rc == SQLITE_CANTOPEN)
		return err_set(err, -EPERM,
			       "%s: a journal is beside it that somebody else has made, or that is "
			       "of other databases, too; remove %s-journal, or name another with "
			       "--db",
			       s->path, s->path);
	if (rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT)
		return err_set(err, -EBADMSG, "%s: not a sound SQLite file; name another with --db",
			       s->path);
	return err_set(err, -EIO, "%s: %s; is there room, and may it be written?", s->path,
		       sqlite3_errmsg(s->db));
}

/* ---- statements ---- */

sqlite3_stmt *store_statement(struct fleet_store *s, enum statement which)
{
	sqlite3_stmt **st = &s->statements[which];

	s->turns = 0;
	if (!*st)
		sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
	else
		sqlite3_reset(*st);
	return *st;
}

void store_bind_text(sqlite3_stmt *st, int i, const char *text)
{
	sqlite3_bind_text(st, i, text, -1, SQLITE_TRANSIENT);
}

void store_bind_number(sqlite3_stmt *st, int i, uint64_t number)
{
	sqlite3_bind_int64(st, i, (sqlite3_int64)number);
}

bool store_done(sqlite3_stmt *st)
{
	int rc = st ? sqlite3_step(st) : SQLITE_ERROR;

	if (st)
		sqlite3_reset(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

bool store_execute(struct fleet_store *s, const char *what)
{
	return sqlite3_exec(s->db, what, NULL, NULL, NULL) == SQLITE_OK;
}

uint32_t store_number(struct fleet_store *s, enum statement add, enum statement get,
		      const char *name, const char *more)
{
	uint32_t id = 0;
	sqlite3_stmt *st = store_statement(s, get);

	store_bind_text(st, 1, name);
	if (st && sqlite3_step(st) == SQLITE_ROW)
		id = (uint32_t)sqlite3_column_int64(st, 0);
	if (st)
		sqlite3_reset(st);
	if (id)
		return id;
	st = store_statement(s, add);
	store_bind_text(st, 1, name);
	if (more)
		store_bind_text(st, 2, more);
	return store_done(st) ? (uint32_t)sqlite3_last_insert_rowid(s->db) : 0;
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

static bool has_table(struct fleet_store *s, const char *definition)
{
	static const char count[] = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND"
				    " sql = 'CREATE ' || ?";
	sqlite3_stmt *st = NULL;
	bool has;

	sqlite3_prepare_v2(s->db, count, -1, &st, NULL);
	store_bind_text(st, 1, definition);
	has = st && sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int64(st, 0) == 1;
	sqlite3_finalize(st);
	return has;
}

static bool create_tables(struct fleet_store *s, size_t from, size_t end)
{
	bool done = true;

	for (size_t i = from; i < end && done; i++) {
		char *create = xasprintf("CREATE %s", tables[i]);

		done = (from && has_table(s, tables[i])) || store_execute(s, create);
		free(create);
	}
	return done;
}

static int make_tables(struct fleet_store *s, bool make, struct err *err)
{
	char mark[64];

	if (pragma(s, "PRAGMA application_id") == APPLICATION_ID)
		return !make || create_tables(s, TRIO_TABLES, INDICATOR_TABLES)
			       ? 0
			       : store_failed(s, err);
	if (sqlite3_errcode(s->db) == SQLITE_CANTOPEN)
		return store_failed(s, err);
	if (sqlite3_errcode(s->db) == SQLITE_NOTADB || !make ||
	    pragma(s, "SELECT count(*) FROM sqlite_master"))
		return err_set(err, -EBADMSG,
			       "%s: not a fleet's database; ispot fleet reduce makes them",
			       s->path);
	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d", APPLICATION_ID);
	return store_execute(s, "BEGIN IMMEDIATE") && create_tables(s, 0, INDICATOR_TABLES) &&
			       store_execute(s, mark) && store_execute(s, "COMMIT")
		       ? 0
		       : store_failed(s, err);
}

/* Restricts what SQLite does with the file, which may come from anyone: it may contain rows, but
 * nothing that is executed. */
static bool distrust(struct fleet_store *s)
{
	static const int switches[][2] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 },
					   { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
					   { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
					   { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 } };
	static const int limits[][2] = { { SQLITE_LIMIT_LENGTH, 16 << 20 },
					 { SQLITE_LIMIT_ATTACHED, 0 },
					 { SQLITE_LIMIT_EXPR_DEPTH, 50 },
					 { SQLITE_LIMIT_COMPOUND_SELECT, 10 } };
	bool done = store_execute(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");

	sqlite3_hard_heap_limit64(HEAP_MOST);
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		done &= sqlite3_db_config(s->db, switches[i][0], switches[i][1], NULL) == SQLITE_OK;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(s->db, limits[i][0], limits[i][1]);
	return done;
}

/* Called every WORK_TURN instructions. Ends statements that run too long, because tables of a
 * crafted file may refer to each other in circles, or to the same page many times. */
static int count_turn(void *store)
{
	struct fleet_store *s = store;

	return ++s->turns > s->most_turns;
}

static void bound_work(struct fleet_store *s)
{
	struct stat st;
	uint64_t bytes = stat(s->path, &st) ? 0 : (uint64_t)st.st_size;

	s->most_turns = (WORK_LEAST + WORK_PER_BYTE * bytes) / WORK_TURN;
	sqlite3_progress_handler(s->db, WORK_TURN, count_turn, s);
}

/*
 * Checks that the tables have exactly the definitions of ispot's, and that there is nothing else:
 * no views, no triggers, and no indices except those that the definitions imply, which SQLite fills
 * itself.
 */
static int check_tables(struct fleet_store *s, struct err *err)
{
	int64_t known = 0;

	for (size_t i = 0; i < TABLES; i++)
		if (has_table(s, tables[i]))
			known++;
		else if (i < TRIO_TABLES)
			known = INT64_MIN;
	if (known > 0 &&
	    pragma(s, "SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL") == known)
		return 0;
	return err_set(err, -EBADMSG,
		       "%s: its tables are not those of a fleet; make it with ispot "
		       "fleet reduce",
		       s->path);
}

/* ---- the owner of the database ---- */

static int refuse_place(const char *path, struct err *err)
{
	return err_set(err, -EPERM,
		       "others may write where %s is: root makes no database there; name one in a "
		       "directory of root's with --db, or run ispot as that user",
		       path);
}

/*
 * Refuses databases of other users for root. SQLite creates journals next to a database, opens them
 * by name, and gives them to the database's owner. Root may let it do so only in a place where
 * nobody else can create files.
 */
static int refuse_foreign(const char *path, struct err *err)
{
	struct stat st;

	if (!stat(path, &st) && !output_owner_is_trusted(st.st_uid))
		return err_set(
			err, -EPERM,
			"%s belongs to another user; run ispot as that user, or name another "
			"database with --db",
			path);
	return place_is_safe(path, 0) ? 0 : refuse_place(path, err);
}

/* Whether the user as whom files are opened now may write the path. */
static bool may_write(const char *path)
{
	char *copy = xstrdup(path);
	bool there = !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS);
	int rc = faccessat(AT_FDCWD, there ? path : dirname(copy), there ? W_OK : W_OK | X_OK,
			   AT_EACCESS);

	free(copy);
	return !rc;
}

/* Creates an empty file as ispot creates all files. SQLite takes it for a new database. */
static int make_file(const char *path, struct err *err)
{
	struct output file;
	int rc = output_open(&file, path, err);

	return rc ? rc : output_close(&file, err);
}

/* Prepares writing. Under sudo, the database is accessed as the user until it is closed. *name: the
 * path; for root, it contains no links. */
static int begin_writing(struct fleet_store *s, char **name, struct err *err)
{
	bool exists = !access(s->path, F_OK), as_root;
	struct identity user;
	int rc;

	if (identity_of_sudo(&user) && !identity_files_as(&user)) {
		s->as_user = may_write(s->path);
		identity_files_back();
	}
	as_root = !s->as_user && !geteuid();
	rc = exists ? output_try(s->path, err) : 0;
	if (!rc && as_root)
		rc = refuse_foreign(s->path, err);
	if (!rc && !exists)
		rc = make_file(s->path, err);
	if (!rc && as_root && !(*name = realpath(s->path, NULL)))
		rc = err_set(err, -errno, "%s: %s; name another with --db", s->path,
			     strerror(errno));
	else if (!rc && as_root &&
		 !place_is_fixed(*name, 0)) /* a link in the path has changed meanwhile */
		rc = refuse_place(s->path, err);
	if (!*name)
		*name = xstrdup(s->path);
	if (s->as_user && identity_files_as(&user)) {
		s->as_user = false;
		rc = err_set(err, -EPERM, "cannot act as user %u; run as root itself, without sudo",
			     (unsigned)user.uid);
	}
	return rc;
}

/* Copies a foreign database into memory, where nobody can change it or add files next to it. A
 * journal next to the original is not applied. */
static int copy_foreign(struct fleet_store *s, char **name, struct err *err)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	int fd = regular_open(s->path, &st), rc;

	if (fd < 0)
		rc = fd;
	else if ((uint64_t)st.st_size > memory / COPY_SHARE)
		rc = -EFBIG;
	else
		rc = regular_copy(fd, st.st_size, "ispot-fleet");
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return err_set(err, rc, "cannot read %s: %s; name another with --db", s->path,
			       strerror(-rc));
	s->copy = rc;
	*name = xasprintf("file:/proc/self/fd/%d?immutable=1", s->copy);
	return 0;
}

/* Prepares opening. *name: the name for SQLite, freed by the caller. */
static int prepare(struct fleet_store *s, bool make, char **name, struct err *err)
{
	*name = NULL;
	if (make)
		return begin_writing(s, name, err);
	*name = access(s->path, R_OK) ? NULL : realpath(s->path, NULL);
	if (!*name && errno == EACCES)
		return err_set(err, -EACCES,
			       "%s: %s; run the command with sudo, or as the user who owns it",
			       s->path, strerror(EACCES));
	if (!*name)
		return err_set(err, -errno, "%s: %s; make it with ispot fleet reduce", s->path,
			       strerror(errno));
	/* SQLite opens the path that was checked, because a link in the user's path may have
	 * changed. */
	if (geteuid() || place_is_fixed(*name, 0))
		return 0;
	free(*name);
	*name = NULL;
	return copy_foreign(s, name, err);
}

int fleet_store_open(struct fleet_store **store, const char *path, bool make, struct err *err)
{
	struct fleet_store *s = xcalloc(1, sizeof(*s));
	int flags = make ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, rc;
	char *name;

	*store = NULL;
	s->path = xstrdup(path);
	s->copy = -1;
	rc = prepare(s, make, &name, err);
	if (!rc && (sqlite3_open_v2(name, &s->db, flags | (s->copy >= 0 ? SQLITE_OPEN_URI : 0),
				    store_vfs()) != SQLITE_OK ||
		    !distrust(s)))
		rc = store_failed(s, err);
	free(name);
	if (!rc) {
		sqlite3_busy_timeout(s->db, 10000);
		bound_work(s);
		rc = make_tables(s, make, err);
	}
	if (!rc)
		rc = check_tables(s, err);
	if (!rc && !make && !store_execute(s, "BEGIN")) /* everything is read as of one moment */
		rc = store_failed(s, err);
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
	if (s->copy >= 0)
		close(s->copy);
	if (s->as_user)
		identity_files_back();
	free(s->path);
	free(s);
}

/* ---- meta ---- */

static void get_meta(struct fleet_store *s, const char *key, char *value, size_t n)
{
	sqlite3_stmt *st = store_statement(s, GET_META);

	*value = '\0';
	store_bind_text(st, 1, key);
	if (st && sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		text_printable(value, n, (const char *)sqlite3_column_text(st, 0));
	if (st)
		sqlite3_reset(st);
}

/* Stores a value, or compares it with the stored one. */
static int agree(struct fleet_store *s, const char *key, const char *value, struct err *err)
{
	sqlite3_stmt *st = store_statement(s, ADD_META);
	char stored[128];

	store_bind_text(st, 1, key);
	store_bind_text(st, 2, value);
	if (!store_done(st))
		return store_failed(s, err);
	get_meta(s, key, stored, sizeof(stored));
	if (strcmp(stored, value))
		return err_set(err, -EINVAL,
			       "%s has %s %s, and not %s; reduce into another database with --db",
			       s->path, key, stored, value);
	return 0;
}

void fleet_store_meta_of(const struct fleet_header *h, uint32_t indicator, uint64_t bucket_ns,
			 struct fleet_store_meta *meta)
{
	const struct fleet_indicator of = fleet_header_indicator(h, indicator);

	memset(meta, 0, sizeof(*meta)); /* metas are compared as bytes */
	meta->higher_is_better = of.higher_is_better;
	meta->bucket_ns = bucket_ns;
	snprintf(meta->indicator, sizeof(meta->indicator), "%s", of.name);
	snprintf(meta->unit, sizeof(meta->unit), "%s", of.unit);
	snprintf(meta->by, sizeof(meta->by), "%s", h->by);
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

/* ---- applications whose trios are kept ---- */

bool store_has_trios(struct fleet_store *s)
{
	return pragma(s, "SELECT count(*) FROM sqlite_master WHERE name = 'trios'") == 1;
}

void fleet_store_trio_bases(struct fleet_store *s, struct strtab *names)
{
	sqlite3_stmt *st = store_has_trios(s) ? store_statement(s, LOAD_TRIO_BASES) : NULL;
	char name[256];

	while (st && sqlite3_step(st) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		strtab_add(names, text_printable(name, sizeof(name), text ? text : ""));
	}
	if (st)
		sqlite3_reset(st);
}

static bool has_any_block(struct fleet_store *s)
{
	sqlite3_stmt *st = store_statement(s, ANY_BLOCK);
	bool has = st && sqlite3_step(st) == SQLITE_ROW;

	if (st)
		sqlite3_reset(st);
	return has;
}

bool fleet_store_same_names(const struct strtab *a, const struct strtab *b)
{
	bool same = a->n == b->n;

	for (uint32_t i = 0; same && i < a->n; i++)
		same = strtab_find(b, a->strings[i]) != MAP_NONE;
	return same;
}

/* ---- indicators beyond the first ---- */

static const char *column(sqlite3_stmt *st, int i, char *printable, size_t n)
{
	const char *text = (const char *)sqlite3_column_text(st, i);

	return text_printable(printable, n, text ? text : "");
}

bool store_has_indicators(struct fleet_store *s)
{
	return pragma(s, "SELECT count(*) FROM sqlite_master WHERE name = 'indicators'") == 1;
}

int fleet_store_indicators(struct fleet_store *s, struct fleet_store_indicators *all,
			   struct err *err)
{
	sqlite3_stmt *st;
	char better[16];
	int step, rc = 0;

	memset(all, 0, sizeof(*all));
	if (!store_has_indicators(s))
		return 0;
	st = store_statement(s, EACH_INDICATOR);
	if (!st)
		return store_failed(s, err);
	for (; (step = sqlite3_step(st)) == SQLITE_ROW; all->n++) {
		struct fleet_indicator *i = &all->of[all->n];

		if (all->n == FLEET_INDICATORS - 1 || sqlite3_column_int64(st, 0) != all->n + 1)
			break;
		column(st, 1, i->name, sizeof(i->name));
		column(st, 2, i->unit, sizeof(i->unit));
		i->higher_is_better = !strcmp(column(st, 3, better, sizeof(better)), "higher");
	}
	if (step != SQLITE_DONE)
		rc = step == SQLITE_ROW ? store_damaged(s, err) : store_failed(s, err);
	sqlite3_reset(st);
	return rc;
}

static int add_indicator(struct fleet_store *s, const struct fleet_indicator *i, uint32_t id,
			 struct err *err)
{
	sqlite3_stmt *st;

	if (id == FLEET_INDICATORS)
		return err_set(err, -EINVAL,
			       "%s has %d indicators already, and none that is %s; reduce into "
			       "another database with --db",
			       s->path, FLEET_INDICATORS, i->name);
	if (!create_tables(s, INDICATOR_TABLES, TABLES))
		return store_failed(s, err);
	st = store_statement(s, ADD_INDICATOR);
	store_bind_number(st, 1, id);
	store_bind_text(st, 2, i->name);
	store_bind_text(st, 3, i->unit);
	store_bind_text(st, 4, i->higher_is_better ? "higher" : "lower");
	return store_done(st) ? 0 : store_failed(s, err);
}

/* Returns the number of an indicator, which is added if it is new. */
static int number_indicator(struct fleet_store *s, const char *first,
			    const struct fleet_indicator *i, uint32_t *number, struct err *err)
{
	struct fleet_store_indicators all;
	int rc = fleet_store_indicators(s, &all, err);

	*number = 0;
	if (rc || !strcmp(i->name, first))
		return rc;
	for (uint32_t k = 0; k < all.n; k++) {
		if (strcmp(all.of[k].name, i->name) != 0)
			continue;
		*number = k + 1;
		if (!strcmp(all.of[k].unit, i->unit) &&
		    all.of[k].higher_is_better == i->higher_is_better)
			return 0;
		return err_set(
			err, -EINVAL,
			"%s has %s in another unit, or says otherwise which direction is better; "
			"reduce into another database with --db",
			s->path, i->name);
	}
	*number = all.n + 1;
	return add_indicator(s, i, *number, err);
}

/* In a transaction of the caller's. */
static int number_each(struct fleet_store *s, const struct fleet_indicator *of, uint32_t n,
		       uint32_t *numbers, struct err *err)
{
	char first[64];
	int rc = 0;

	get_meta(s, "indicator", first, sizeof(first));
	for (uint32_t i = 0; i < FLEET_INDICATORS; i++)
		numbers[i] = FLEET_LEFT_OUT;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = number_indicator(s, first, &of[i], &numbers[i], err);
	return rc;
}

int fleet_store_number(struct fleet_store *s, const struct fleet_indicator *of, uint32_t n,
		       uint32_t *numbers, struct err *err)
{
	int rc = store_execute(s, "BEGIN IMMEDIATE") ? number_each(s, of, n, numbers, err)
						     : store_failed(s, err);

	if (!rc && !store_execute(s, "COMMIT"))
		rc = store_failed(s, err);
	if (rc)
		store_execute(s, "ROLLBACK");
	return rc;
}

uint32_t fleet_store_first(struct fleet_store *s, const struct fleet_header *h)
{
	char first[64];
	uint32_t number;

	get_meta(s, "indicator", first, sizeof(first));
	number = fleet_header_find(h, first);
	return number == UINT32_MAX ? 0 : number;
}

int fleet_store_trios(struct fleet_store *s, const struct strtab *asked, struct strtab *kept,
		      struct err *err)
{
	fleet_store_trio_bases(s, kept);
	if (!asked->n || fleet_store_same_names(asked, kept))
		return 0;
	if (has_any_block(s))
		return err_set(err, -EINVAL,
			       "%s has samples whose trios were not kept, or those of other "
			       "applications; reduce into another database with --db",
			       s->path);
	for (uint32_t i = 0; i < asked->n; i++) {
		sqlite3_stmt *st = store_statement(s, ADD_TRIO_BASE);

		store_bind_text(st, 1, asked->strings[i]);
		if (!store_done(st))
			return store_failed(s, err);
		strtab_add(kept, asked->strings[i]);
	}
	return 0;
}

int fleet_store_machine(struct fleet_store *s, const struct fleet_header *h, uint32_t *machine,
			struct err *err)
{
	*machine = store_number(s, ADD_MACHINE, GET_MACHINE, h->machine, h->type);
	return *machine ? 0 : store_failed(s, err);
}

bool fleet_store_has(struct fleet_store *s, uint64_t recording, uint64_t sequence)
{
	sqlite3_stmt *st = store_statement(s, HAS_BLOCK);
	bool has;

	store_bind_number(st, 1, recording);
	store_bind_number(st, 2, sequence);
	has = st && sqlite3_step(st) == SQLITE_ROW;
	if (st)
		sqlite3_reset(st);
	return has;
}

static bool read_totals(sqlite3_stmt *st, struct fleet_store_totals *totals)
{
	if (!st || sqlite3_step(st) != SQLITE_ROW)
		return false;
	totals->machines = (uint64_t)sqlite3_column_int64(st, 0);
	totals->blocks = (uint64_t)sqlite3_column_int64(st, 1);
	totals->samples = (uint64_t)sqlite3_column_int64(st, 2);
	totals->alone = (uint64_t)sqlite3_column_int64(st, 3);
	totals->from_ns = (uint64_t)sqlite3_column_int64(st, 4);
	totals->to_ns = (uint64_t)sqlite3_column_int64(st, 5);
	return true;
}

/* Appends the names of all, for a message. */
static void list_indicators(const struct fleet_store_meta *meta,
			    const struct fleet_store_indicators *all, struct text *out)
{
	text_add(out, meta->indicator);
	for (uint32_t i = 0; i < all->n; i++)
		text_printf(out, ", %s", all->of[i].name);
}

static int no_indicator(struct fleet_store *s, const char *name,
			const struct fleet_store_meta *meta,
			const struct fleet_store_indicators *all, struct err *err)
{
	struct text names = { 0 };

	list_indicators(meta, all, &names);
	err_set(err, -ENODATA, "%s has no indicator %s; name one of %s", s->path, name, names.s);
	text_release(&names);
	return -ENODATA;
}

int fleet_store_choose(struct fleet_store *s, const char *name, uint32_t *number,
		       struct fleet_store_meta *meta, struct fleet_store_totals *totals,
		       struct err *err)
{
	struct fleet_store_indicators all;
	int rc = fleet_store_meta(s, meta, totals, err);
	sqlite3_stmt *st;

	*number = 0;
	if (rc || !name || !strcmp(name, meta->indicator))
		return rc;
	rc = fleet_store_indicators(s, &all, err);
	while (!rc && *number < all.n && strcmp(all.of[*number].name, name) != 0)
		++*number;
	if (rc || *number == all.n)
		return rc ? rc : no_indicator(s, name, meta, &all, err);
	snprintf(meta->indicator, sizeof(meta->indicator), "%s", all.of[*number].name);
	snprintf(meta->unit, sizeof(meta->unit), "%s", all.of[*number].unit);
	meta->higher_is_better = all.of[*number].higher_is_better;
	st = store_statement(s, TOTALS_OF);
	store_bind_number(st, 1, ++*number);
	return read_totals(st, totals) ? 0 : store_failed(s, err);
}

int fleet_store_meta(struct fleet_store *s, struct fleet_store_meta *meta,
		     struct fleet_store_totals *totals, struct err *err)
{
	char text[64];

	memset(meta, 0, sizeof(*meta)); /* metas are compared as bytes */
	get_meta(s, "indicator", meta->indicator, sizeof(meta->indicator));
	get_meta(s, "unit", meta->unit, sizeof(meta->unit));
	get_meta(s, "by", meta->by, sizeof(meta->by));
	get_meta(s, "better", text, sizeof(text));
	meta->higher_is_better = !strcmp(text, "higher");
	get_meta(s, "bucket_ns", text, sizeof(text));
	meta->bucket_ns = strtoull(text, NULL, 10);
	return read_totals(store_statement(s, TOTALS), totals) ? 0 : store_failed(s, err);
}

/* ---- merging one database into another ---- */

struct merge {
	struct fleet_store *into, *from;
	struct fleet_store_merged *counted;
	uint32_t numbers[FLEET_INDICATORS]; /* [number in from]: number in into */
	bool several;			    /* from has more than one */
};

/* Two that are one in the other database would count twice there; no reduce makes such two. */
static bool are_distinct(const uint32_t *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (numbers[i] == numbers[k])
				return false;
	return true;
}

static int number_indicators(struct merge *m, const struct fleet_store_meta *meta, struct err *err)
{
	struct fleet_indicator of[FLEET_INDICATORS] = { { .higher_is_better =
								  meta->higher_is_better } };
	struct fleet_store_indicators all;
	int rc = fleet_store_indicators(m->from, &all, err);

	m->several = all.n;
	snprintf(of[0].name, sizeof(of[0].name), "%s", meta->indicator);
	snprintf(of[0].unit, sizeof(of[0].unit), "%s", meta->unit);
	memcpy(of + 1, all.of, all.n * sizeof(*of));
	rc = rc ? rc : number_each(m->into, of, all.n + 1, m->numbers, err);
	return rc || are_distinct(m->numbers, all.n + 1) ? rc : store_damaged(m->from, err);
}

/* Checks that both databases have the same meta, and keep the trios of the same applications. */
static int agree_on_all(struct merge *m, struct err *err)
{
	struct strtab theirs = { 0 }, kept = { 0 };
	struct fleet_store_totals totals;
	struct fleet_store_meta meta;
	int rc = fleet_store_meta(m->from, &meta, &totals, err);

	rc = rc ? rc : fleet_store_begin(m->into, &meta, err);
	rc = rc ? rc : number_indicators(m, &meta, err);
	fleet_store_trio_bases(m->from, &theirs);
	rc = rc ? rc : fleet_store_trios(m->into, &theirs, &kept, err);
	if (!rc && !fleet_store_same_names(&theirs, &kept))
		rc = err_set(err, -EINVAL,
			     "%s keeps trios that %s does not; reduce into another database "
			     "with --db",
			     m->into->path, m->from->path);
	strtab_release(&theirs);
	strtab_release(&kept);
	return rc;
}

/* Whether an indicator is listed there, beyond the first, whose counts are the block's own. */
static bool is_further(const struct merge *m, uint64_t number)
{
	return number && number < FLEET_INDICATORS && m->numbers[number] != FLEET_LEFT_OUT;
}

/* Adds the numbers of samples that the block has of every indicator but the first. */
static int add_counts(struct merge *m, const struct fleet_store_block *b, struct err *err)
{
	sqlite3_stmt *st = store_statement(m->from, EACH_COUNT);
	int step;

	if (st) {
		store_bind_number(st, 1, b->recording);
		store_bind_number(st, 2, b->sequence);
	}
	while ((step = st ? sqlite3_step(st) : SQLITE_ERROR) == SQLITE_ROW) {
		uint64_t number = (uint64_t)sqlite3_column_int64(st, 0);

		if (!is_further(m, number))
			return store_damaged(m->from, err);
		if (!store_add_counts(m->into,
				      &(struct fleet_store_count){
					      b->recording, b->sequence, m->numbers[number],
					      (uint64_t)sqlite3_column_int64(st, 1),
					      (uint64_t)sqlite3_column_int64(st, 2) },
				      1))
			return store_failed(m->into, err);
	}
	return step == SQLITE_DONE ? 0 : store_failed(m->from, err);
}

/* Adds a block if it is new, and counts it if both databases have it. */
static int add_block(void *ctx, const struct fleet_store_line *line, struct err *err)
{
	struct merge *m = ctx;
	struct fleet_store_block b = { .recording = line->recording,
				       .sequence = line->sequence,
				       .start_ns = line->start_ns,
				       .samples = line->samples,
				       .alone = line->alone };

	if (fleet_store_has(m->into, b.recording, b.sequence)) {
		m->counted->known_blocks++;
		return 0;
	}
	m->counted->blocks++;
	m->counted->samples += b.samples;
	m->counted->alone += b.alone;
	b.machine = store_number(m->into, ADD_MACHINE, GET_MACHINE, line->machine, line->type);
	if (!b.machine || !store_add_blocks(m->into, &b, 1))
		return store_failed(m->into, err);
	return m->several ? add_counts(m, &b, err) : 0;
}

static int add_rows(void *ctx, const struct fleet_rows *rows, struct err *err)
{
	struct merge *m = ctx;
	const struct fleet_store_addition a = { .rows = rows, .numbers = m->numbers };

	vec_for_each (&rows->strata, const struct fleet_stratum, stratum)
		if (m->numbers[stratum->indicator] == FLEET_LEFT_OUT)
			return store_damaged(m->from, err);
	return store_add_all(m->into, &a) ? 0 : store_failed(m->into, err);
}

static int add_all(struct merge *m, struct err *err)
{
	int rc = agree_on_all(m, err);

	rc = rc ? rc : fleet_store_each_block(m->from, add_block, m, err);
	if (rc || !m->counted->blocks)
		return rc;
	if (m->counted->known_blocks)
		return err_set(err, -EEXIST,
			       "%s has %" PRIu64 " blocks that are in %s, too, and others, which "
			       "cannot be told apart any more; reduce the files that it is of",
			       m->from->path, m->counted->known_blocks, m->into->path);
	return fleet_store_each_rows(m->from, true, add_rows, m, err);
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
	fleet_store_close(m.from);
	return rc;
}
