/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports which programs had the CPUs that the program's threads waited for. */
#ifndef ISPOT_REPORT_SCREEN_TAKEN_H
#define ISPOT_REPORT_SCREEN_TAKEN_H

#include <stdbool.h>

struct result;
struct text;

/* Adds a line if the run queue time is worth one. names: also name other programs. */
void text_taken(const struct result *res, bool names, struct text *out);
/* Adds a sentence if the program's threads waited for most of their time behind other programs. */
void text_mostly_taken(const struct result *res, struct text *out);

#endif
