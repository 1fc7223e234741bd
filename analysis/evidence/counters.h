/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the calls of each function counted: cycles, instructions, cache misses … from
 * REC_COUNTERS, which follow the entry and the exit of a counted call. One pass: sums are kept by
 * the call's duration, in the buckets of hist.h, so that fast and slow can be told at the end,
 * when the median and the 90th percentile are known.
 *
 * A counter that is written on change (meta on_change) counts at every entry and exit: where its
 * value is missing, it is the thread's latest. Most calls then count 0 of each, which is one sum.
 *
 * A counted call's value is exit - entry, the traced callees' included; its own value is that less
 * theirs, known only if every traced callee was counted too. Recursion: `all` takes the outermost
 * calls, as durations do, `own` every call.
 *
 * NAN stands for what no call counted: never 0.
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
	struct counter_mean running_ns;		 /* of it, on a CPU */
	struct counter_mean value[COUNTERS_MAX]; /* [counter id] */
	double least[COUNTERS_MAX];		 /* mean in the shortest calls; NAN unknown */
	double running_least_ns;		 /* of those */
	double slope_ns[COUNTERS_MAX];		 /* running time that each count more comes with */
	double slope_error_ns[COUNTERS_MAX];	 /* its standard error; NAN as r2 */
	double r2[COUNTERS_MAX]; /* share of the variance of running_ns between calls that a line
				    on the value explains; NAN: too few calls, or no variance */
};

/* Durations by the cycle counter, of the calls that were stamped with it at both ends (META_STAMP),
 * less what traced callees cost, as of durations in ns. */
struct cycle_summary {
	uint64_t calls; /* 0: none, and the others mean nothing */
	uint64_t min, p50, p99;
};

/* Of a block; both NULL where nothing was counted. */
struct block_counters {
	struct counter_summary *all, *own;
	struct cycle_summary cycles;
};

/* What the call that ended just now is one of, where calls are also grouped by something else. */
struct call_group {
	uint32_t number; /* MAP_NONE: no group */
	bool inner;	 /* inside another call of the group */
};

#define COUNTED_GROUPS_MAX 1024 /* memory: counters of further groups are not kept apart */

struct counted_function;
struct counted_thread;

struct counters {
	const struct meta *meta;
	uint32_t mask;			     /* bits that meta describes as counted */
	uint32_t on_change;		     /* of them, those whose value is kept until then */
	unsigned n;			     /* highest of them + 1 */
	uint32_t stamp;			     /* of them, the cycle counter; 0: none */
	double cycles_per_ns;		     /* NAN: not known */
	struct counted_function **functions; /* [id]; NULL: no call was counted */
	size_t n_functions;		     /* when it began: a live meta grows */
	const struct call_group *group;	     /* its owner's visitor comes first; NULL: none */
	struct {
		VEC(struct counted_function *)
	} groups; /* [number]; the same */
	struct {
		VEC(struct counted_thread *)
	} threads; /* [thread index] */
};

/* meta must outlive it. */
void counters_init(struct counters *c, const struct meta *meta);
/* The calls are also summed by their group. */
void counters_group_by(struct counters *c, const struct call_group *group);
struct call_visitor counters_visitor(struct counters *c);
void counters_release(struct counters *c);

/* Means over the function's calls; released by block_counters_release(). */
struct block_counters counters_of(const struct counters *c, uint32_t id, uint64_t fast_max_ns,
				  uint64_t slow_min_ns);
/* The same of a group. */
struct block_counters counters_of_group(const struct counters *c, uint32_t number,
					uint64_t fast_max_ns, uint64_t slow_min_ns);
void block_counters_release(struct block_counters *bc);

/*
 * The value that plays this role ("cycles", "hitm", …: pmu/groups), whatever the machine calls it.
 * NULL: nobody counted it, or s is NULL.
 */
const struct counter_mean *counter_role(const struct counter_summary *s, const struct meta *meta,
					const char *role);

#endif
