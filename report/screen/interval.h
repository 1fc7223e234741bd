/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot stat` for each interval. */
#ifndef ISPOT_REPORT_SCREEN_INTERVAL_H
#define ISPOT_REPORT_SCREEN_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct blocks;
struct interval;
struct text;

struct interval_view {
	uint64_t top;	/* blocks printed for each interval; 0: the default of the view */
	unsigned width; /* of the screen */
	bool head;	/* print the table's head above this interval */
	/* whether to say which interval would have the calls that a verdict needs; cleared once
	 * that was said, or a function had a verdict */
	bool *is_longer_due;
};

void report_interval(const struct interval *iv, const struct blocks *blocks,
		     const struct interval_view *v, struct text *out);
/* Prints how many calls the functions made and how long they took, whatever their verdict is. */
void report_calls(const struct blocks *blocks, const struct interval_view *v, struct text *out);
/* Prints one line: the interval, and its blocks with the members that `report --json` prints. */
void report_interval_json(const struct interval *iv, const struct blocks *blocks,
			  const struct interval_view *v, struct text *out);

#endif
