/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of one block: its durations in ascending order (the ISPOT paper's figure 7), and their
 * histogram. */
#ifndef ISPOT_REPORT_HTML_CHART_H
#define ISPOT_REPORT_HTML_CHART_H

struct block;
struct text;

void html_ordered(const struct block *b, struct text *out);
void html_histogram(const struct block *b, struct text *out);

#endif
