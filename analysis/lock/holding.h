/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a thread does that holds a lock while others wait for it: which traced function it is in
 * itself, without that function's traced callees, and whether it runs, waits for a CPU or sleeps.
 * Every hold counts for as long as others waited for its end, so that holds that nobody waited for
 * do not count.
 *
 * Samples of the CPUs say in which function a holder runs that is not traced.
 */
#ifndef ISPOT_ANALYSIS_LOCK_HOLDING_H
#define ISPOT_ANALYSIS_LOCK_HOLDING_H

#include <stdint.h>

#include "analysis/threads/threads.h"

struct call;
struct meta;
struct meta_frame;

#define HOLDING_PARTS	6 /* functions; the time in further ones is in none of them */
#define HOLDING_SAMPLED 4 /* functions in samples that are told apart */
/* Samples in one function. */
struct holding_samples {
	const struct meta_frame *at; /* one of its frames */
	double ns;		     /* their weight */
};

/* Samples by function. */
struct holding_sampled {
	uint32_t samples; /* all */
	double ns;
	unsigned n;
	struct holding_samples at[HOLDING_SAMPLED];
};

/* The calls inside one hold. */
struct holding {
	unsigned n;
	struct holding_part {
		uint32_t function;
		uint64_t ns;			 /* own time */
		uint64_t runnable_ns, asleep_ns; /* part of it */
	} parts[HOLDING_PARTS];
	struct holding_sampled sampled;
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
	struct holding_sampled sampled;
};

/* Adds a call that ended inside the hold. */
void holding_add(struct holding *h, const struct call *c);
/* Adds a sample of the holder inside the hold, in the function of that frame. NULL: unknown. */
void holding_add_sample(struct holding *h, const struct meta_frame *at, uint64_t weight_ns);
/* Adds a wait of wait_ns for a hold of hold_ns. off: the holder's off-CPU time in that hold. */
void holding_sum(struct holding_sums *sums, const struct holding *h, const struct offcpu *off,
		 uint64_t hold_ns, uint64_t wait_ns);
void holding_join(struct holding_sums *into, const struct holding_sums *from);

/* The function, or else what the holder did, for most of the time in which others waited. */
struct holding_most {
	uint32_t function;		  /* UINT32_MAX: no one traced function */
	const struct meta_frame *sampled; /* then one that is not traced; NULL: none is known */
	const char *doing;  /* "runs", "waits for a CPU", "sleeps"; NULL: nothing for most of it */
	const char *mostly; /* of function: "asleep", "waiting for a CPU"; NULL: it runs, or none */
	double share;	    /* of the waits: the function's, or else of what it does */
};
struct holding_most holding_most(const struct holding_sums *sums);
/* Returns the name of the function, traced or not, or NULL if none is known. */
const char *holding_function(const struct meta *meta, const struct holding_most *most);

#endif
