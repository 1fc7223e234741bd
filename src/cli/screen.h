/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of commands that print reports: colors, width, pager, and writing to stdout. */
#ifndef ISPOT_CLI_SCREEN_H
#define ISPOT_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/args.h"

struct err;
struct text;

/*
 * The options of commands that print to the screen: a member of the command's options, and the
 * rows.
 */
struct screen_options {
	const char *color; /* auto, always or never; NULL: auto */
	bool no_pager;
};
#define SCREEN_PAGER_ROW(type, member)                                          \
	{                                                                       \
		0, "no-pager", NULL, ARG_FLAG, offsetof(type, member.no_pager), \
			"print to the terminal without a pager", NULL           \
	}
#define SCREEN_ROWS(type, member)                                                          \
	SCREEN_PAGER_ROW(type, member),                                                    \
	{                                                                                  \
		0, "color", "WHEN", ARG_STRING, offsetof(type, member.color),              \
			"use colors: auto (default: on a terminal), always or never", NULL \
	}

/*
 * Starts the pager on a terminal. Call it when the options are parsed, before anything is printed.
 * -EINVAL: --color has an unknown WHEN.
 */
int screen_begin(const struct screen_options *o, struct err *err);
bool screen_colours(void);   /* whether to print colors (--color, NO_COLOR, TERM, terminal) */
unsigned screen_width(void); /* the terminal's columns, at least 80; 80 without a terminal */
/*
 * Writes all of out to standard output. A reader that closed the pipe is not a failure here: main
 * handles it.
 */
int screen_write(const struct text *out, struct err *err);

#endif
