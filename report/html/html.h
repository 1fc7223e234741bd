/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as one HTML file: no script, nothing fetched, charts as inline SVG. Its size is
 * bounded whatever the recording's: so many blocks in detail, so many points a chart, names of so
 * many characters, and no block in detail that would make them larger than HTML_DETAILS_BYTES; what
 * is left out is said. Numbers that other views have, too, carry their exact value as data-value,
 * as CSV has it.
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
#define HTML_POINTS_MAX	   160	   /* of a curve */
#define HTML_NAME_MAX	   160	   /* characters of a name */
#define HTML_NOTES_MAX	   100	   /* lines of notes, of either kind */
#define HTML_DETAILS_BYTES 1300000 /* of a file of at most 2,000,000 */

void report_html(const struct view *v, const struct timeline *tl, struct text *out);

/* ---- what every page is made of: page.c ---- */

typedef void html_part(const void *view, size_t i, struct text *out);
struct html_parts {
	size_t n, most;
	html_part *one;
	const char *left_out; /* of those that are not drawn, as html_more() */
};

/* ---- parts of the report, for this folder's files ---- */

/* A block's name with its key; of a place where threads wait, in brackets. */
void html_name(struct text *out, const struct block *b);
/* A column's number: the element's attributes, and what it shows. */
void html_value(struct text *out, const struct column *c, const struct block *b);

#endif
