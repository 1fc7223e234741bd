/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot fleet report`: which applications slow which others over many machines. */
#ifndef ISPOT_REPORT_FLEET_FLEET_H
#define ISPOT_REPORT_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/fleet/corunner.h"
#include "base/vec.h"

struct fleet;
struct fleet_base;
struct fleet_beside;
struct fleet_cell;
struct fleet_store_meta;
struct fleet_store_totals;
struct fleet_view_phases;
struct text;

#define FLEET_JSON_VERSION 1

struct fleet_view {
	const struct fleet *fleet;
	const struct fleet_store_meta *meta;
	const struct fleet_store_totals *totals;
	const char *options;  /* that lead to the same data, as a shell takes them: " --db FILE" */
	const char *type;     /* type of the machines */
	unsigned other_types; /* number of other types, which are not shown */
	enum corunner_class class;		 /* CORUNNER_ALL: all classes */
	const struct fleet_base *base;		 /* NULL: all applications */
	const struct fleet_cell *const *without; /* co-runners of base to leave out */
	unsigned n_without;
	const struct fleet_beside *beside;	/* another indicator, or NULL */
	const struct fleet_view_phases *phases; /* NULL: the day is not divided into parts */
	uint64_t top;
	bool colours;
	unsigned width;
};

void report_fleet_text(const struct fleet_view *v, struct text *out);

struct fleet_found {
	VEC(const struct fleet_cell *)
};

/*
 * Finds pairs, or trios, that slow an application, sorted by what the whole fleet would gain from
 * separating them.
 */
void fleet_view_negative(const struct fleet_view *v, bool trios, struct fleet_found *found);
/* Adds a paragraph about the first of them, or says that there is none. */
void fleet_view_conclusion(const struct fleet_view *v, const struct fleet_found *found,
			   struct text *out);
/*
 * Returns the requested class, or the closest class of all pairs with enough samples, or
 * CORUNNER_CLASSES if there is none.
 */
enum corunner_class fleet_view_matrix_class(const struct fleet_view *v);
/*
 * The columns of the matrix: n_rows bases, which are also its rows, then the applications that slow
 * others and are not bases; at most `most` of either.
 */
struct fleet_columns {
	VEC(uint32_t) /* applications */
	size_t n_rows;
};
void fleet_view_columns(const struct fleet_view *v, size_t most, struct fleet_columns *columns);

extern const char fleet_view_marks[]; /* [enum fleet_effect] */

/* Whether a pair is of the view's base and class. */
bool fleet_view_shows(const struct fleet_view *v, const struct fleet_cell *cell);
/* Formats a value of the indicator for people into buf, and returns buf. */
char *fleet_view_value(const struct fleet_view *v, double value, char *buf);

#endif
