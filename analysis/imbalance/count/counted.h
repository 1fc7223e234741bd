/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program whose branches were counted, and the lines that make them uneven
 * (lime.h). With counts of callgrind (counted_find()), a thread's counts are dumped when it comes
 * to a barrier, and when it begins and ends an OpenMP body; its n-th such dump of a section belongs
 * to the n-th instance. Time is the number of instructions executed, or with simulated caches
 * callgrind's estimate of cycles: instructions + 10 per miss of L1 + 100 per miss of the last
 * level.
 *
 * The nodes of the control-flow graph are branches: jumps, calls and returns. An edge leads from a
 * branch to the next one that is executed after it (as in the paper's Pin profiler).
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_H

#include <stdint.h>

#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/count/part_key.h"
#include "analysis/imbalance/count/counted_frame.h"
#include "analysis/imbalance/imbalance.h"
#include "analysis/imbalance/lime.h"

/* A line that explains a section's imbalance. Causes are sorted by score, largest first; of scores
 * that print equally, lines that the user can change come first. */
struct counted_cause {
	double score;
	enum lime_kind kind;
	const char *what; /* "branch", "loop", "call", "cache-misses", "memory" or another event */
	uint32_t place, towards; /* places of run; towards: target of the edge, MAP_NONE: none */
	uint32_t caller; /* place of run: if the user cannot change the line of place, the nearest
			  * one with a line that the user can change; may be place itself */
	struct counted_frame from;    /* that line; undefined without a caller */
	double *counts;		      /* [thread of the section]: sum over its instances */
	struct counted_frames frames; /* of place */
};

struct counted_section {
	enum lime_answer answer; /* of the instance with the largest imbalance; LIME_FOUND if any
				  * instance has causes */
	double worst;		 /* imbalance of that instance */
	struct lime_total total;
	struct {
		VEC(struct counted_cause)
	} causes;
};

struct counted {
	const struct counts *run;
	struct imbalance imbalance;
	double min_idle; /* as in struct lime_options */
	struct {
		VEC(struct counted_section)
	} sections; /* [parallel_section.number] */
	struct {
		VEC(struct lime_event)
	} events; /* events of the whole run */
	struct map event_of;
	uint32_t *node_of, *sorted; /* node_of[place]: the next branch after the place; sorted:
				     * places by address */
	struct map body_names;	    /* trigger of a dump at the end of an OpenMP body -> name of the
				     * section */
	struct {
		VEC(struct counted_dump)
	} dumps; /* dumps that end a thread's part of a section */
};

/* Finds sections and causes from callgrind's counts. run must outlive c. c must be zeroed, except
 * imbalance.keeps_each. */
void counted_find(struct counted *c, const struct counts *run, const struct lime_options *o);

/*
 * A part whose counts are from samples. Its section and time are known from a recording. The time
 * between two barriers may be too short for samples, so a group is one instance of a section or
 * several successive ones.
 */
struct counted_part {
	struct part_key key; /* its instance is not used */
	double time;	     /* sum over the group's instances */
};

/* Finds causes from samples: counted_begin(), counted_add_part() for each thread of each group,
 * then counted_finish(), which takes over imbalance, sorted. */
void counted_begin(struct counted *c, const struct counts *run);
void counted_add_part(struct counted *c, const struct counted_part *part,
		      const struct counts_dump *d);
void counted_finish(struct counted *c, struct imbalance *imbalance, const struct lime_options *o);

void counted_release(struct counted *c);

#endif
