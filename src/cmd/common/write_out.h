/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a command's report to a file or to the screen. */
#ifndef ISPOT_CMD_COMMON_WRITE_OUT_H
#define ISPOT_CMD_COMMON_WRITE_OUT_H

struct err;
struct text;

/* Writes to the file of that name, in the way of output_open(), or to the screen if path is NULL.
 */
int write_out(const struct text *out, const char *path, struct err *err);

#endif
