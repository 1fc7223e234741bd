/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot diff`. */
#ifndef ISPOT_REPORT_BLOCK_DIFF_H
#define ISPOT_REPORT_BLOCK_DIFF_H

#include <stdbool.h>
#include <stdint.h>

struct diff;
struct text;

#define DIFF_JSON_VERSION 1

struct diff_view {
	const struct diff *diff;
	bool all;     /* -v: every block, also unchanged ones */
	uint64_t top; /* number of rows; 0: the default */
	bool colours;
	unsigned width;
};

void report_diff_text(const struct diff_view *v, struct text *out);
void report_diff_json(const struct diff_view *v, struct text *out);

#endif
