/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `ispot fleet report` prints: who slows whom over many machines. */
#ifndef ISPOT_REPORT_FLEET_H
#define ISPOT_REPORT_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/corunner.h"

struct fleet;
struct fleet_base;
struct fleet_cell;
struct fleet_store_meta;
struct fleet_store_totals;
struct text;

#define FLEET_JSON_VERSION 1

struct fleet_view {
	const struct fleet *fleet;
	const struct fleet_store_meta *meta;
	const struct fleet_store_totals *totals;
	const char *type;			 /* of the machines */
	unsigned other_types;			 /* are not shown */
	enum corunner_class class;		 /* CORUNNER_ALL: every one */
	const struct fleet_base *base;		 /* NULL: all */
	const struct fleet_cell *const *without; /* of the base */
	unsigned n_without;
	uint64_t top;
	bool colours;
	unsigned width;
};

void report_fleet_text(const struct fleet_view *v, struct text *out);
void report_fleet_json(const struct fleet_view *v, struct text *out);
void report_fleet_csv(const struct fleet_view *v, struct text *out); /* every pair, a line each */

/* Whether a pair is of the view's base and class. */
bool fleet_view_shows(const struct fleet_view *v, const struct fleet_cell *cell);
/* A value of the indicator, as people read it. */
char *fleet_view_value(const struct fleet_view *v, double value, char *buf);

#endif
