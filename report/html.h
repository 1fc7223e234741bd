/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as one HTML file: no script, nothing fetched, charts as inline SVG. Its size is
 * bounded whatever the recording's: so many blocks in detail, so many points a chart; what is left
 * out is said. Cells of tables carry their exact value as data-value, as CSV has it.
 */
#ifndef ISPOT_REPORT_HTML_H
#define ISPOT_REPORT_HTML_H

#include <stdint.h>

struct block;
struct text;
struct timeline;
struct view;

#define HTML_BLOCKS_MAX	 200 /* rows of the table */
#define HTML_DETAILS_MAX 40  /* blocks with charts */
#define HTML_THREADS_MAX 60
#define HTML_POINTS_MAX	 160 /* of a curve */

void report_html(const struct view *v, const struct timeline *tl, struct text *out);

/* ---- parts, for html*.c ---- */

/* s escaped for text and quoted attributes; control characters become '?'. */
void html_text(struct text *out, const char *s);
void html_lines(struct text *out, const char *s); /* newlines stay */
void html_time(struct text *out, uint64_t ns);

/* Sections; each writes nothing where it has nothing to show. */
void html_details(const struct view *v, struct text *out);
void html_timeline(const struct view *v, const struct timeline *tl, struct text *out);
void html_threads(const struct view *v, struct text *out);
void html_waits(const struct view *v, struct text *out);

/* Figures of one block. */
void html_ordered(const struct block *b, struct text *out);
void html_histogram(const struct block *b, struct text *out);
void html_flame(const struct view *v, const struct block *b, struct text *out);

#endif
