/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the calls of blocks counted, as the views show it. */
#ifndef ISPOT_REPORT_COUNTERS_H
#define ISPOT_REPORT_COUNTERS_H

struct block;
struct json;
struct meta;
struct text;
struct view;

/* {name: {mean, mean_fast, mean_slow, calls}} of every counter wanted; null where not counted. */
struct json *counters_json(const struct meta *meta, const struct block *b);

/* With record -e: a table of the blocks' means in fast and slow calls, behind that of the scores.
 */
void text_counters(const struct view *v, struct text *out);
/* One block's, a row a counter; nothing where none was wanted. */
void text_block_counters(const struct view *v, const struct block *b, struct text *out);

#endif
