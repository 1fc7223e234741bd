/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VFS for SQLite, for databases in places where others can create files, too. SQLite finds the
 * journal of a database by its name alone, and the journal may name a file for SQLite to remove. So
 * this VFS removes only files that belong to the database, and does not open journals of other
 * users. A copy of a database in memory is read by its descriptor, because SQLite does not follow
 * links when it opens a file.
 */
#include "analysis/fleet/sqlite/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/vec.h"

#define NAME	    "ispot"
#define DESCRIPTORS "/proc/self/fd/"

static sqlite3_vfs *system_vfs;

/* The databases that were opened. They are few, and never freed. */
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

/* Whether the path is a file that SQLite keeps next to a database that it has opened.
 * Super-journals, which belong to several databases, are excluded. */
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

/* ---- a copy in memory, read by its descriptor ---- */

struct copied {
	sqlite3_file file;
	int fd;
};

static int copied_close(sqlite3_file *file)
{
	(void)file; /* the store closes the descriptor */
	return SQLITE_OK;
}

static int copied_read(sqlite3_file *file, void *data, int n, sqlite3_int64 offset)
{
	ssize_t got = pread(((struct copied *)file)->fd, data, (size_t)n, offset);

	if (got == n)
		return SQLITE_OK;
	if (got < 0)
		return SQLITE_IOERR_READ;
	memset((char *)data + got, 0, (size_t)(n - got));
	return SQLITE_IOERR_SHORT_READ;
}

static int copied_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 offset)
{
	(void)file, (void)data, (void)n, (void)offset;
	return SQLITE_READONLY;
}

static int copied_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
	(void)file, (void)bytes;
	return SQLITE_READONLY;
}

static int copied_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
	struct stat st;

	if (fstat(((struct copied *)file)->fd, &st))
		return SQLITE_IOERR_FSTAT;
	*bytes = st.st_size;
	return SQLITE_OK;
}

static int copied_lock(sqlite3_file *file, int how)
{
	(void)file, (void)how;
	return SQLITE_OK; /* nobody else can open the copy */
}

static int copied_is_locked(sqlite3_file *file, int *is_locked)
{
	(void)file;
	*is_locked = 0;
	return SQLITE_OK;
}

static int copied_control(sqlite3_file *file, int what, void *value)
{
	(void)file, (void)what, (void)value;
	return SQLITE_NOTFOUND;
}

static int copied_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int copied_traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE;
}

static int open_copied(const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 1,
		.xClose = copied_close,
		.xRead = copied_read,
		.xWrite = copied_write,
		.xTruncate = copied_truncate,
		.xSync = copied_lock,
		.xFileSize = copied_size,
		.xLock = copied_lock,
		.xUnlock = copied_lock,
		.xCheckReservedLock = copied_is_locked,
		.xFileControl = copied_control,
		.xSectorSize = copied_sector,
		.xDeviceCharacteristics = copied_traits,
	};

	file->pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	((struct copied *)file)->fd = atoi(name + strlen(DESCRIPTORS));
	file->pMethods = &methods;
	if (out_flags)
		*out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static bool is_copied(const char *name)
{
	return name && !strncmp(name, DESCRIPTORS, strlen(DESCRIPTORS));
}

/* ---- the files ---- */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	bool is_main = flags & SQLITE_OPEN_MAIN_DB;
	struct stat database, st;

	if (is_copied(name))
		return open_copied(name, file, flags, out_flags);
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

/* A copy in memory has only the name of its descriptor, which is a link without a target. */
static int full_path(sqlite3_vfs *vfs, const char *name, int room, char *path)
{
	if (!is_copied(name))
		return system_vfs->xFullPathname(vfs, name, room, path);
	return snprintf(path, (size_t)room, "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
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
	own.xFullPathname = full_path;
	return sqlite3_vfs_register(&own, 0) == SQLITE_OK ? NAME : NULL;
}
