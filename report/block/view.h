/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views of `ispot report`. Each prints one struct view into a text. */
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

/* What the first screen leaves out to have no more lines than a terminal; each includes those
 * before it. */
enum shortening {
	SHORTEN_NOTHING,
	SHORTEN_COUNTERS,    /* the first counters alone, of the table's functions */
	SHORTEN_NO_COUNTERS, /* a line where they are shown */
	SHORTEN_REMARKS,
	SHORTEN_CALLS,	   /* how long calls take: the table says it as well */
	SHORTEN_NOTES,	   /* one note, and how many more there are; no loops to mark */
	SHORTEN_OTHERS,	   /* sentences about other things than the worst function */
	SHORTEN_LEGEND,	   /* but a line of what the words of the table mean */
	SHORTEN_MOST,	   /* beside the note, the worst function's cause and advice is all */
	SHORTEN_ALL_NOTES, /* the number of notes in place of the first */
	SHORTEN_NO_LEGEND,
};

struct view {
	const struct result *result;
	/* name of the recording as given, or NULL if it is not in a file */
	const char *file;
	/* the blocks that are ranked: functions, groups of their calls, or threads */
	const struct blocks *blocks;
	/* these blocks in order, with blocking stacks among functions */
	const struct block **rows;
	size_t n_rows;
	const struct block *named; /* the row that the first sentence is about; NULL: none */
	bool by_thread;
	bool totals;		   /* includes functions that are split by arguments as a whole */
	const struct column *sort; /* NULL: by lost time, then unexplained time */
	const struct meta_counter *sort_counter; /* sorts by its mean per call; NULL: by sort */
	uint64_t top;				 /* number of rows; 0: the default of the view */
	bool all;				 /* -v: every block, whatever its verdict is */
	bool cycles;				 /* the table shows durations in cycles */
	bool colours;
	bool utf8; /* the screen can show UTF-8 */
	enum shortening shortened;
	bool *hides_large; /* is set if a row without room loses nearly as much as the first */
	unsigned width;	   /* columns of the screen */
};

#define CERTAIN 0.7 /* a cause less certain than this is marked with a question mark */

#endif
