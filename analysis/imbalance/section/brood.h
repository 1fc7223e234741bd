/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Broods of threads. A brood is the threads that one thread creates, up to its first wait for the
 * end of one of them; a thread created after that begins a new brood. The caller reports each
 * creation and each wait, in order. Recordings do not show all of these (forkjoin.h).
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_BROOD_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_BROOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

#define BROOD_NONE UINT32_MAX

struct brood {
	uint32_t maker;	 /* the thread that created the brood, as a number of the caller's */
	uint32_t before; /* the maker's previous brood; BROOD_NONE: none */
	uint32_t made;	 /* number of threads */
	bool awaited;
	uint32_t site; /* site of its maker's last wait, as a number of the caller's; BROOD_NONE:
			* no wait */
};

struct broods {
	struct map latest; /* maker -> index of its latest brood */
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
