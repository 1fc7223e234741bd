/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts below the first screen: time, threads, and each block in detail. */
#ifndef ISPOT_REPORT_HTML_SECTIONS_H
#define ISPOT_REPORT_HTML_SECTIONS_H

#include <stddef.h>

struct text;
struct timeline;
struct view;

/* Sections; each writes nothing where it has nothing to show. */
size_t html_details(const struct view *v, struct text *out); /* how many blocks it has */
void html_timeline(const struct view *v, const struct timeline *tl, struct text *out);
void html_threads(const struct view *v, struct text *out);
void html_waits(const struct view *v, struct text *out);

#endif
