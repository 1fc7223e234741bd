/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The build ID of a file that nothing else is asked of, nor kept open. fleet record looks so at the
 * executables of all users, as root and too often for a process of its own for each (parser.h), so
 * this is no work for libelf: a few numbers are read, and each is checked.
 */
#ifndef ISPOT_SYMBOL_DSO_BUILDID_H
#define ISPOT_SYMBOL_DSO_BUILDID_H

#include <stddef.h>

#define BUILD_ID_MAX 64 /* bytes; a longer one counts as none */

/* Lower-case hex, cut to n with its NUL; "" none. */
void dso_file_build_id(const char *path, char *hex, size_t n);

#endif
