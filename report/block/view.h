/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views of `ispot report`: each prints one struct view into a text. */
#ifndef ISPOT_REPORT_BLOCK_VIEW_H
#define ISPOT_REPORT_BLOCK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/score/block.h"
#include "base/vec.h"

struct callstacks;
struct column;
struct err;
struct meta;
struct meta_counter;
struct meta_not_traced;
struct json;
struct result;
struct slow;
struct table;
struct text;
struct untold_functions;

#define REPORT_JSON_VERSION 1

struct view {
	const struct result *result;
	const char *file;	     /* of the trace, as given; NULL: it is in none */
	const struct blocks *blocks; /* what is ranked: functions, groups of their calls, threads */
	const struct block **rows;   /* them in order, sites among functions */
	size_t n_rows;
	bool by_thread;
	bool totals;		   /* also functions that are split by arguments, as a whole */
	const struct column *sort; /* NULL: by verdict and lost time */
	const struct meta_counter *sort_counter; /* by its mean per call; NULL: as sort */
	uint64_t top;				 /* rows shown, 0: the view's default */
	bool all;				 /* -v: every block, whatever its verdict */
	bool cycles;				 /* durations of the table in cycles */
	bool colours;
	bool utf8;	/* the screen's characters */
	unsigned width; /* of the screen */
};

#define CERTAIN 0.7 /* a cause less sure than this has a question mark */

#endif
