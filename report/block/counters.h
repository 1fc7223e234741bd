/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of blocks' calls, as the views show them. */
#ifndef ISPOT_REPORT_BLOCK_COUNTERS_H
#define ISPOT_REPORT_BLOCK_COUNTERS_H

#include "base/text.h"

struct block;
struct json;
struct meta;
struct meta_counter;
struct text;
struct view;

/* {name: {mean, mean_fast, mean_slow, calls}} of every counter wanted; null where not counted. */
struct json *counters_json(const struct meta *meta, const struct block *b);

/* Returns the counter's mean over the calls of a block; NAN where none was counted. */
double counters_mean(const struct block *b, const struct meta_counter *m);

/* "12.3" in buf; "n/a", a constant, of NAN. */
const char *counters_number(char buf[TEXT_NUMBER], double value);

/* CSV: NAME, NAME_fast and NAME_slow of every counter wanted, behind a comma each. */
void counters_csv_head(const struct meta *meta, struct text *out);
void counters_csv(const struct meta *meta, const struct block *b, struct text *out);

/* With record -e: a table of the blocks' means in fast and slow calls, behind that of the scores.
 */
void text_counters(const struct view *v, struct text *out);
/* One block's, a row a counter; nothing where none was wanted. */
void text_block_counters(const struct view *v, const struct block *b, struct text *out);

#endif
