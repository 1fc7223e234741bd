/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Would it wait on a machine of its own? Of the traced threads that are runnable without a CPU at a
 * moment, as many would wait anyway as there are more runnable threads than CPUs; the others wait
 * because other programs have the CPUs (or the scheduler or an affinity keeps them off). If these
 * leave the program only a part of the CPUs, its work would have taken only that part of the time
 * on all of them, and so would the wait for its own threads. The clock runs at the share of the
 * first, times that part; a waiting thread takes what passed on it.
 */
#ifndef ISPOT_ANALYSIS_THREADS_OVERSUBSCRIPTION_H
#define ISPOT_ANALYSIS_THREADS_OVERSUBSCRIPTION_H

#include <stdint.h>

struct oversubscription {
	uint32_t cpus; /* 0: not known, and nothing is counted */
	uint32_t running, waiting;
	uint64_t since_ns;
	double clock_ns; /* at since_ns */
};

enum oversubscription_place {
	OVERSUBSCRIPTION_AWAY,
	OVERSUBSCRIPTION_RUNNING,
	OVERSUBSCRIPTION_WAITING
};

/* A thread's part in it, zero at first. */
struct oversubscription_member {
	enum oversubscription_place place;
	double mark_ns; /* clock when it was read last */
};

/* The member is there from time_ns on. */
void oversubscription_move(struct oversubscription *c, struct oversubscription_member *m,
			   enum oversubscription_place place, uint64_t time_ns);
/* What passed since the member began to wait, or was asked last. */
double oversubscription_take_ns(const struct oversubscription *c, struct oversubscription_member *m,
				uint64_t time_ns);

#endif
