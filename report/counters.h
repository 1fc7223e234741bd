/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the calls of blocks counted, as the views show it. */
#ifndef ISPOT_REPORT_COUNTERS_H
#define ISPOT_REPORT_COUNTERS_H

struct block;
struct json;
struct meta;

/* {name: {mean, mean_fast, mean_slow, calls}} of every counter wanted; null where not counted. */
struct json *counters_json(const struct meta *meta, const struct block *b);

#endif
