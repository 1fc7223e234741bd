/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that were requested or are hot, but were not traced, or only for part of the time. */
#ifndef ISPOT_REPORT_BLOCK_LEFT_OUT_H
#define ISPOT_REPORT_BLOCK_LEFT_OUT_H

#include <stdint.h>

#include "base/vec.h"

struct meta_not_traced;
struct result;
struct text;

/* One such function. Those that were never traced come first. */
struct left_out_function {
	const struct meta_not_traced *last; /* the last entry for the function in the file */
	/* periods without tracing after it was traced; 0: it never was */
	unsigned gaps;
	uint64_t out_ns; /* sum of these periods in the window */
};

struct left_out {
	VEC(struct left_out_function)
};

/*
 * Adds the functions to all, which the caller releases; each kind is sorted by CPU time, hottest
 * first.
 */
void report_left_out(const struct result *res, struct left_out *all);

/* Returns "Skipped", "Not traced" or "Partly traced". */
const char *report_left_out_label(const struct left_out_function *f);

/* "hash_bytes 14 % of CPU: 6M calls/s would cost 65 %" */
void report_left_out_line(const struct result *res, const struct left_out_function *f,
			  struct text *out);
/* "hash_bytes (14 % of CPU)", "cache_get until 791ms" */
void report_left_out_brief(const struct result *res, const struct left_out_function *f,
			   struct text *out);

#endif
