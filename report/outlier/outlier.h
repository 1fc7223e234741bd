/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot outliers`: the blocks with outliers, as in table 1 of the Iceberg paper. */
#ifndef ISPOT_REPORT_OUTLIER_OUTLIER_H
#define ISPOT_REPORT_OUTLIER_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlier;
struct outlier_block;
struct outliers;
struct text;

#define OUTLIERS_JSON_VERSION 1

struct outlier_view {
	const struct outliers *outliers;
	const struct outlier_block *of; /* shown in detail; NULL: all blocks, in brief */
	const char *program, *command;	/* "": unknown */
	const char *file;
	/* start of the recording; times of calls are relative to it */
	uint64_t start_ns;
	const char *const *notices; /* sentences; the last element is NULL */
	uint64_t top;		    /* number of blocks or calls; 0: the default */
	/* the list shows the evidence below each block, however long it gets */
	bool evidence;
	bool colours;
	bool utf8; /* the screen can show UTF-8 */
	unsigned width;
};

void report_outliers_text(const struct outlier_view *v, struct text *out);

/* Returns "function", "marker" or "critical section". */
const char *outlier_kind_name(const struct outlier_block *b);
/* Returns "call", or "run" for a critical section, which nobody calls. */
const char *outlier_unit(const struct outlier_block *b);
/* Returns the cause in the words of the report. */
const char *outlier_cause_name(const struct outlier *x);
/*
 * Adds "called from f (f.c:3) < main (f.c:9)" with the names as the program has them. " < …"
 * follows if only the call site was recorded. Adds nothing if no caller was recorded.
 */
void outlier_called_from(const struct outlier_view *v, const struct outlier *x, struct text *out);

/*
 * Adds what else happened during the call, as in "meanwhile blocked for 2ms, 3 page faults".
 * The cause may be among it. Adds nothing if nothing is known.
 */
void outlier_meanwhile(const struct outlier *x, struct text *out);

#endif
