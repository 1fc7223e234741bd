/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `ispot fleet report` as one HTML file: which applications slow which, the matrix, and the paper's
 * figures.
 */
#ifndef ISPOT_REPORT_FLEET_HTML_H
#define ISPOT_REPORT_FLEET_HTML_H

struct fleet_view;
struct text;
void report_fleet_html(const struct fleet_view *v, struct text *out);

#endif
