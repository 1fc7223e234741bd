/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counter values of blocks' calls, as the views show them. */
#ifndef ISPOT_REPORT_BLOCK_COUNTERS_H
#define ISPOT_REPORT_BLOCK_COUNTERS_H

#include "base/text.h"

struct block;
struct json;
struct meta;
struct meta_counter;
struct text;
struct view;

/*
 * Returns {name: {mean, mean_fast, mean_slow, calls}} of every requested counter, with null for
 * what was not counted.
 */
struct json *counters_json(const struct meta *meta, const struct block *b);

/* Returns the counter's mean over the calls of a block, or NAN if no call was counted. */
double counters_mean(const struct block *b, const struct meta_counter *m);

/*
 * Formats a number such as "12.3" into buf and returns it, or returns the constant "n/a" for NAN.
 */
const char *counters_number(char buf[TEXT_NUMBER], double value);

/*
 * CSV: the columns NAME, NAME_fast and NAME_slow of every requested counter, each with a comma
 * before it.
 */
void counters_csv_head(const struct meta *meta, struct text *out);
void counters_csv(const struct meta *meta, const struct block *b, struct text *out);

/*
 * Adds, after the table of scores, a table of the counters' means in fast and slow calls, if
 * counters were requested with record -e. rows: of the table of scores, for a shortened view.
 */
void text_counters(const struct view *v, size_t rows, struct text *out);
/* Adds a row for each counter of one block, or nothing if no counter was requested. */
void text_block_counters(const struct view *v, const struct block *b, struct text *out);

#endif
