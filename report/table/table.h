/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table on the screen. Columns have fixed widths, with numbers to the right. The last column
 * takes the rest of the line and is cut there, or the next line if hardly any is left. Other cells
 * are never cut; a wide one shifts the rest of its line.
 */
#ifndef ISPOT_REPORT_TABLE_TABLE_H
#define ISPOT_REPORT_TABLE_TABLE_H

#include <stdbool.h>

struct text;

#define SCREEN_LINES  23 /* of a terminal with 24, so that no pager opens */
#define VERDICT_WIDTH 15 /* columns of a verdict in words */

enum table_style { TABLE_PLAIN, TABLE_BOLD, TABLE_RED, TABLE_DIM };

struct table {
	struct text *out;
	unsigned width; /* columns of the screen */
	bool colours;
	unsigned used; /* columns of the current line */
};

void table_right(struct table *t, const char *s, unsigned width);
void table_left(struct table *t, const char *s, unsigned width);
/* cuts s to the rest of the line, or to the next line, and ends the line */
void table_last(struct table *t, const char *s);
unsigned table_room(const struct table *t); /* columns left on the line */
/* applies from here on; takes no columns */
void table_style(struct table *t, enum table_style style);
unsigned table_columns(const char *s); /* columns that s takes on the screen */

#endif
