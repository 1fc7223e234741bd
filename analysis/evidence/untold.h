/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the program's CPU time is that no score tells of. A visitor: every CPU sample of a thread
 * counts for the function that ran, beside the traced call that was innermost then, if there was
 * one. Once the blocks are judged, the time outside every traced call and in calls of functions
 * that were called too few times is the time of which nobody can say whether threads interfere.
 * Time before the first probes, and between bursts, does not count.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_UNTOLD_H
#define ISPOT_ANALYSIS_EVIDENCE_UNTOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/hash.h"
#include "base/vec.h"

struct meta;
struct meta_frame;

#define UNTOLD_SAMPLES_MIN 50	      /* fewer say nothing about shares */
#define UNTOLD_OUTSIDE	   UINT32_MAX /* in no traced call */

struct untold_row {
	uint32_t frame; /* of meta: one of the function's, in the loop that most samples are in */
	uint32_t call;	/* function id of the innermost traced call, or UNTOLD_OUTSIDE */
	uint32_t votes; /* of the frame over others of the function */
	double ns;	/* CPU time */
};

/* The same CPU time by thread. */
struct untold_part {
	uint32_t frame, thread; /* thread: index */
	double ns;
};
#define UNTOLD_PARTS_MAX 65536 /* time beyond these is in no part */

struct untold {
	const struct calls *calls;
	const struct meta *meta;
	struct strtab names; /* of functions, with their object */
	struct map name_of;  /* frame of meta -> name */
	struct map row_of;   /* name and call -> row */
	struct {
		VEC(struct untold_row)
	} rows;
	struct map part_of;  /* thread and name -> part */
	struct map begin_of; /* thread -> its longest stack of meta */
	struct {
		VEC(struct untold_part)
	} parts;
	uint32_t samples;
	uint32_t sets_on; /* sets of probes that are on */
	bool paused;	  /* there are sets, and none is on */
	double ns;	  /* CPU time of all samples, also of those without a known function */
};

void untold_init(struct untold *u, const struct calls *calls, const struct meta *meta);
struct call_visitor untold_visitor(struct untold *u);
void untold_release(struct untold *u);

/* CPU time of which nothing can be told, by function. */
struct untold_function {
	const struct meta_frame *frame; /* symbol "": only the object is known */
	double share;			/* of the CPU time */
};

struct untold_functions {
	double share; /* of the CPU time, their sum and that without a known function; NAN: too few
			 samples */
	VEC(struct untold_function)
};

/* judged(ctx, function id): whether calls of it were enough to tell. Most time first; the caller
 * releases the vector. */
void untold_find(const struct untold *u, bool (*judged)(const void *ctx, uint32_t id),
		 const void *ctx, struct untold_functions *out);

/* The function, outside of standard libraries, that has most of a thread's CPU time and its share
 * of that, from 0 to 1. NULL: too little is known. */
const struct meta_frame *untold_busiest(const struct untold *u, uint32_t thread, double *share);

/* The outermost function of the program's in the thread's longest stack; NULL: not known. */
const struct meta_frame *untold_begin(const struct untold *u, uint32_t thread);

#endif
