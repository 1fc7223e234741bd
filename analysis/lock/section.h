/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Critical sections: for each lock and place that takes it, how long threads waited for it and how
 * long it was held, from the calls that take and release it and their recorded arguments. A block
 * of kind lock is the calls that take one lock at one place; what it has besides is a section. The
 * time a lock is held is from the exit of the call that took it to the entry of the one that
 * releases it, on the same thread; pthread_cond_wait releases its mutex and takes it again.
 * Locks at one address in two processes are two locks, which nobody holds against the other; those
 * of one name are one block all the same.
 */
#ifndef ISPOT_ANALYSIS_LOCK_SECTION_H
#define ISPOT_ANALYSIS_LOCK_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/group/argkey.h"
#include "analysis/group/callsite.h"
#include "analysis/score/block.h"
#include "analysis/score/keyed.h"

struct err;

/* The patterns that record all of it, with the waits that release a mutex meanwhile. */
#define SECTION_WAIT_PATTERNS "-F 'pthread_cond_*wait@arg2'"
#define SECTION_PATTERNS      "-F 'pthread_mutex_*@arg1' " SECTION_WAIT_PATTERNS

#define SECTION_LOCKS	65536 /* told apart; calls on further ones are counted only */
#define SECTION_HOLDERS 8     /* places whose waits are kept for a block, the rest is in the last */

struct section_holder {
	uint32_t site; /* of callsites; MAP_NONE: not recorded */
	uint64_t waits, wait_ns;
	const char *name; /* after sections_finish() */
};

struct section {
	uint64_t acquired, contended; /* contended: another thread held it when the call began */
	bool contended_only;	      /* how often nobody held it is not known */
	const struct block *hold;     /* the times it was held; NULL: no release was seen */
	/*
	 * Of all takings but a hundredth it is known which thread held the lock: the releases were
	 * seen. Set by sections_finish().
	 */
	bool is_clear;
	uint32_t n_holders;
	struct section_holder
		holders[SECTION_HOLDERS]; /* who held it meanwhile, most waits first */
};

/*
 * Told of every time that a lock is held; NULL: nobody is. group: of holds, the lock and the place
 * that took it. contended: another thread had it when the call that took it began.
 */
struct section_hook {
	void *self;
	void (*taken)(void *self, const struct thread *t, uint32_t lock, uint32_t group,
		      const struct call *by, bool contended);
	/* hold: as if it were a call, from when it was taken to when it was released. */
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
	const struct lock_function **functions; /* [function id]; NULL: not of a lock */
	struct {
		VEC(struct lock)
	} locks;
	struct map lock_of;  /* hash of process and address, probed upwards -> lock */
	struct map first_of; /* place -> lock there that was seen first */
	struct map place_of; /* function that holds a lock -> site where it takes it + 1 */
	struct {
		VEC(struct section)
	} all; /* [group of waits] */
	struct {
		VEC(struct section_thread)
	} threads;
	struct strtab names;
	struct blocks hold_blocks;
	uint64_t beyond;    /* calls on locks beyond SECTION_LOCKS */
	uint64_t no_result; /* tries whose return value was not recorded */
	/*
	 * For locks of which some releases were seen, but not all: how often a lock was taken while
	 * another thread held it as far as the records say. Set by sections_finish().
	 */
	uint64_t unclear;
	/* One call in several was recorded, or the long ones alone: which release is of which
	 * taking is not known, so no lock is known to be held. */
	bool partial;
};

/* -ENODATA: no lock function was recorded, or none with its argument; says how to. */
int sections_init(struct sections *s, const struct meta *meta, const struct calls *calls,
		  struct keyed *waits, struct err *err);
struct call_visitor sections_visitor(struct sections *s);
struct keyed_rule sections_rule(struct sections *s);
/* "LOCK taken in PLACE": a group of holds. */
void sections_name(struct sections *s, uint32_t group, struct text *name);
/* After keyed_build(): names the blocks of the waits, and gives them their sections. */
void sections_finish(struct sections *s, const struct block_options *o, struct blocks *blocks);
/* Functions were recorded that release a lock while they wait. */
bool sections_see_waits(const struct sections *s);
void sections_release(struct sections *s);

#endif
