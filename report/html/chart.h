/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of one block: its durations in order (the ISPOT paper's figure 7), and how they spread.
 */
#ifndef ISPOT_REPORT_HTML_CHART_H
#define ISPOT_REPORT_HTML_CHART_H

struct block;
struct text;

/* Figures of one block. */
void html_ordered(const struct block *b, struct text *out);
void html_histogram(const struct block *b, struct text *out);

#endif
