/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of functions, or of groups of calls (keyed.h), and what they weigh. Few calls
 * have a stack of their own (the first of each call site, then one in many), but every call has its
 * site: a site's calls and times are divided among its stacks by how often each was taken. A
 * visitor.
 */
#ifndef ISPOT_ANALYSIS_SCORE_CALLSTACK_H
#define ISPOT_ANALYSIS_SCORE_CALLSTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/hash.h"
#include "base/vec.h"

struct block;

/* Calls of a function, or of a group, from one place. */
struct callstack_site {
	uint32_t id, stack; /* stack: of the place alone; 0: it was not recorded */
	uint32_t taken;	    /* stacks of its calls */
	uint64_t calls;
	uint64_t timed, ns; /* of those that are timed: count, durations */
	uint64_t slow;	    /* timed calls of at least slow_min_ns */
};

/* One stack as often as it was taken. Those whose frames are the same are one. */
struct callstack_row {
	uint32_t stack, site; /* site: index of sites */
	uint32_t taken;
};

#define CALLSTACKS_RECENT 2048 /* functions that are called in turn have one each */

struct callstacks {
	const struct meta *meta;
	bool of_groups;	      /* ids are those of groups */
	uint64_t slow_min_ns; /* set by the owner; UINT64_MAX: nothing is slow */
	struct map twins;     /* stack id -> the first with the same frames */
	struct map by_frames; /* hash of frames, probed upwards -> stack id */
	struct map site_of;   /* function << 32 | stack of the place -> index of sites */
	struct map row_of;    /* site << 32 | stack -> index of rows */
	struct {
		VEC(struct callstack_site)
	} sites;
	struct {
		VEC(struct callstack_row)
	} rows;
	struct {
		uint64_t key;
		uint32_t site;
	} recent[CALLSTACKS_RECENT]; /* of site_of, by key; site + 1, 0: none */
};

/* A call stack that stands for some of a block's calls. */
struct callstack {
	uint32_t stack; /* id; of the calling place alone where no stack was taken */
	uint32_t taken; /* 0: none was */
	double calls, slow;
	double ns, timed;
};
struct callstack_list {
	VEC(struct callstack)
};

void callstacks_init(struct callstacks *s, const struct meta *meta);
struct call_visitor callstacks_visitor(struct callstacks *s);
/* Adds a call under another id, as the visitor does. */
void callstacks_add(struct callstacks *s, uint32_t id, bool recursive, const struct call *c);
void callstacks_release(struct callstacks *s);

/*
 * Lists the call stacks of a function, of a call site of it, or of a group; most time first. The
 * list is empty for other blocks; the caller releases it.
 */
void callstacks_of(struct callstacks *s, const struct block *b, struct callstack_list *list);

#endif
