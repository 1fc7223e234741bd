/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread's latest sleeps, kept so that they can be added up for a period that turns out to matter
 * only when it is over. If the period has more than SLEEPS_KEPT sleeps, the latest stand for all.
 */
#ifndef ISPOT_ANALYSIS_THREADS_SLEEPS_H
#define ISPOT_ANALYSIS_THREADS_SLEEPS_H

#include <stdint.h>

#include "analysis/threads/wait.h"

struct thread;

#define SLEEPS_KEPT 64

struct sleeps {
	uint64_t n; /* number so far; the latest is at (n - 1) % SLEEPS_KEPT */
	struct {
		uint64_t since_ns, ended_ns;
		struct wait_cell cell;
	} all[SLEEPS_KEPT];
};

/* Adds t's latest sleep, which ended at time_ns. */
void sleeps_add(struct sleeps *s, const struct thread *t, uint64_t time_ns);
/* Adds the sleeps that began and ended in the period to sums. */
void sleeps_between(const struct sleeps *s, uint64_t from_ns, uint64_t to_ns,
		    struct wait_sums *sums);

#endif
