/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that were too short to be written (REC_BRIEF), as if they had been measured by calls.h. */
#ifndef ISPOT_ANALYSIS_CALLS_BRIEF_H
#define ISPOT_ANALYSIS_CALLS_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

struct hist;
struct meta;
struct record;

struct brief {
	uint32_t id;
	uint64_t calls, outer;
	uint64_t sum_ns, min_ns;     /* of the outer ones */
	uint64_t inside, cost_ns;    /* traced calls inside these; of probing them, not in sum_ns */
	uint64_t own_ns, own_min_ns; /* of all */
	uint64_t top_ns;	     /* of those inside no traced call at all */
};

/* False: it is not one, or is damaged. */
bool brief_read(struct brief *b, const struct record *r, uint32_t n_functions);
/* The outer ones: counts, sum and minimum are exact, where in its octave each lies is not known. */
void brief_add(const struct brief *b, const struct record *r, struct hist *h);
/*
 * Returns the notice about this part of the recording, or NULL. Notices about a thread come at its
 * end.
 */
const char *brief_notice_of_window(const struct meta *meta);
/* Sum of the squares of their durations, by the middles of the octaves. */
double brief_squares(const struct record *r);

#endif
