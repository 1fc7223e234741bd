/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads from their creation to their join. What one thread makes is a brood: until it makes
 * another one after it waited for the end of one of them. That an end is waited for shows in
 *
 *	a call of a function that joins
 *	a sleep on a word that holds the thread's number, which the kernel clears at its end
 *
 * so calls need not be seen: most programs make their threads at once, and wait for them long
 * before the function has a probe. A thread that has ended before is waited for without a sleep:
 * its stack, in which that word is, goes to a later thread only then, or if it is detached. So one
 * whose word another has now is no part of the brood, which ends with it if none is alive; where
 * the words are not recorded it ends when none is. Those that end behind the last one that was
 * waited for are detached, and no part of it. Who made them is, if what it works until it first
 *waits is as much as what one of them does, roughly.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_FORKJOIN_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_FORKJOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/threads/threads.h"
#include "base/vec.h"

struct call;
struct callsites;
struct record;

struct forkjoin_part {
	uint32_t number; /* rank in the order of creation, from 0, or SECTION_MAKER */
	uint32_t tid;
	uint64_t born_ns, end_ns;
	uint64_t word;		 /* address of what the kernel clears at its end; 0: not known */
	struct offcpu off;	 /* in between */
	struct offcpu maker_off; /* its maker's, when it was born */
};

struct forkjoin {
	const struct threads *threads;
	struct callsites *sites;
	/* Told of each brood in the order of their ends; site MAP_NONE: not known where it was
	 * joined. */
	void (*joined)(void *ctx, const struct forkjoin_part *parts, size_t n, uint32_t site);
	void *ctx;
	struct {
		VEC(struct forkjoin_thread)
	} all; /* [thread index] */
};

void forkjoin_release(struct forkjoin *f);

/* For a visitor: any record about t; calls of functions that join. open: it did not return. */
void forkjoin_record(struct forkjoin *f, const struct thread *t, const struct record *r);
void forkjoin_enter(struct forkjoin *f, const struct thread *t, const struct call *c);
void forkjoin_leave(struct forkjoin *f, const struct thread *t, bool open);
/* It met others at a barrier, or in a region: these are sections, so its brood is none. */
void forkjoin_met(struct forkjoin *f, const struct thread *t);
/* It runs a region: what it made are the runtime's threads, which are kept for more of them. */
void forkjoin_region(struct forkjoin *f, const struct thread *t);
/* The recording has ended. Broods that are waited for still have not. */
void forkjoin_end(struct forkjoin *f);

#endif
