/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the probes have cost so far, which the parts that cause a cost are asked for, and a warning
 * if it is too high.
 */
#ifndef ISPOT_PROBES_SESSION_OVERHEAD_H
#define ISPOT_PROBES_SESSION_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct after;
struct beside;
struct budget;
struct costs;
struct cputime;
struct follow;
struct recording;
struct solo_windows;

struct overhead {
	/* parts that it asks */
	const struct costs *costs;
	const struct cputime *cputime;
	const struct follow *follow;
	const struct after *after;
	const struct budget *budget;
	const struct beside *beside;
	const struct solo_windows *solo;
	/* The sums at the last check. */
	uint64_t look_ns, cpu_ns;
	double cost_ns;
	bool warned; /* the user was warned that the probes exceed the budget */
};

/* Returns the cost of everything so far: calls, counting, switches, samples. */
uint64_t session_probes_cost_ns(const struct overhead *o, const struct recording *r);
/* Returns the number of calls, with those that sampling (-c) left out. */
uint64_t session_trapped_calls(const struct overhead *o, const struct recording *r);
/* Returns the cost of calls whose records were dropped, given the cost of those that were read. */
double session_dropped_cost_ns(double read_cost_ns, uint64_t read, uint64_t dropped);
/*
 * Writes a notice if the probes exceed the budget: in the first second, and in any later stretch of
 * some seconds with twice the reported cost (the load came later). At the end, the notice is on the
 * whole recording and in the file, too; now_ns is then the recording's end.
 */
void session_warn_cost(struct overhead *o, struct recording *r, uint64_t now_ns, bool at_end);

#endif
