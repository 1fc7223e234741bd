/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time off the CPU, not runnable, outside every traced call, by the stack with which the thread
 * went to sleep: the time that the traced functions do not cover. If the innermost call is of a
 * function that has too few calls for a verdict, as that in which a thread spends its life, the
 * function does not account for the sleep either: it counts as if it were outside. That is known
 * only at the end.
 *
 * A visitor collects it. Stacks whose innermost SITE_FRAMES functions are the same become a block
 * of kind `site` whose "calls" are its sleeps. A sleep lasts from leaving the CPU to the wakeup if
 * that is known, else to being back on the CPU. If such stacks differ further out, up to
 * SITE_FRAMES_MAX functions, and more than one of the longer stacks has a good part of the time,
 * each of them becomes a block. So do stacks that wait for work and stacks that do not.
 *
 * No probe takes part in a sleep, so the noise floor is 0. While no set of probes is on, no time
 * counts as outside. If sampling skipped calls, stacks still show which sleeps were inside a call
 * of a traced function: those are in the function's scores.
 *
 * Without frame pointers in libraries one stack may stand for different waits. So waits at locks,
 * at barriers and all others are blocks of their own, and so are waits at futexes where threads are
 * idle for most of the time, as parked workers are. What a futex is, and who was idle, is known
 * only at the end: until then each futex has a part of the site.
 *
 * On a CPU that switches very often not every wait has a stack. A futex wait without one counts
 * where the thread, or else any thread, waited for the same futex before; another wait counts where
 * the thread waited in the same system call before.
 */
#ifndef ISPOT_ANALYSIS_SITE_SITE_H
#define ISPOT_ANALYSIS_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/score/block.h"
#include "analysis/site/name.h"
#include "analysis/stat/hist.h"
#include "analysis/threads/wait.h"

struct sites {
	const struct calls *calls;
	struct {
		VEC(struct site_stack)
	} stacks;
	struct map stack_of; /* stack id -> index of stacks */
	/* stack id -> 1 if the stack goes through a traced function, else 0 */
	struct map traced;
	struct map by_frames; /* hash of a stack's frames -> index of stacks */
	/* futex and thread or no thread, or thread and system call -> index of stacks */
	struct map last_at;
	struct strtab names;
	struct {
		VEC(struct site_path)
	} paths;
	struct map path_of; /* longest name -> index of paths */
	struct map site_of; /* path, futex or class, function -> index of all */
	uint32_t *entered;  /* [function id]: its calls so far */
	struct {
		VEC(struct site)
	} all; /* parts; sites_build() joins them to whole sites by name, class and whether they are
		  idle */
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

#define SITE_WORDS_MAX 4096 /* further futexes are distinguished by class only */
#define SITE_PATHS_MAX 4096 /* further stacks are distinguished by SITE_FRAMES functions only */

struct site_stack {
	uint32_t stack, path; /* path: index of paths */
};

/* How often threads slept at a site with a stack. */
struct site_visit {
	uint32_t site, stack; /* stack: index of stacks */
	uint64_t sleeps;
};

struct site {
	uint32_t path;
	/*
	 * names by the number of functions that distinguish the site, and that are shown; known at
	 * the end
	 */
	uint32_t name, said;
	uint32_t inside; /* id + 1 of the function whose call is the innermost; 0: outside of all */
	enum futex_class class; /* FUTEX_CONDITION also stands for waits that are not at a futex */
	uint32_t word;		/* the futex of a part; SLEEP_NOBODY: not at one futex */
	bool idle;		/* threads are idle here for most of the time; known at the end */
	/* at best no thread sleeps here: at a lock, also between tries for it (tries.h), or at a
	 * barrier */
	bool free;
	struct hist sleeps;
	struct wait_sums waits;
	uint64_t blocked_ns, idle_ns, open;
};

struct site_cell {
	uint32_t site, thread;
	uint64_t sleeps, ns, open_ns, open;
	/* threads that were added up in this cell (ended.h); 0: the cell is of one thread */
	uint64_t ended;
	uint64_t ended_observed_ns;
};

struct site_sleep {
	bool asleep;	   /* the thread sleeps outside every recorded call, or in a seldom one */
	bool on;	   /* probes are on as well */
	uint32_t stack;	   /* index of stacks; MAP_NONE: unknown */
	uint32_t inside;   /* as in struct site */
	uint64_t since_ns; /* of the thread's sleep */
	struct offcpu off;
	struct offcpu left; /* the same when switches last ceased to have records */
};

void sites_init(struct sites *s, const struct calls *calls);
struct call_visitor sites_visitor(struct sites *s);
/* Counts the sleeps that last to the end of the recording. Is called after calls_end(). */
void sites_end(struct sites *s);
/* Leaves out the sleeps in calls of functions that account for them. Is called before
 * sites_build(), with the judged functions. */
void sites_leave_out(struct sites *s, const struct blocks *functions);
/*
 * Appends a block for each site; the blocks borrow names from s. Adds to lost_ns [thread index] the
 * excess of each thread at the sites whose verdict is interference, which are in_lost.
 */
void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns);
void sites_release(struct sites *s);

#endif
