/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SQLite's own way to files, for databases in places where others may put files, too. A journal
 * beside a database is believed by its name alone, and may name a file that SQLite is to remove:
 * only what belongs to the database is removed, and a journal of somebody else is not opened.
 * Under sudo files are opened, made and removed as the user who called it, where the database is
 * his.
 */
#include "analysis/fleet/sqlite/internal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/identity.h"
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

/* What SQLite keeps beside a database; no super-journal, which is of several. */
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

/* Of a database that is the user's behind sudo. */
static bool as_its_user(const struct stat *database)
{
	struct identity user;

	return identity_of_sudo(&user) && database->st_uid == user.uid && !identity_files_as(&user);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	bool is_main = flags & SQLITE_OPEN_MAIN_DB, as_user;
	struct stat database = { 0 }, st;
	int rc;

	if (name && (is_main ? stat(name, &database) : !is_beside(name, &database)))
		return SQLITE_CANTOPEN;
	if (name && !is_main && !lstat(name, &st) && !output_owner_is_trusted(st.st_uid))
		return SQLITE_CANTOPEN;
	if (name && is_main)
		remember(name);
	as_user = name && as_its_user(&database);
	rc = system_vfs->xOpen(vfs, name, file, flags, out_flags);
	if (as_user)
		identity_files_back();
	return rc;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int synchronize)
{
	struct stat database;
	bool as_user;
	int rc;

	if (!is_beside(path, &database))
		return SQLITE_IOERR_DELETE;
	as_user = as_its_user(&database);
	rc = system_vfs->xDelete(vfs, path, synchronize);
	if (as_user)
		identity_files_back();
	return rc;
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
