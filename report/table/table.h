/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table on a screen: columns at fixed widths, numbers to the right, the last column takes what
 * is left of the line and is cut there. Wide cells push the line, they are never cut.
 */
#ifndef ISPOT_REPORT_TABLE_TABLE_H
#define ISPOT_REPORT_TABLE_TABLE_H

#include <stdbool.h>

struct text;

enum table_style { TABLE_PLAIN, TABLE_BOLD, TABLE_RED, TABLE_DIM };

struct table {
	struct text *out;
	unsigned width; /* of the screen */
	bool colours;
	unsigned used; /* of the present line */
};

void table_right(struct table *t, const char *s, unsigned width);
void table_left(struct table *t, const char *s, unsigned width);
void table_last(struct table *t, const char *s); /* cut to the line's rest, ends it */
/* A C++ name without its parameters and with empty <>. */
void table_short_name(const char *s, struct text *name);
unsigned table_room(const struct table *t);		   /* characters left for it */
void table_style(struct table *t, enum table_style style); /* from here on; costs no width */
unsigned table_columns(const char *s);			   /* characters that s takes on a screen */

#endif
