/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the threads that the dumps of a run under callgrind belong to. valgrind gives the number of
 * an ended thread to the next new thread, and callgrind continues to count under that number. So
 * the run has dumps at the begin of each thread, which end the counts of the previous thread with
 * its number, and dumps where threads are created and waited for, which show their broods.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_THREADS_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/imbalance/section/brood.h"
#include "base/vec.h"

struct counts;
struct counts_dump;

struct counted_thread {
	uint32_t brood, order; /* brood BROOD_NONE: it is the first thread */
	struct {
		VEC(const struct counts_dump *)
	} dumps; /* in order; the last one is the thread's end, with any trigger */
};

struct counted_threads {
	struct broods broods; /* makers are indices of all; a site is the index of the maker's
			       * dump before its wait */
	struct {
		VEC(struct counted_thread)
	} all; /* in the order of their begin */
};

/* Returns the function that the dump's trigger names after `when`, such as "--dump-before=", or
 * NULL if the trigger does not begin with that. */
const char *counted_trigger(const struct counts *run, const struct counts_dump *d,
			    const char *when);

void counted_threads_find(struct counted_threads *t, const struct counts *run);
void counted_threads_release(struct counted_threads *t);

#endif
