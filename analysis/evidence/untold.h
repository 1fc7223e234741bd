/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's CPU time that no score covers. A visitor: every CPU sample of a thread counts for
 * the function that ran, and for the innermost traced call at that time, if any. Once the blocks
 * are judged, the time outside traced calls, and in calls of functions with too few calls, is the
 * time for which interference cannot be measured. Time before the first probes, and between bursts,
 * does not count.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_UNTOLD_H
#define ISPOT_ANALYSIS_EVIDENCE_UNTOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/evidence/runtime.h"
#include "base/hash.h"
#include "base/vec.h"

struct meta;
struct meta_frame;

#define UNTOLD_SAMPLES_MIN 50	      /* shares of fewer samples are not reported */
#define UNTOLD_OUTSIDE	   UINT32_MAX /* not in any traced call */

struct untold_row {
	uint32_t function; /* index of meta.frames: its names tell it from others */
	uint32_t frame;	  /* the same, or of what is inlined there; in the loop with most samples */
	uint32_t call;	  /* function id of the innermost traced call, or UNTOLD_OUTSIDE */
	uint32_t votes;	  /* lead of the frame's loop over the function's other loops, in samples */
	double ns;	  /* CPU time */
	double spins_ns;  /* part of it, in which the thread waited without sleeping */
	double faults_ns; /* part of it, in the kernel below code that makes no system calls */
};

/* CPU time by function and thread. */
struct untold_part {
	uint32_t frame, thread; /* thread: index */
	double ns;
};
/* A set of probes that was switched on or off. */
struct untold_set {
	uint64_t id;
	uint64_t gone_ns; /* since then none of its functions comes back; UINT64_MAX: some do */
	bool off;
};
#define UNTOLD_PARTS_MAX 65536 /* CPU time of further parts is dropped */

struct untold {
	const struct calls *calls;
	const struct meta *meta;
	struct strtab names; /* functions, with their object */
	struct map name_of;  /* index of meta.frames -> name */
	struct map row_of;   /* name and call -> row */
	struct {
		VEC(struct untold_row)
	} rows;
	struct map part_of;  /* thread and name -> part */
	struct map work_of;  /* stack, and whether it is in the kernel -> enum runtime_work */
	struct map waits_of; /* stack -> standard_spins() */
	struct map begin_of; /* thread -> its longest stack in meta.stacks */
	struct {
		VEC(struct untold_part)
	} parts;
	uint32_t samples;
	uint32_t sets_on; /* number of probe sets that are on */
	bool begun;	  /* there was one */
	struct {
		VEC(struct untold_set)
	} sets;
	/* until then all sets are off, unless one is switched on before; 0: one is on */
	uint64_t paused_until_ns;
	bool has_libc; /* one of the frames is of the C library */
	size_t looked; /* how many frames were looked at for that */
	double ns;     /* CPU time of all samples, also of those without a known function */
	double runtime_ns[RUNTIME_WORKS]; /* parts of it */
};

void untold_init(struct untold *u, const struct calls *calls, const struct meta *meta);
struct call_visitor untold_visitor(struct untold *u);
void untold_release(struct untold *u);

/* CPU time of a function for which interference cannot be measured. */
struct untold_function {
	const struct meta_frame *function; /* its names tell it from others */
	const struct meta_frame *frame;	   /* as a reader knows it; symbol "": only the object */
	double most_ns;			   /* of the rows that were added up, that of frame */
	double share;			   /* of all CPU time */
	double spins;			   /* part of it: waiting without sleeping */
	double faults;			   /* part of it: most likely in page faults */
};

struct untold_functions {
	double share; /* of all CPU time: sum over the functions, and time without a known
		       * function; NAN: too few samples */
	double spins; /* part of it: waiting without sleeping */
	VEC(struct untold_function)
};

/* Finds the functions with time outside of judged calls, most time first. judged(ctx, function id):
 * whether there were enough calls of the function for a verdict. The caller releases the vector. */
void untold_find(const struct untold *u, bool (*judged)(const void *ctx, uint32_t id),
		 const void *ctx, struct untold_functions *out);

/* The share of all CPU time that a runtime has for one kind of work; 0: too few samples. */
double untold_runtime(const struct untold *u, enum runtime_work work);

/* Returns the function, outside of standard libraries, that has most of a thread's CPU time, or
 * NULL if too little is known. *share: its part of that time, from 0 to 1. */
const struct meta_frame *untold_busiest(const struct untold *u, uint32_t thread, double *share);

/* Returns the program's outermost function in the thread's longest stack, or NULL if not known. */
const struct meta_frame *untold_begin(const struct untold *u, uint32_t thread);

#endif
