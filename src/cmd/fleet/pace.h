/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides when `ispot fleet record` watches and when it rests: in the duty cycle that the user
 * wants, or so that the measured cost stays below a bound. The cost is the CPU time of its own
 * processes, and that which the kernel and the probes take from the watched programs. This is for
 * records and samples, whose costs are measured at the start (watchcost.h), and for probed calls.
 */
#ifndef ISPOT_CMD_FLEET_PACE_H
#define ISPOT_CMD_FLEET_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct fleet_args;

struct fleet_pace {
	uint64_t on_ns;	    /* length of a window; 0: it has no end */
	uint64_t period_ns; /* least time between the starts of two windows */
	double bound;	    /* share of the CPUs' time; 0: none */
	uint32_t cpus;	    /* now */
	bool children;	    /* the CPU time of child processes counts, because none of them is the
			       watched command */
	double record_ns, sample_ns; /* time that each takes from the watched program */
	uint64_t begin_ns, own_begin_ns;
	double available_ns; /* time of all CPUs until counted_ns */
	uint64_t counted_ns;
	/* Sums so far: */
	uint64_t records, samples, watched_ns;
	double probes_ns;
	double latest_ns, cost_before_ns; /* cost of the latest window, and before it */
};

/* counters: windows sample hardware counters; otherwise they record calls. */
int fleet_pace_init(struct fleet_pace *p, const struct fleet_args *a, bool counters,
		    struct err *err);
/* Measures what records and samples cost, and begins. */
void fleet_pace_begin(struct fleet_pace *p, uint32_t cpus, bool counters);
/* Sets the number of CPUs from now on. */
void fleet_pace_cpus(struct fleet_pace *p, uint32_t cpus);
/* Returns whether windows follow each other without a break. */
bool fleet_pace_is_steady(const struct fleet_pace *p);
/* Called at the end of a window. Returns when the next one may begin. */
uint64_t fleet_pace_next(struct fleet_pace *p, uint64_t from_ns, uint64_t now_ns);
/* Returns the cost so far in ns of CPU time. *own_ns: the part of its own processes. */
double fleet_pace_cost(const struct fleet_pace *p, double *own_ns);
/* Writes the cost as "0.42 % of the CPUs' time: …". */
#define FLEET_PACE_TEXT 256
const char *fleet_pace_say(const struct fleet_pace *p, char *buf);

#endif
