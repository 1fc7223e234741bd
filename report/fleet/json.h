/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine-readable output of `ispot fleet report`. */
#ifndef ISPOT_REPORT_FLEET_JSON_H
#define ISPOT_REPORT_FLEET_JSON_H

struct fleet_view;
struct text;
void report_fleet_json(const struct fleet_view *v, struct text *out);
void report_fleet_csv(const struct fleet_view *v, struct text *out); /* one line for each pair */

#endif
