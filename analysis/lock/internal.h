/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What section.c (who waits, who holds) and finish.c (what that is called) share. */
#ifndef ISPOT_ANALYSIS_LOCK_INTERNAL_H
#define ISPOT_ANALYSIS_LOCK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/threads.h"
#include "base/vec.h"

struct hold {
	uint32_t thread, function, site, depth;
	bool shared;
	uint64_t since_ns, calls, cost_ns;
	uint64_t stuck_ns; /* until then a call waited for it in vain; 0: none did */
	uint32_t cpu;
	struct offcpu off;
};

struct waiter {
	uint32_t thread, group;
	uint64_t since_ns;
	bool contended;
};

struct lock {
	uint64_t address;
	uint32_t tgid;
	uint32_t first; /* lock at the same place, in whatever process: they are one block */
	bool released;	/* of first: the release of one of them was seen */
	/* of first: how often they were taken; of these, while another thread held it by all that
	 * was recorded: its release was not seen */
	uint64_t taken, unclear;
	struct {
		VEC(struct hold)
	} holds;
	struct {
		VEC(struct waiter)
	} waiters;
};

/* What a thread has called so far: what is in a section is the difference. */
struct section_thread {
	uint64_t calls, cost_ns;
};

#endif
