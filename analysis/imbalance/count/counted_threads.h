/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose the dumps of a run under callgrind are. valgrind gives the number of a thread that ended to
 * the next one that is made, and callgrind goes on adding to it. So the run has dumps where a
 * thread begins, which end what its number had before, and where threads are made and waited for,
 * which say who belongs together.
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
	uint32_t brood, order; /* BROOD_NONE: nobody made it, it is the first */
	struct {
		VEC(const struct counts_dump *)
	} dumps; /* in order; the last one ends it, whatever its trigger */
};

struct counted_threads {
	struct broods broods; /* makers are numbers of all; a site is the dump of the maker before
				 which it waits */
	struct {
		VEC(struct counted_thread)
	} all; /* in the order in which they began */
};

/* Returns the function that the dump's trigger names behind `when`, such as "--dump-before=", or
 * NULL if the trigger begins otherwise. */
const char *counted_trigger(const struct counts *run, const struct counts_dump *d,
			    const char *when);

void counted_threads_find(struct counted_threads *t, const struct counts *run);
void counted_threads_release(struct counted_threads *t);

#endif
