/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of sequence.c: nested sequences, by their function and the row of calls that it made. */
#ifndef ISPOT_ANALYSIS_SEQUENCE_BODY_H
#define ISPOT_ANALYSIS_SEQUENCE_BODY_H

#include "analysis/sequence/sequence.h"

struct text;
struct track;

struct body {
	uint32_t function, group, n;
	bool rest; /* every body of the function that is not told apart */
	struct pattern_element *elements;
	uint64_t calls;
};

/* Returns the body of an ended call. row: the calls that it made, in short; NULL: not known. */
struct body *sequence_body(struct sequences *s, const struct call *c, const struct track *row);
/* Returns the body that stands for all bodies of the function that are not told apart. */
struct body *sequence_rest_body(struct sequences *s, uint32_t function);

#endif
