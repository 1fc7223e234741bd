/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completion of ispot's words in shells, written from the rows of commands and options. A shell is
 * a row of completion.c.
 */
#ifndef ISPOT_CLI_COMPLETION_H
#define ISPOT_CLI_COMPLETION_H

struct err;
struct text;

/*
 * Prints what `ispot --completion SHELL` prints. -EINVAL, exit status 2: shell is unknown or NULL.
 */
int completion_print(const char *shell, struct text *out, struct err *err);

#endif
