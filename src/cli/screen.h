/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen of the commands that print reports: who reads it, and how it is handed over. */
#ifndef ISPOT_CLI_SCREEN_H
#define ISPOT_CLI_SCREEN_H

#include <stdbool.h>

struct err;
struct text;

bool screen_colours(void);   /* a person reads, and wants them (NO_COLOR, TERM) */
unsigned screen_width(void); /* 80 columns, more only where a person's terminal has more */
/* To standard output, to its end. A reader who went away is no failure: main ends for that. */
int screen_write(const struct text *out, struct err *err);

#endif
