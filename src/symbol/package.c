/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/package.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/place.h"
#include "base/regular.h"
#include "base/text.h"

#define LIST_SUFFIX ".list"

/* Returns whether a line of the list is one of the names of the file. */
static bool has_line(FILE *list, const char *const names[2])
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	bool found = false;

	while (!found && (n = getline(&line, &room, list)) > 0) {
		line[n - (line[n - 1] == '\n')] = '\0';
		found = !strcmp(line, names[0]) || !strcmp(line, names[1]);
	}
	free(line);
	return found;
}

/* Returns whether the list, a file in the directory, has the file. */
static bool lists_file(const char *lists, const char *list, const char *const names[2])
{
	char *path = xasprintf("%s/%s", lists, list);
	FILE *f = regular_fopen(path);
	bool found = f && has_line(f, names);

	if (f)
		fclose(f);
	free(path);
	return found;
}

/* Copies the package's name from that of its list, "liblzma5:amd64.list". Returns false if the
 * name is of another file. */
static bool package_of(const char *list, char name[PACKAGE_NAME])
{
	size_t n = strcspn(list, ":"), all = strlen(list), suffix = strlen(LIST_SUFFIX);

	if (all <= suffix || strcmp(list + all - suffix, LIST_SUFFIX) != 0)
		return false;
	n = n < all - suffix ? n : all - suffix;
	if (!n || n >= PACKAGE_NAME)
		return false;
	memcpy(name, list, n);
	name[n] = '\0';
	return place_is_plain(name);
}

bool package_find(const char *lists, const char *path, char name[PACKAGE_NAME])
{
	/* a package may have named the file before /lib became a link to /usr/lib, or after */
	char *other = !strncmp(path, "/usr/", 5) ? xstrdup(path + 4) : xasprintf("/usr%s", path);
	const char *const names[2] = { path, other };
	DIR *dir = opendir(lists);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = package_of(entry->d_name, name) && lists_file(lists, entry->d_name, names);
	if (dir)
		closedir(dir);
	free(other);
	return found;
}

void package_symbols_from(const char *lists, const char *path, struct text *out)
{
	char name[PACKAGE_NAME];

	if (!place_is_installed(path))
		text_add(out, "build it without -s, and do not strip it");
	else if (package_find(lists, path, name))
		text_printf(out, "install %s-dbgsym or set DEBUGINFOD_URLS (ispot(1))", name);
	else
		text_add(out, "install its debug symbols or set DEBUGINFOD_URLS (ispot(1))");
}
