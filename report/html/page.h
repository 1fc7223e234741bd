/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The elements of every page: its head and end, sections, tables, text and numbers. */
#ifndef ISPOT_REPORT_HTML_PAGE_H
#define ISPOT_REPORT_HTML_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct html_parts;
struct text;

/* Appends s, escaped for text and quoted attributes. Control characters become '?'. */
void html_text(struct text *out, const char *s);
void html_lines(struct text *out, const char *s); /* same, but keeps newlines */
void html_time(struct text *out, uint64_t ns);

/* Appends a name from the target, shortened in the middle if it is very long. */
void html_short(struct text *out, const char *s);

/* Appends a number with its exact value. It is shown as format of times * value; NAN as n/a. */
void html_exact(struct text *out, const char *key, double value, double times, const char *format);

/* Begins a page, up to the line below its heading. The caller appends the facts of that line, and
 * then calls html_main(). The title is "of: title". */
void html_page(struct text *out, const char *of, const char *title, const char *heading);

/* Appends the parts of a line except the first one. Parts are separated by two blanks. */
void html_facts(struct text *out, const char *line);
void html_main(struct text *out);
void html_page_end(struct text *out);
void html_section(struct text *out, const char *id, const char *title);
void html_section_end(struct text *out);

/* Appends s in large letters; nothing if it is NULL or empty. */
void html_answer(struct text *out, const char *s);
void html_item(struct text *out, const char *s); /* an item of a list */

/* Appends "3 more blocks are left out." if not all n are shown. what: the text from "blocks" on,
 * which is markup. */
void html_more(struct text *out, size_t n, size_t shown, const char *what);
/* Appends a section with the first parts, as many as fit in HTML_DETAILS_BYTES, or no section if
 * there are no parts. Returns the number of parts. */
size_t html_each(struct text *out, const char *title, const struct html_parts *parts,
		 const void *view);

/* Begins a table that scrolls. labelled: id of the heading that names it; attribute: of the table,
 * or "". */
void html_table(struct text *out, const char *labelled, const char *attribute);

/* Appends the head of a table. The first n_numbers columns are numbers, the others names. names
 * ends with NULL. */
void html_heads(struct text *out, const char *const *names, size_t n_numbers);
void html_cell(struct text *out, const char *key, double value, double times, const char *format);
void html_table_end(struct text *out);

#endif
