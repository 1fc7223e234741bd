/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that one thread makes until it makes another one after it waited for the end of one of
 * them: told, in order, by what sees each creation and each wait. Recordings see less (forkjoin.h).
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_BROOD_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_BROOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

#define BROOD_NONE UINT32_MAX

struct brood {
	uint32_t maker;	 /* the caller's number of the thread that made it */
	uint32_t before; /* the maker's previous one; BROOD_NONE: none */
	uint32_t made;	 /* so many threads */
	bool awaited;
	uint32_t site; /* where its maker waited last, the caller's number; BROOD_NONE: nowhere */
};

struct broods {
	struct map latest; /* maker -> its latest one */
	struct {
		VEC(struct brood)
	} all;
};

void broods_release(struct broods *b);

/* Notes that the maker creates a thread. Returns the index of the thread's brood; *order is its
 * rank within the brood, from 0. */
uint32_t broods_made(struct broods *b, uint32_t maker, uint32_t *order);
/* Notes that the maker waits for the end of a thread that it created. */
void broods_awaited(struct broods *b, uint32_t maker, uint32_t site);

#endif
