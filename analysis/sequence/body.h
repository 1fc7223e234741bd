/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of sequence.c: nested sequences, identified by their function and the row of its direct
 * calls. */
#ifndef ISPOT_ANALYSIS_SEQUENCE_BODY_H
#define ISPOT_ANALYSIS_SEQUENCE_BODY_H

#include "analysis/sequence/sequence.h"

struct text;
struct track;

struct body {
	uint32_t function, group, n;
	bool rest; /* stands for all bodies of the function without a row of their own */
	struct pattern_element *elements;
	uint64_t calls;
	double lost_ns;	 /* own lost time of its calls that are in a row (owner.h) */
	double alone_ns; /* the same of those that are in none */
};

/* Returns the body of an ended call. row: its direct calls, with repetitions folded; NULL: not
 * known. */
struct body *sequence_body(struct sequences *s, const struct call *c, const struct track *row);
/* Returns the body that stands for all bodies of the function without a row of their own. */
struct body *sequence_rest_body(struct sequences *s, uint32_t function);

#endif
