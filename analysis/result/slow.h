/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block under the glass: how its slow calls differ from its fast ones, who called it, on
 * which threads, and its slowest calls one by one. A second pass over the trace, once the first
 * has told the median and the 90th percentile: fast is at most the median, slow at least p90.
 */
#ifndef ISPOT_ANALYSIS_RESULT_SLOW_H
#define ISPOT_ANALYSIS_RESULT_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/cause/samples_compare.h"
#include "analysis/score/block.h"
#include "analysis/score/callstack.h"

struct err;
struct keyed;
struct result;
struct result_options;
struct trace_reader;

/* Sums over a group of calls. */
struct slow_group {
	uint64_t calls, ns, min_ns, max_ns;
	uint64_t callees_ns; /* in traced callees */
	uint64_t callees;    /* traced calls made */
	uint64_t migrated;
	struct offcpu own_off;
};

#define SLOW_TOP 10

struct slow_call {
	uint64_t entry_ns, duration_ns;
	uint32_t tid, caller; /* caller: function id, UINT32_MAX none */
	struct offcpu off;
};

struct slow {
	const struct block *block;   /* in result->blocks, or its groups */
	const struct keyed *grouped; /* while the trace is read: groups, of which it is one */
	uint64_t fast_max_ns, slow_min_ns;
	uint64_t unwritten; /* calls that are in no group: record --keep-slower left them out */
	struct slow_group fast, rest, slow;
	struct {
		VEC(struct slow_group)
	} by_thread; /* [thread index] */
	struct {
		VEC(struct slow_group)
	} by_caller;	     /* [function id + 1]; 0: no traced caller */
	bool *open_too_long; /* [function id]: a marker that tells nobody's caller */
	struct callstacks callstacks;
	struct differences differences; /* by samples */
	struct slow_call top[SLOW_TOP]; /* longest first */
	uint32_t n_top;
};

/*
 * Rewinds r. name: demangled or symbol, exact, or a part of it that only one block has; of a
 * function's calls with one key (argkey.h) name and key, "pthread_mutex_lock locks+0x28", the same.
 * -ENOENT: no such block (with the nearest), -EINVAL: several.
 */
int slow_read(struct slow *slow, const struct result *result, struct trace_reader *r,
	      const struct result_options *o, const char *name, struct err *err);
void slow_release(struct slow *slow);

#endif
