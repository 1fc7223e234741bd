/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time asleep or blocked outside every traced call, by the stack that the thread went to sleep
 * with: what the traced functions do not cover. A visitor; stacks whose innermost SITE_FRAMES
 * functions are the same become a block of kind `site` whose "calls" are its sleeps, measured from
 * leaving the CPU to the wakeup where that is known, else to being back on it. Where such stacks
 * part further out, up to SITE_FRAMES_MAX, and more than one of their ways has a good part of the
 * time, each of these is a block, and of ways that wait for work and ways that do not, too. No
 * probe takes part, so its floor is 0. While no set of probes is on, nothing is outside of them.
 * Where one call in several was recorded, stacks tell what was inside a traced function's call all
 * the same: that is in its scores. Where libraries have no frame pointers one such stack may be all
 * that is seen of different waits: those at locks, at barriers and all others are blocks of their
 * own, and so are waits at futexes where threads are idle for most of the time, as parked workers
 * are. What a futex is, and who was idle, is known at the end: until then each has a part of the
 * place. Of a CPU that switches very often not every wait has a stack: one without is where the
 * thread, or else any, waited for the same futex before, and of other waits where the thread
 * waited in the same system call.
 */
#ifndef ISPOT_ANALYSIS_SITE_SITE_H
#define ISPOT_ANALYSIS_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/score/block.h"
#include "analysis/stat/hist.h"
#include "analysis/threads/wait.h"

struct sites {
	const struct calls *calls;
	struct {
		VEC(struct site_stack)
	} stacks;
	struct map stack_of;  /* stack id -> index of stacks */
	struct map traced;    /* stack id -> 1: goes through a traced function, else 0 */
	struct map by_frames; /* hash of a stack's frames -> index of stacks */
	struct map last_at;   /* futex and thread or none, or thread and call -> index of stacks */
	struct strtab names;
	struct {
		VEC(struct site_path)
	} paths;
	struct map path_of; /* longest name -> index of paths */
	struct map site_of; /* path, futex or class -> index of all */
	struct {
		VEC(struct site)
	} all; /* parts; from sites_build() on whole ones, by name, class and whether idle */
	struct map visits_of; /* site, stack -> index of visits */
	struct {
		VEC(struct site_visit)
	} visits;
	struct map cell_of; /* site, thread -> cell */
	struct {
		VEC(struct site_cell)
	} cells;
	struct {
		VEC(struct site_sleep)
	} asleep; /* [thread index] */
};

#define SITE_FRAMES	3
#define SITE_FRAMES_MAX 8
#define SITE_DEPTHS	(SITE_FRAMES_MAX - SITE_FRAMES + 1)
#define SITE_WORDS_MAX	4096 /* futexes beyond these are told apart by class only */
#define SITE_PATHS_MAX	4096 /* and stacks beyond these by SITE_FRAMES functions only */

/* The same stack by SITE_FRAMES functions, by one more, …; of a short one the last come again. */
struct site_path {
	uint32_t names[SITE_DEPTHS];
};

struct site_stack {
	uint32_t stack, path; /* path: index of paths */
};

/* How often threads slept at the site with that stack. */
struct site_visit {
	uint32_t site, stack; /* index of stacks */
	uint64_t sleeps;
};

struct site {
	uint32_t path;
	/* of as many of its functions as tell it from others, and as are said; known at the end */
	uint32_t name, said;
	enum futex_class class; /* FUTEX_CONDITION: or no futex at all */
	uint32_t word;		/* of a part at one futex; else SLEEP_NOBODY */
	bool idle;		/* for most of the time; known at the end */
	struct hist sleeps;
	struct wait_sums waits;
	uint64_t blocked_ns, idle_ns, open;
};

struct site_cell {
	uint32_t site, thread;
	uint64_t sleeps, ns, open_ns, open;
	uint64_t ended; /* threads that were summed up here (ended.h); 0: it is of one */
	uint64_t ended_observed_ns;
};

struct site_sleep {
	bool asleep;	/* outside of every recorded call */
	bool on;	/* and there are probes */
	uint32_t stack; /* index of stacks; MAP_NONE: not known */
	struct offcpu off;
};

void sites_init(struct sites *s, const struct calls *calls);
struct call_visitor sites_visitor(struct sites *s);
/* After calls_end(): who still sleeps. */
void sites_end(struct sites *s);
/*
 * A block per site, appended; they borrow names from s. Adds each thread's excess at sites whose
 * verdict is interference, which are in_lost, to lost_ns [thread index].
 */
void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns);
void sites_release(struct sites *s);

#endif
