/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long the threads would wait on a machine of their own. Some of the traced threads that are
 * runnable without a CPU would wait anyway: as many as there are more runnable threads than CPUs.
 * The others wait because other programs have the CPUs (or because of the scheduler or an
 * affinity). If these leave the program only a part of the CPUs, its work would have taken only
 * that part of the time on all of them, and so would the wait for its own threads. So the clock
 * runs at the share of threads that would wait anyway, times that part. The waiting time of a
 * thread is what has passed on the clock.
 */
#ifndef ISPOT_ANALYSIS_THREADS_OVERSUBSCRIPTION_H
#define ISPOT_ANALYSIS_THREADS_OVERSUBSCRIPTION_H

#include <stdint.h>

struct oversubscription {
	uint32_t cpus; /* 0: unknown, and nothing is counted */
	uint32_t running, waiting;
	uint64_t since_ns;
	double clock_ns; /* reading at since_ns */
};

enum oversubscription_place {
	OVERSUBSCRIPTION_AWAY,
	OVERSUBSCRIPTION_RUNNING,
	OVERSUBSCRIPTION_WAITING
};

/* The state of one thread, zero at first. */
struct oversubscription_member {
	enum oversubscription_place place;
	double mark_ns; /* reading of the clock when it was last taken */
};

/* Moves the member to another place at time_ns. */
void oversubscription_move(struct oversubscription *c, struct oversubscription_member *m,
			   enum oversubscription_place place, uint64_t time_ns);
/* Returns what has passed since the member began to wait, or since the last call. */
double oversubscription_take_ns(const struct oversubscription *c, struct oversubscription_member *m,
				uint64_t time_ns);

#endif
