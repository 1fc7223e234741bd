/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that were wanted, or are hot, and were not traced, or not to the end. */
#ifndef ISPOT_REPORT_BLOCK_LEFT_OUT_H
#define ISPOT_REPORT_BLOCK_LEFT_OUT_H

#include <stdint.h>

#include "base/vec.h"

struct meta_not_traced;
struct result;
struct text;

/* Functions that were wanted, or are hot, and were not traced; then those not to the end. */
struct left_out_function {
	const struct meta_not_traced *last; /* what the file says of it */
	unsigned gaps;			    /* in its tracing; 0: it never was */
	uint64_t out_ns;		    /* their sum, in the window */
};

struct left_out {
	VEC(struct left_out_function)
};

/* Adds to all (to be released), each part the hottest first. */
void report_left_out(const struct result *res, struct left_out *all);

/* "hot, not traced" or what it is else. */
const char *report_left_out_label(const struct left_out_function *f);

/* "hash_bytes 14 % of CPU: 6M calls/s would cost 65 %" */
void report_left_out_line(const struct result *res, const struct left_out_function *f,
			  struct text *out);
/* "hash_bytes (14 % of CPU)", "cache_get until 791ms" */
void report_left_out_brief(const struct result *res, const struct left_out_function *f,
			   struct text *out);

#endif
