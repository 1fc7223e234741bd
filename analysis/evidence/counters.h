/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the calls of each function counted: cycles, instructions, cache misses … from REC_COUNTERS
 * records, which follow the entry and the exit of a counted call. One pass: sums are kept by the
 * call's duration, in the buckets of hist.h, so that fast and slow calls can be separated at the
 * end, when the median and the 90th percentile are known.
 *
 * A counter that is written on change (on_change in meta) has a value at every entry and exit: if
 * the record lacks it, it is the thread's latest value. Most calls then count 0 of every counter;
 * one sum is enough for all of these.
 *
 * A call's value is the counter at its exit less that at its entry, traced callees included. Its
 * own value is that less the values of its traced callees, known only if all of them were counted.
 * Recursion: `all` covers the outermost calls, as durations do; `own` covers every call.
 *
 * What no call counted is NAN, never 0.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COUNTERS_H
#define ISPOT_ANALYSIS_EVIDENCE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/vec.h"
#include "trace/meta/meta.h"

#define COUNTERS_MAX META_COUNTERS_MAX

/* Fast: up to the median of the block's timed calls. Slow: from their 90th percentile on. */
struct counter_mean {
	double mean, mean_fast, mean_slow; /* per call; NAN: no such call was counted */
	uint64_t calls, fast_calls, slow_calls;
};

struct counter_summary {
	struct counter_mean ns;			 /* duration of the counted calls */
	struct counter_mean running_ns;		 /* the part of ns that was on a CPU */
	struct counter_mean value[COUNTERS_MAX]; /* [counter id] */
	double least[COUNTERS_MAX];		 /* mean in the shortest calls; NAN: unknown */
	double running_least_ns;		 /* running time of the shortest calls */
	double slope_ns[COUNTERS_MAX];		 /* additional running time for each additional
						  * count */
	double slope_error_ns[COUNTERS_MAX];	 /* standard error of slope_ns; NAN as r2 */
	double r2[COUNTERS_MAX]; /* share of the variance of running_ns that the line on the
				  * value explains; NAN: too few calls, or no variance */
};

/* Durations by the cycle counter, of calls that were stamped with it at entry and exit
 * (META_STAMP). The cost of probing traced callees is subtracted, as for durations in ns. */
struct cycle_summary {
	uint64_t calls; /* 0: no call, and the other members are invalid */
	uint64_t min, p50, p99;
};

/* The counters of a block. all, own: NULL if nothing was counted. */
struct block_counters {
	struct counter_summary *all, *own;
	struct cycle_summary cycles;
};

/* The group of the call that ended last, if calls are also grouped by something other than their
 * function. */
struct call_group {
	uint32_t number; /* MAP_NONE: no group */
	bool inner;	 /* inside another call of the group */
};

#define COUNTED_GROUPS_MAX 1024 /* further groups are not kept, to bound memory */

struct counted_function;
struct counted_thread;

struct counters {
	const struct meta *meta;
	uint32_t mask;			     /* bits of the counters that were recorded */
	uint32_t on_change;		     /* bits of those that are written on change */
	unsigned n;			     /* highest counter id + 1 */
	uint32_t stamp;			     /* bit of the cycle counter; 0: none */
	double cycles_per_ns;		     /* NAN: not known */
	struct counted_function **functions; /* [id]; NULL: no call was counted */
	size_t n_functions;		     /* at the begin, because a live meta grows */
	const struct call_group *group;	     /* set by a visitor that is called earlier; NULL:
					      * calls are not grouped */
	struct {
		VEC(struct counted_function *)
	} groups; /* [group number]; NULL: no call was counted */
	struct {
		VEC(struct counted_thread *)
	} threads; /* [thread index] */
};

/* meta must outlive c. */
void counters_init(struct counters *c, const struct meta *meta);
/* Calls are also summed by the group that group points to when a call ends. */
void counters_group_by(struct counters *c, const struct call_group *group);
struct call_visitor counters_visitor(struct counters *c);
void counters_release(struct counters *c);

/* Means over the function's calls; released by block_counters_release(). */
struct block_counters counters_of(const struct counters *c, uint32_t id, uint64_t fast_max_ns,
				  uint64_t slow_min_ns);
/* Means over a group's calls, as counters_of(). */
struct block_counters counters_of_group(const struct counters *c, uint32_t number,
					uint64_t fast_max_ns, uint64_t slow_min_ns);
void block_counters_release(struct block_counters *bc);

/* Returns the mean of the counter with this role ("cycles", "hitm", …: pmu/groups), whatever its
 * name on the machine, or NULL if it was not counted or s is NULL. */
const struct counter_mean *counter_role(const struct counter_summary *s, const struct meta *meta,
					const char *role);

#endif
