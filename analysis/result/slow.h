/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block in detail: how its slow calls differ from its fast ones, who called it, on which
 * threads it ran, and its slowest calls one by one. It takes a second pass over the recording,
 * after the first has found the median and the 90th percentile: fast calls take at most the median,
 * slow calls at least p90.
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
	uint64_t callees_ns; /* time in traced callees */
	uint64_t callees;    /* number of calls of traced callees */
	uint64_t migrated;
	struct offcpu own_off;
};

#define SLOW_TOP 10

struct slow_call {
	uint64_t entry_ns, duration_ns;
	uint32_t tid, caller; /* function id of the caller, or UINT32_MAX */
	struct offcpu off;
};

struct slow {
	const struct block *block;   /* in result->blocks or result->groups */
	const struct keyed *grouped; /* only while reading: the groups of which block is one */
	uint64_t fast_max_ns, slow_min_ns;
	uint64_t unwritten; /* calls in no group, because record --keep-slower did not write them */
	struct slow_group fast, rest, slow;
	struct {
		VEC(struct slow_group)
	} by_thread; /* [thread index] */
	struct {
		VEC(struct slow_group)
	} by_caller;	     /* [function id + 1]; 0: no traced caller */
	bool *open_too_long; /* [function id]: a marker that cannot count as a caller */
	struct callstacks callstacks;
	struct differences differences; /* found by samples */
	struct slow_call top[SLOW_TOP]; /* longest first */
	uint32_t n_top;
};

/*
 * Rewinds r. name is the demangled name or the symbol of a function, in full, or a pattern with
 * stars, or a part that only one block has. Of the blocks that a pattern matches, also by the
 * short names of the screen, the one that loses most is shown. For a per-argument row (argkey.h)
 * name is the function and its key, such as "pthread_mutex_lock locks+0x28". -ENOENT: there is no
 * such block (the message names the nearest). -EINVAL: several blocks match.
 */
int slow_read(struct slow *slow, const struct result *result, struct trace_reader *r,
	      const struct result_options *o, const char *name, struct err *err);
void slow_release(struct slow *slow);

#endif
