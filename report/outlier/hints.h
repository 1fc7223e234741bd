/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the list of blocks and the view of one have in common: the evidence, a line each. */
#ifndef ISPOT_REPORT_OUTLIER_HINTS_H
#define ISPOT_REPORT_OUTLIER_HINTS_H

#include <stddef.h>

struct outlier_block;
struct outlier_hint;
struct outlier_hints;
struct outlier_view;
struct table;
struct text;

#define OUTLIER_INDENT 8

/* A paragraph with its first line at OUTLIER_INDENT, the others two further. */
void outlier_paragraph(const struct outlier_view *v, const char *s, struct text *out);
void outlier_time_cell(struct table *t, double ns);
double outlier_own_share(const struct outlier_block *b);
/* The one that accounts for most is at place 0. */
const struct outlier_hint *outlier_hint_at(const struct outlier_hints *hints, size_t place);
void outlier_hints_text(const struct outlier_view *v, const struct outlier_block *b,
			const struct outlier_hints *all, struct text *out);

#endif
