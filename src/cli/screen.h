/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen of the commands that print reports: who reads it, and how it is handed over. */
#ifndef ISPOT_CLI_SCREEN_H
#define ISPOT_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/args.h"

struct err;
struct text;

/* The options of commands that print to the screen: a member of theirs, and the rows. */
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
 * Called when the options are parsed, before anything is printed: starts the pager on a terminal.
 * -EINVAL: there is no such WHEN.
 */
int screen_begin(const struct screen_options *o, struct err *err);
bool screen_colours(void);   /* a person reads, and wants them (--color, NO_COLOR, TERM) */
unsigned screen_width(void); /* 80 columns, more only where a person's terminal has more */
/* To standard output, to its end. A reader who went away is no failure: main ends for that. */
int screen_write(const struct text *out, struct err *err);

#endif
