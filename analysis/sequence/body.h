/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of sequence.c: nested sequences, by the function and the row of what it called. */
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

/* Of a call that ended; row: what it called, in short, NULL: not known. */
struct body *sequence_body(struct sequences *s, const struct call *c, const struct track *row);
/* That of all bodies of the function that are not told apart. */
struct body *sequence_rest_body(struct sequences *s, uint32_t function);

#endif
