/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts below the first screen: time, threads, and each block in detail. */
#ifndef ISPOT_REPORT_HTML_SECTIONS_H
#define ISPOT_REPORT_HTML_SECTIONS_H

#include <stddef.h>

struct text;
struct timeline;
struct view;

/* Each of these appends a section, or nothing if there is nothing to show. */
size_t html_details(const struct view *v, struct text *out); /* returns the number of blocks */
void html_timeline(const struct view *v, const struct timeline *tl, struct text *out);
void html_threads(const struct view *v, struct text *out);
void html_waits(const struct view *v, struct text *out);

#endif
