/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What traced calls cost beyond empty ones (aftermath.h) in the course of a recording. It is
 * measured for each stretch of time, because it depends on how often calls come.
 */
#ifndef ISPOT_PROBES_RECORDING_AFTER_H
#define ISPOT_PROBES_RECORDING_AFTER_H

#include <stdbool.h>
#include <stdint.h>

struct costs;
struct cputime;
struct recording;

/* The cost so far, and the counts at the last check. */
struct after {
	/* parts that it asks */
	const struct costs *costs;
	const struct cputime *cputime;
	double cost_ns;
	double calls, calls_ns;
	uint64_t cpu_ns, look_ns, memory_ns;
	double memory_bytes; /* memory of the target */
};

/* Returns the cost of this many calls in this much of the program's own time. */
double after_expect_ns(const struct after *a, double work_ns, double calls);
/* Called in each turn of the loop, and at the end. */
void after_note(struct after *a, const struct recording *r, uint64_t now, bool at_end);
/* Returns the cost so far. */
double after_sum_ns(const struct after *a);

#endif
