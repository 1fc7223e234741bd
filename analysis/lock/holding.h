/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a thread does that holds a lock while others wait for it: which traced function it is in
 * itself, without that function's traced callees, and whether it runs, waits for a CPU or sleeps.
 * Every hold counts for as long as others waited for its end, so that holds that nobody waited for
 * do not count.
 */
#ifndef ISPOT_ANALYSIS_LOCK_HOLDING_H
#define ISPOT_ANALYSIS_LOCK_HOLDING_H

#include <stdint.h>

#include "analysis/threads/threads.h"

struct call;

#define HOLDING_PARTS 6 /* functions; the time in further ones is in none of them */

/* The calls inside one hold. */
struct holding {
	unsigned n;
	struct holding_part {
		uint32_t function;
		uint64_t ns;			 /* own time */
		uint64_t runnable_ns, asleep_ns; /* part of it */
	} parts[HOLDING_PARTS];
};

/* Sums of how the holders of a lock spent the time in which other threads waited for it. A hold
 * counts for as long as threads waited for its end. */
struct holding_sums {
	double wait_ns;				   /* of threads that waited */
	double running_ns, runnable_ns, asleep_ns; /* its parts, by what the holder did */
	unsigned n;
	struct holding_sum {
		uint32_t function;
		double ns;		       /* part of wait_ns */
		double runnable_ns, asleep_ns; /* part of ns */
	} parts[HOLDING_PARTS];
};

/* Adds a call that ended inside the hold. */
void holding_add(struct holding *h, const struct call *c);
/* Adds a wait of wait_ns for a hold of hold_ns. off: the holder's off-CPU time in that hold. */
void holding_sum(struct holding_sums *sums, const struct holding *h, const struct offcpu *off,
		 uint64_t hold_ns, uint64_t wait_ns);
void holding_join(struct holding_sums *into, const struct holding_sums *from);

/* The function, or else what the holder did, for most of the time in which others waited. */
struct holding_most {
	uint32_t function;  /* UINT32_MAX: no one function */
	const char *doing;  /* "runs", "waits for a CPU", "sleeps"; NULL: nothing for most of it */
	const char *mostly; /* of function: "asleep", "waiting for a CPU"; NULL: it runs, or none */
	double share;	    /* of the waits: the function's, or else of what it does */
};
struct holding_most holding_most(const struct holding_sums *sums);

#endif
