/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine-readable output of `ispot outliers`. */
#ifndef ISPOT_REPORT_OUTLIER_JSON_H
#define ISPOT_REPORT_OUTLIER_JSON_H

struct outlier_view;
struct text;
void report_outliers_json(const struct outlier_view *v, struct text *out);
/* a row for each execution */
void report_outliers_csv(const struct outlier_view *v, struct text *out);

#endif
