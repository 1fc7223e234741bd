/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures 1, 2, 5 and 7 of the paper of corunner.h, as SVG. */
#ifndef ISPOT_REPORT_FLEET_FIGURES_H
#define ISPOT_REPORT_FLEET_FIGURES_H

#include "analysis/fleet/corunner.h"

struct fleet_base;
struct fleet_view;
struct text;

void fleet_html_crowds(const struct fleet_view *v, struct text *out); /* figures 1 and 2 */
void fleet_html_curves(const struct fleet_view *v, const struct fleet_base *base,
		       enum corunner_class class, struct text *out); /* figure 5 */
void fleet_html_bars(const struct fleet_view *v, const struct fleet_base *base,
		     enum corunner_class class, struct text *out); /* figure 7 */

#endif
