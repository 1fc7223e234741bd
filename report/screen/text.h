/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text output of `ispot report`: the first screen, or everything with -v. */
#ifndef ISPOT_REPORT_SCREEN_TEXT_H
#define ISPOT_REPORT_SCREEN_TEXT_H

#include <stdbool.h>

struct block;
struct cause;
struct text;
struct view;
void report_text(const struct view *v, struct text *out);
/* Prints a view, shortened until it fits on the first screen, unless the user asked for more. */
void text_fitting(const struct view *v, void (*print)(const struct view *, struct text *),
		  struct text *out);
/* Returns whether a known cause explains more than remains unexplained of any kind of time.
 * Otherwise the table, and the paragraph with it, shows where the time went. */
bool report_tells(const struct block *b, const struct cause *known);
/* "22.8%", "<0.1%" into buf of TEXT_NUMBER bytes: a part of thread time that is lost, with as many
 * digits wherever the screen has it. */
char *text_lost_share(char *buf, double share);
/* Adds the main cause and its share of the excess: "lock 94 %". For a sequence that owns lost time,
 * the share is of that. */
void text_cause(const struct block *b, struct text *out);

#endif
