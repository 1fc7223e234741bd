/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SQLite's own way to files, for databases in places where others may put files, too. A journal
 * beside a database is believed by its name alone, and may name a file that SQLite is to remove:
 * only what belongs to the database is removed, and a journal of somebody else is not opened.
 */
#include "analysis/fleet/sqlite/internal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/vec.h"

#define NAME "ispot"

static sqlite3_vfs *system_vfs;

/* The databases that were opened; few, and for as long as the process. */
static struct {
	VEC(char *)
} databases;

static void remember(const char *database)
{
	vec_for_each (&databases, char *, known)
		if (!strcmp(*known, database))
			return;
	*vec_add(&databases) = xstrdup(database);
}

/* Whether SQLite keeps a file of that name beside a database that it has opened. A super-journal,
 * which belongs to several databases, is none. */
static bool is_beside(const char *path, struct stat *database)
{
	static const char *const ends[] = { "-journal", "-wal", "-shm" };

	vec_for_each (&databases, char *, known) {
		size_t n = strlen(*known);

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (!strncmp(path, *known, n) && !strcmp(path + n, ends[i]))
				return !stat(*known, database);
	}
	return false;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	bool is_main = flags & SQLITE_OPEN_MAIN_DB;
	struct stat database, st;

	if (name && (is_main ? stat(name, &database) || !S_ISREG(database.st_mode)
			     : !is_beside(name, &database)))
		return SQLITE_CANTOPEN;
	if (name && !is_main && !lstat(name, &st) &&
	    (!output_owner_is_trusted(st.st_uid) || !S_ISREG(st.st_mode)))
		return SQLITE_CANTOPEN;
	if (name && is_main)
		remember(name);
	return system_vfs->xOpen(vfs, name, file, flags, out_flags);
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int synchronize)
{
	struct stat database;

	return is_beside(path, &database) ? system_vfs->xDelete(vfs, path, synchronize)
					  : SQLITE_IOERR_DELETE;
}

const char *store_vfs(void)
{
	static sqlite3_vfs own;

	if (system_vfs)
		return NAME;
	system_vfs = sqlite3_vfs_find(NULL);
	if (!system_vfs)
		return NULL;
	own = *system_vfs;
	own.pNext = NULL;
	own.zName = NAME;
	own.xOpen = open_file;
	own.xDelete = delete_file;
	return sqlite3_vfs_register(&own, 0) == SQLITE_OK ? NAME : NULL;
}
