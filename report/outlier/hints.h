/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The evidence for outliers, one line each, for both the list of blocks and the view of one block.
 */
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

/* Adds a paragraph. Its first line is indented by OUTLIER_INDENT, the others by two more. */
void outlier_paragraph(const struct outlier_view *v, const char *s, struct text *out);
void outlier_time_cell(struct table *t, double ns);
double outlier_own_share(const struct outlier_block *b);
/* What screens call a hint, as the causes of `ispot report`; JSON has its name. */
const char *outlier_hint_title(const struct outlier_hint *h);
/* Returns the hint at a place in the order of shares; place 0 accounts for most. */
const struct outlier_hint *outlier_hint_at(const struct outlier_hints *hints, size_t place);
void outlier_hints_text(const struct outlier_view *v, const struct outlier_block *b,
			const struct outlier_hints *all, struct text *out);

#endif
