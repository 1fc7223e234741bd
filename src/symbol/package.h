/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the symbols of a file without symbols come from: the package of the system that has them,
 * or the build of the user.
 */
#ifndef ISPOT_SYMBOL_PACKAGE_H
#define ISPOT_SYMBOL_PACKAGE_H

#include <stdbool.h>

struct text;

#define PACKAGE_LISTS "/var/lib/dpkg/info" /* dpkg's lists of the files of each package */
#define PACKAGE_NAME  128		   /* bytes of a name */

/*
 * Finds the package that has installed the file, by dpkg's lists in the directory. This reads files
 * and runs no command. Returns false if there is none, or there are no such lists.
 */
bool package_find(const char *lists, const char *path, char name[PACKAGE_NAME]);
/* Adds how to get the names of functions in a file without symbols, as an imperative. */
void package_symbols_from(const char *lists, const char *path, struct text *out);

#endif
