/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of a program's source code. Debug information names the file, and whoever made it may name
 * any file. So only what the user who started ispot may read is shown (under sudo, the user who
 * called it). For root without sudo, only what everybody may read is shown, because reports are
 * passed on.
 */
#ifndef ISPOT_REPORT_IMBALANCE_SOURCE_H
#define ISPOT_REPORT_IMBALANCE_SOURCE_H

#include <stdint.h>

struct text;

/* Adds the line without its indentation, made printable, or nothing if it cannot be read. */
void source_read_line(const char *path, uint32_t line, struct text *out);

#endif
