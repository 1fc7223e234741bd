/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the build ID of a file without keeping the file open. fleet record does this to the
 * executables of all users, as root, and too often to start a process for each of them (parser.h).
 * So libelf, which trusts its input, is not used: only a few numbers are read, and each of them is
 * checked.
 */
#ifndef ISPOT_SYMBOL_DSO_BUILDID_H
#define ISPOT_SYMBOL_DSO_BUILDID_H

#include <stddef.h>

#define BUILD_ID_MAX 64 /* bytes; a longer ID is ignored */

/* Writes the ID in lower-case hex, cut to n bytes with the NUL, or "" if the file has none. */
void dso_file_build_id(const char *path, char *hex, size_t n);

#endif
