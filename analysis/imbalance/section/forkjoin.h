/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads from their creation to their join. A brood is the threads that one thread creates, up to
 * its first wait for the end of one of them; a thread created after that begins a new brood. A wait
 * for the end of a thread is recognized by
 *
 *	a call of a function that joins
 *	a sleep on the thread's tid futex, which the kernel clears at the thread's end
 *
 * so calls need not be recorded: most programs create their threads at once, and wait for them long
 * before the function has a probe.
 *
 * A wait for a thread that has ended before needs no sleep. The stack of such a thread, which
 * contains the futex, is given to a later thread only after that wait, or if the thread is
 * detached. So a thread whose futex belongs to another thread now is not part of the brood; and if
 * no thread of the brood is alive then, the brood ends. Without recorded futexes, a brood ends when
 * none of its threads is alive. Threads that end after the last one that was waited for are
 * detached, and not part of the brood.
 *
 * The maker is part of its brood if its work until its first wait is roughly as much as that of one
 * of the threads.
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
	uint64_t word;		 /* address of the tid futex, which the kernel clears at the
				  * thread's end; 0: not known */
	struct offcpu off;	 /* between born_ns and end_ns */
	struct offcpu maker_off; /* of its maker, at born_ns */
};

struct forkjoin {
	const struct threads *threads;
	struct callsites *sites;
	/* Called for each brood, in the order of their ends. site: where it was joined; MAP_NONE:
	 * not known. */
	void (*joined)(void *ctx, const struct forkjoin_part *parts, size_t n, uint32_t site);
	void *ctx;
	struct {
		VEC(struct forkjoin_thread)
	} all; /* [thread index] */
};

void forkjoin_release(struct forkjoin *f);

/* For a visitor: any record about t, and calls of functions that join. open: the call did not
 * return. */
void forkjoin_record(struct forkjoin *f, const struct thread *t, const struct record *r);
void forkjoin_enter(struct forkjoin *f, const struct thread *t, const struct call *c);
void forkjoin_leave(struct forkjoin *f, const struct thread *t, bool open);
/* Notes that t met other threads at a barrier or in a region. These are sections of their own, so
 * the brood of t is none. */
void forkjoin_met(struct forkjoin *f, const struct thread *t);
/* Notes that t runs a region. Its brood is the OpenMP runtime's threads then, which live for
 * further regions. */
void forkjoin_region(struct forkjoin *f, const struct thread *t);
/* Ends the recording, and with it all broods except those that are still waited for. */
void forkjoin_end(struct forkjoin *f);

#endif
