/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `ispot outliers` as one HTML file: the table, and for each block its calls with their trend
 * line (figures 2 and 3 of the Iceberg paper), colored by cause.
 */
#ifndef ISPOT_REPORT_OUTLIER_HTML_H
#define ISPOT_REPORT_OUTLIER_HTML_H

struct outlier_view;
struct text;
void report_outliers_html(const struct outlier_view *v, struct text *out);

#endif
