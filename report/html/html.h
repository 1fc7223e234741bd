/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as one HTML file without scripts or external resources; charts are inline SVG. Its
 * size is bounded for any recording: the numbers of detailed blocks and of points in a chart and
 * the length of names are limited, and blocks that would make the details larger than
 * HTML_DETAILS_BYTES are left out. The page says what is left out. Numbers that other views show,
 * too, have their exact value, as in CSV, in data-value.
 */
#ifndef ISPOT_REPORT_HTML_HTML_H
#define ISPOT_REPORT_HTML_HTML_H

#include <stddef.h>
#include <stdint.h>

struct block;
struct column;
struct text;
struct timeline;
struct view;

#define HTML_BLOCKS_MAX	   200 /* rows of the table */
#define HTML_DETAILS_MAX   40  /* blocks with charts */
#define HTML_THREADS_MAX   60
#define HTML_POINTS_MAX	   160	   /* points of a curve */
#define HTML_NAME_MAX	   160	   /* characters of a name */
#define HTML_NOTES_MAX	   100	   /* notices, and functions that were not traced */
#define HTML_DETAILS_BYTES 1300000 /* the whole file has at most 2,000,000 */

void report_html(const struct view *v, const struct timeline *tl, struct text *out);

/* ---- elements of every page: page.c ---- */

typedef void html_part(const void *view, size_t i, struct text *out);
struct html_parts {
	size_t n, most;
	html_part *one;
	const char *left_out; /* text about the parts that are not drawn, as for html_more() */
};

/* ---- parts of the report, for this folder's files ---- */

/* Appends a block's name with its key. Blocking stacks are in brackets. */
void html_name(struct text *out, const struct block *b);
/* Appends the attributes of an element with the exact value of a column, and the value as shown. */
void html_value(struct text *out, const struct column *c, const struct block *b);

#endif
