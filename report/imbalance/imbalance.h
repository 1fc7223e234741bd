/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot imbalance`: parallel regions and their lost time. */
#ifndef ISPOT_REPORT_IMBALANCE_IMBALANCE_H
#define ISPOT_REPORT_IMBALANCE_IMBALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct counted;
struct imbalance;
struct text;

#define IMBALANCE_JSON_VERSION 1

struct imbalance_view {
	const struct imbalance *imbalance;
	/*
	 * NULL: nothing was counted. Times are ns if exact_time is set, else instructions, or
	 * cycles as callgrind estimates them with caches
	 */
	const struct counted *counted;
	/* the provider of the counts, and what the first line says about it; NULL: none */
	const char *provider, *how;
	const char *program, *command;	/* "": unknown */
	const char *file;		/* name of the recording, or NULL */
	uint64_t start_ns, duration_ns; /* of the recording */
	uint64_t paused_ns; /* part of duration_ns in which switches had no records, so that no
			     * region of that part is known */
	bool joins_unknown; /* threads were created, and a wait for their end has no record */
	bool each;	    /* lists every iteration, which imbalance keeps then */
	const char *const *notices; /* sentences; the last element is NULL */
	uint64_t top;		    /* number of sections; 0: the default */
	bool exact_time;	    /* times are ns */
	bool colours, utf8;
	unsigned width;
};

void report_imbalance_text(const struct imbalance_view *v, struct text *out);
void report_imbalance_json(const struct imbalance_view *v, struct text *out);

#endif
