/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When `ispot fleet record` watches and when it rests: in a duty cycle that was asked for, or in
 * one that keeps the cost, as it is measured, under a bound. The cost is the CPU time of its own
 * processes and what the kernel and the probes take from those who are watched: records and
 * samples, each as long as was measured at the start (watchcost.h), and probed calls.
 */
#ifndef ISPOT_CMD_FLEET_PACE_H
#define ISPOT_CMD_FLEET_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct fleet_args;

struct fleet_pace {
	uint64_t on_ns;	    /* of a window; 0: one without an end */
	uint64_t period_ns; /* from one's start to the next one's, at least */
	double bound;	    /* share of the CPUs' time; 0: none */
	uint32_t cpus;	    /* now */
	bool children;	    /* their CPU time is the watching's: none of them is a command */
	double record_ns, sample_ns; /* what one takes from who is watched */
	uint64_t begin_ns, own_begin_ns;
	double available_ns; /* the CPUs' time until counted_ns */
	uint64_t counted_ns;
	/* Counts of what was seen so far: */
	uint64_t records, samples, watched_ns;
	double probes_ns;
	double latest_ns, cost_before_ns; /* of the latest window, and until it began */
};

/* counters: samples of hardware counters; without, windows are recordings of calls. */
int fleet_pace_init(struct fleet_pace *p, const struct fleet_args *a, bool counters,
		    struct err *err);
/* Measures what records and samples cost, and begins. */
void fleet_pace_begin(struct fleet_pace *p, uint32_t cpus, bool counters);
/* Sets the number of CPUs from now on. */
void fleet_pace_cpus(struct fleet_pace *p, uint32_t cpus);
/* Whether windows follow each other without a break. */
bool fleet_pace_is_steady(const struct fleet_pace *p);
/* The window from then to now is over. Returns when the next may begin. */
uint64_t fleet_pace_next(struct fleet_pace *p, uint64_t from_ns, uint64_t now_ns);
/* ns of CPU so far; *own_ns: of it its own processes'. */
double fleet_pace_cost(const struct fleet_pace *p, double *own_ns);
/* "0.42 % of the CPUs' time: …" */
#define FLEET_PACE_TEXT 256
const char *fleet_pace_say(const struct fleet_pace *p, char *buf);

#endif
