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

/* s escaped for text and quoted attributes; control characters become '?'. */
void html_text(struct text *out, const char *s);
void html_lines(struct text *out, const char *s); /* newlines stay */
void html_time(struct text *out, uint64_t ns);
/* A name from the target, shortened in its middle where it is very long. */
void html_short(struct text *out, const char *s);
/* A ratio: shown, as that many of format, and exact. NAN: n/a. */
void html_exact(struct text *out, const char *key, double value, double times, const char *format);

/* All up to the line below the heading, in which the caller writes what the page is about; then
 * html_main(). The title is "of: title". */
void html_page(struct text *out, const char *of, const char *title, const char *heading);
/* Of a line whose parts stand two blanks apart all but the first. */
void html_facts(struct text *out, const char *line);
void html_main(struct text *out);
void html_page_end(struct text *out);

void html_section(struct text *out, const char *id, const char *title);
void html_section_end(struct text *out);
/* In large letters; nothing if there is none (NULL, empty). */
void html_answer(struct text *out, const char *s);
void html_item(struct text *out, const char *s); /* of a list */
/* "3 more blocks are left out.", where not all n are shown; what: from "blocks" on, as markup. */
void html_more(struct text *out, size_t n, size_t shown, const char *what);

typedef void html_part(const void *view, size_t i, struct text *out);
struct html_parts {
	size_t n, most;
	html_part *one;
	const char *left_out; /* of those that are not drawn, as html_more() */
};
/* A section of the first parts, as far as they fit HTML_DETAILS_BYTES; none if there is no part.
 * Returns how many are drawn. */
size_t html_each(struct text *out, const char *title, const struct html_parts *parts,
		 const void *view);

/* A table that scrolls, named by the heading of that id; attribute: of the table, or "". */
void html_table(struct text *out, const char *labelled, const char *attribute);
/* Its head: so many columns of numbers, the others of names. names ends with NULL. */
void html_heads(struct text *out, const char *const *names, size_t n_numbers);
void html_cell(struct text *out, const char *key, double value, double times, const char *format);
void html_table_end(struct text *out);

/* ---- parts of the report, for this folder's files ---- */

/* A block's name with its key; of a place where threads wait, in brackets. */
void html_name(struct text *out, const struct block *b);
/* A column's number: the element's attributes, and what it shows. */
void html_value(struct text *out, const struct column *c, const struct block *b);

/* Sections; each writes nothing where it has nothing to show. */
size_t html_details(const struct view *v, struct text *out); /* how many blocks it has */
void html_timeline(const struct view *v, const struct timeline *tl, struct text *out);
void html_threads(const struct view *v, struct text *out);
void html_waits(const struct view *v, struct text *out);

/* Figures of one block. */
void html_ordered(const struct block *b, struct text *out);
void html_histogram(const struct block *b, struct text *out);
void html_flame(const struct view *v, const struct block *b, struct text *out);

#endif
