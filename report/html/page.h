/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kit of every page: its head and end, sections, tables, text and numbers. */
#ifndef ISPOT_REPORT_HTML_PAGE_H
#define ISPOT_REPORT_HTML_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct html_parts;
struct text;

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

/* Adds all parts but the first of a line whose parts stand two blanks apart. */
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
/* A section of the first parts, as far as they fit HTML_DETAILS_BYTES; none if there is no part.
 * Returns how many are drawn. */
size_t html_each(struct text *out, const char *title, const struct html_parts *parts,
		 const void *view);

/* A table that scrolls, named by the heading of that id; attribute: of the table, or "". */
void html_table(struct text *out, const char *labelled, const char *attribute);

/* Adds the table's head: so many columns of numbers, the others of names. names ends with NULL. */
void html_heads(struct text *out, const char *const *names, size_t n_numbers);
void html_cell(struct text *out, const char *key, double value, double times, const char *format);
void html_table_end(struct text *out);

#endif
