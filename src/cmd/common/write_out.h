/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the commands that print reports put them. */
#ifndef ISPOT_CMD_COMMON_WRITE_OUT_H
#define ISPOT_CMD_COMMON_WRITE_OUT_H

struct err;
struct text;

/* To the file of that name, as output_open() has it; NULL: to the screen. */
int write_out(const struct text *out, const char *path, struct err *err);

#endif
