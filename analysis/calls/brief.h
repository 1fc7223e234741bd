/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Brief calls: too short to be recorded one by one, so only their sums were recorded (REC_BRIEF).
 * The sums are those that calls.h would have measured. "Outer" calls are not inside another call of
 * their function.
 */
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
	uint64_t sum_ns, min_ns;     /* of outer calls */
	uint64_t inside, cost_ns;    /* traced calls inside, and the cost of probing them, which
				      * sum_ns does not include */
	uint64_t own_ns, own_min_ns; /* of all calls */
	uint64_t top_ns;	     /* of calls that are not inside any traced call */
};

/* Returns false if the record is not REC_BRIEF or is damaged. */
bool brief_read(struct brief *b, const struct record *r, uint32_t n_functions);
/* Adds the outer calls. Counts, sum and minimum are exact; each duration is known to its octave
 * only. */
void brief_add(const struct brief *b, const struct record *r, struct hist *h);
/* Returns a notice for reports of a part of the recording, or NULL. Brief calls of a thread are
 * recorded when the thread ends, so the part that they belong to is not known. */
const char *brief_notice_of_window(const struct meta *meta);
/* Returns the sum of the squares of the outer calls' durations, taken as the middles of octaves. */
double brief_squares(const struct record *r);

#endif
