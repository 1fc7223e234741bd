/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of `ispot outliers`: blocks with executions that diverge, as in the Iceberg paper's
 * table 1.
 */
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
	const struct outlier_block *of; /* in detail; NULL: all, in short */
	const char *program, *command;	/* "" not known */
	const char *file;
	uint64_t start_ns;	    /* of the recording: executions are at times since then */
	const char *const *notices; /* sentences, NULL-terminated */
	uint64_t top;		    /* blocks, or executions, shown; 0: the default */
	bool evidence;		    /* the list has it below each block, however long that is */
	bool colours;
	unsigned width;
};

void report_outliers_text(const struct outlier_view *v, struct text *out);

/* "function" "marker" "critical section" */
const char *outlier_kind_name(const struct outlier_block *b);
/* "called from f (f.c:3) < main (f.c:9)", as the program has the names, " < …" behind it where only
 * the calling place was recorded; nothing where that was not. */
void outlier_called_from(const struct outlier_view *v, const struct outlier *x, struct text *out);

/* "meanwhile asleep for 2ms, 3 page faults": what is known of it besides its cause, which may be
 * among that; nothing where nothing is. */
void outlier_meanwhile(const struct outlier *x, struct text *out);

#endif
