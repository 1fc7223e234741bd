/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of functions, or of groups of calls (keyed.h), and their parts of the calls and
 * time. Few calls have a stack of their own (the first of each call site, then one in many), but
 * every call has its site. So a site's calls and times are divided among its stacks by how often
 * each stack was recorded. A visitor.
 */
#ifndef ISPOT_ANALYSIS_SCORE_CALLSTACK_H
#define ISPOT_ANALYSIS_SCORE_CALLSTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/hash.h"
#include "base/vec.h"

struct block;

/* Calls of a function, or of a group, from one call site. */
struct callstack_site {
	uint32_t id, stack; /* stack: only the call site's frame; 0: not recorded */
	uint32_t taken;	    /* number of recorded stacks of its calls */
	uint64_t calls;
	uint64_t timed, ns; /* timed calls, and the sum of their durations */
	uint64_t slow;	    /* timed calls of at least slow_min_ns */
};

/* One stack of a site; stacks with the same frames share a row. */
struct callstack_row {
	uint32_t stack, site; /* site: index in sites */
	uint32_t taken;
};

#define CALLSTACKS_RECENT 2048 /* slots of a cache for functions that are called in turn */

struct callstacks {
	const struct meta *meta;
	bool of_groups;	      /* ids are numbers of groups, not of functions */
	uint64_t slow_min_ns; /* set by the owner; UINT64_MAX: no call is slow */
	struct map twins;     /* stack id -> the first stack with the same frames */
	struct map by_frames; /* hash of frames -> stack id; the next free key on a collision */
	struct map site_of;   /* function << 32 | stack of the call site -> index in sites */
	struct map row_of;    /* site << 32 | stack -> index in rows */
	struct {
		VEC(struct callstack_site)
	} sites;
	struct {
		VEC(struct callstack_row)
	} rows;
	struct {
		uint64_t key;
		uint32_t site;
	} recent[CALLSTACKS_RECENT]; /* cache of site_of by key; site + 1, 0: unused */
};

/* A call stack that stands for some of a block's calls. */
struct callstack {
	uint32_t stack; /* stack id; only the call site's frame if no stack was recorded */
	uint32_t taken; /* how often it was recorded; 0: never */
	double calls, slow;
	double ns, timed;
};
struct callstack_list {
	VEC(struct callstack)
};

void callstacks_init(struct callstacks *s, const struct meta *meta);
struct call_visitor callstacks_visitor(struct callstacks *s);
/* Adds a call under another id. The visitor uses the function's id. */
void callstacks_add(struct callstacks *s, uint32_t id, bool recursive, const struct call *c);
void callstacks_release(struct callstacks *s);

/*
 * Lists the call stacks of a function, of a call site of it, or of a group; most time first. The
 * list is empty for other blocks; the caller releases it.
 */
void callstacks_of(struct callstacks *s, const struct block *b, struct callstack_list *list);

#endif
