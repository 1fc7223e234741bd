/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Critical sections: for each lock, how long threads waited for it and how long it was held. Both
 * are computed from the calls that take and release the lock and their recorded arguments. A block
 * of kind lock is the calls that take one lock, wherever they do; a section is the additional data
 * of such a block, with the call sites. A lock is held from the exit of the call
 * that took it to the entry of the call that releases it, on the same thread; pthread_cond_wait
 * releases its mutex and takes it again. The same address in two processes is two locks, so threads
 * of one process never hold a lock that another process waits for; locks of one name are one block
 * all the same.
 */
#ifndef ISPOT_ANALYSIS_LOCK_SECTION_H
#define ISPOT_ANALYSIS_LOCK_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/group/argkey.h"
#include "analysis/group/callsite.h"
#include "analysis/lock/holding.h"
#include "analysis/lock/table.h"
#include "analysis/score/block.h"
#include "analysis/score/keyed.h"

struct err;

/* The patterns that record all of this, including waits that release a mutex meanwhile. */
#define SECTION_WAIT_PATTERNS "-F 'pthread_cond_*wait@arg2'"
#define SECTION_PATTERNS      "-F 'pthread_mutex_*@arg1' " SECTION_WAIT_PATTERNS

#define SECTION_LOCKS  65536 /* calls on further locks are only counted */
#define SECTION_PLACES 8     /* call sites of a lock; the last one has the rest */

/* A call site of a lock: where it was taken, and the waits for, or of, those that took it there. */
struct section_place {
	uint32_t site; /* index of callsites; MAP_NONE: not recorded */
	uint64_t waits, wait_ns;
	/* set by sections_finish() */
	const char *name;
	const struct block *hold; /* how long it is held from there; NULL: not known */
};

struct section_places {
	uint32_t n;
	struct section_place data[SECTION_PLACES]; /* longest wait time first */
};

struct section {
	uint64_t acquired, contended; /* contended: another thread held the lock when the call
				       * began */
	bool contended_only;	      /* only contended acquisitions were recorded */
	const struct block *hold;     /* block of the hold times; NULL: not is_clear, or no hold */
	/* The holder is known for at least 99% of the acquisitions, because the releases were
	 * recorded. released: some were. Set by sections_finish(). */
	bool is_clear, released;
	struct holding_sums doing;     /* what its holders did while others waited */
	struct section_places holders; /* who held the lock during the waits */
	struct section_places takers;  /* who took it; waits: the calls */
};

/* Sums over the holders of one lock, or of all locks that one function takes. */
struct section_doing {
	uint32_t function, lock; /* lock: MAP_NONE: all of them */
	bool unclear;		 /* of some lock not all releases were recorded */
	struct holding_sums sums;
};

/*
 * Callbacks for every hold of a lock; may be NULL. group: group of holds, which is the lock and the
 * call site that took it. contended: another thread held the lock when the call that took it began.
 */
struct section_hook {
	void *self;
	void (*taken)(void *self, const struct thread *t, uint32_t lock, uint32_t group,
		      const struct call *by, bool contended);
	/* hold: a made-up call from the acquisition to the release. */
	void (*held)(void *self, const struct thread *t, uint32_t lock, uint32_t group,
		     const struct call *hold);
};

struct sections {
	const struct meta *meta;
	struct section_hook hook;
	const struct calls *calls;
	struct keyed *waits, holds;
	struct argkeys places;
	struct callsites sites;
	const struct lock_function **functions; /* [function id]; NULL: no lock function */
	uint64_t released_until_ns[LOCK_KINDS]; /* until then a function was recorded that releases
						 * such locks and does not wait; 0: none was */
	struct {
		VEC(struct lock)
	} locks;
	struct map lock_of;  /* hash of process and address -> lock; the next free key on a
			      * collision */
	struct map first_of; /* name of a lock -> first lock with this name */
	struct map joined; /* hash of set and process -> whether the set's probes are in, once they
			    * were */
	uint64_t unseen_until_ns[LOCK_KINDS]; /* until then the probes of a function that releases
					       * such locks are out, unless they come in before */
	struct map place_of; /* function that holds a lock -> site that stands for it + 1 */
	struct {
		VEC(struct section)
	} all; /* [group of waits] */
	struct {
		VEC(struct section_thread)
	} threads;
	struct strtab names;
	struct blocks hold_blocks;
	uint64_t beyond;    /* calls on locks beyond SECTION_LOCKS, which are only counted */
	uint64_t no_result; /* trylock calls whose return value was not recorded */
	/* For locks of which some releases were recorded, but not all: how often the lock was taken
	 * while another thread held it according to the records. Set by sections_finish(). */
	uint64_t unclear;
	/* Only one call in several, or only long calls were recorded. Releases cannot be matched
	 * with acquisitions then, so no holds are computed. */
	bool partial;
	/* Set after sections_init(): nothing but what holders do is wanted, for sections_holding().
	 * No durations are summed up. */
	bool only_holding;
	/* A row for each function that takes locks, and one for each of its locks. Set by
	 * sections_sum_holding(). */
	struct {
		VEC(struct section_doing)
	} doing;
	struct map doing_of; /* hash of function and name of the lock -> doing; the next free key on
			      * a collision */
};

/* Returns -ENODATA if no lock function was recorded, or none with its argument; err says how to
 * record them. */
int sections_init(struct sections *s, const struct meta *meta, const struct calls *calls,
		  struct keyed *waits, struct err *err);
struct call_visitor sections_visitor(struct sections *s);
struct keyed_rule sections_rule(struct sections *s);
/* Appends the name of a group of holds, "LOCK taken in PLACE". */
void sections_name(struct sections *s, uint32_t group, struct text *name);
/* Sets names and sections of the blocks of waits. Called after keyed_build(). */
void sections_finish(struct sections *s, const struct block_options *o, struct blocks *blocks);
/* Whether functions were recorded that release a lock while they wait. */
bool sections_see_waits(const struct sections *s);
/* Sums up what the holders of locks did while others waited, once all calls are recorded. */
void sections_sum_holding(struct sections *s);
/*
 * Returns what the holders of a lock did while others waited for it, valid as long as s is.
 * function: the function that takes the lock; lock: its name, or NULL for all locks that the
 * function takes. Returns NULL if not all releases were recorded, or if no thread waited. Called
 * after sections_sum_holding().
 */
const struct holding_sums *sections_holding(const struct sections *s, uint32_t function,
					    const char *lock);
void sections_release(struct sections *s);

#endif
