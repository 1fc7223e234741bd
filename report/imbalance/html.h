/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `ispot imbalance` as one HTML file: the sections by lost time, each with its threads' times
 * (figure 2 of the LIME paper) and the lines to blame (figures 6 to 8).
 */
#ifndef ISPOT_REPORT_IMBALANCE_HTML_H
#define ISPOT_REPORT_IMBALANCE_HTML_H

struct imbalance_view;
struct text;
/* covers all sections */
void report_imbalance_html(const struct imbalance_view *v, struct text *out);

#endif
