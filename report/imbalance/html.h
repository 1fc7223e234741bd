/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ispot imbalance` as one HTML file: sections by what they lose, of each its threads' times (the
 * LIME paper's figure 2) and the lines to blame (figures 6 to 8). */
#ifndef ISPOT_REPORT_IMBALANCE_HTML_H
#define ISPOT_REPORT_IMBALANCE_HTML_H

struct imbalance_view;
struct text;
void report_imbalance_html(const struct imbalance_view *v, struct text *out); /* of all sections */

#endif
