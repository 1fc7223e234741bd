/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot imbalance`: parallel sections and the time that they lose. */
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
	const struct counted *counted;	/* NULL: nothing was counted. Times are ns, or without
					   exact_time instructions, or cycles as callgrind estimates
					   them with caches */
	const char *provider, *how;	/* who counted, and what the first line says of it; NULL */
	const char *program, *command;	/* "" not known */
	const char *file;		/* of the recording; NULL: there is none */
	uint64_t start_ns, duration_ns; /* of the recording */
	bool each;			/* with every instance, which imbalance then keeps */
	const char *const *notices;	/* sentences, NULL-terminated */
	uint64_t top;			/* sections shown, 0: the default */
	bool exact_time;		/* times are ns */
	bool colours, utf8;
	unsigned width;
};

void report_imbalance_text(const struct imbalance_view *v, struct text *out);
void report_imbalance_json(const struct imbalance_view *v, struct text *out);

#endif
