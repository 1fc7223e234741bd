/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program whose turns were counted, and the lines that make them uneven
 * (lime.h). Where callgrind counted them (counted_find()):
 * A thread's dumps are cut where it comes to a barrier, or begins and ends an OpenMP body; its n-th
 * such dump of a section belongs to the n-th instance. Time is instructions executed; with caches
 * simulated, callgrind's estimate of cycles: instructions + 10 per miss of L1 + 100 per miss of the
 * last level.
 *
 * Nodes of the control-flow graph are branches: jumps, calls, returns; an edge leads from a branch
 * to the next one that is executed after it (the paper's edges of its Pin profiler).
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_H

#include <stdint.h>

#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/count/part_key.h"
#include "analysis/imbalance/imbalance.h"
#include "analysis/imbalance/lime.h"

/* A function's code and where in it; numbers of the run's names. */
struct counted_frame {
	uint32_t function, file, line;
};

/*
 * A line that explains a section's imbalance. The largest score comes first; where scores read the
 * same, lines whose source is at hand.
 */
struct counted_cause {
	double score;
	enum lime_kind kind;
	const char *what; /* "branch" "loop" "call"; "cache-misses" "memory" and other events */
	uint32_t place, towards; /* of run; towards: where the edge leads, MAP_NONE: none */
	uint32_t caller; /* of run; where its source is not at hand: the nearest caller whose is */
	double *counts;	 /* [thread of the section]: over its instances */
	/*
	 * The frames of the place, innermost first: functions whose code was inlined, and where
	 * into the next one; the last is the function that it was compiled into.
	 */
	struct {
		VEC(struct counted_frame)
	} frames;
};

struct counted_section {
	enum lime_answer answer; /* of the instance with the largest imbalance, unless one has
				    causes */
	double worst;		 /* that imbalance */
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
	} events; /* of the whole run */
	struct map event_of;
	uint32_t *node_of, *sorted; /* node_of[place]: the branch that control flow comes to from
				       it; sorted: places by address */
	struct map body_names; /* of a dump's trigger, an OpenMP body's end, the section's name */
	struct {
		VEC(struct counted_dump)
	} dumps; /* those that end sections */
};

/* run, callgrind's, must outlive it. c: zeroed, but for imbalance.keeps_each. */
void counted_find(struct counted *c, const struct counts *run, const struct lime_options *o);

/*
 * A part of samples. Their sections and times are known from elsewhere, and the stretch between two
 * barriers may be too short for samples: a group is one instance of a section or several that
 * follow each other.
 */
struct counted_part {
	struct part_key key; /* its instance means nothing */
	double time;	     /* in the group's instances */
};

/* Begin, take each thread of each group, finish: that takes the imbalance over, sorted. */
void counted_begin(struct counted *c, const struct counts *run);
void counted_take(struct counted *c, const struct counted_part *part, const struct counts_dump *d);
void counted_finish(struct counted *c, struct imbalance *imbalance, const struct lime_options *o);

void counted_release(struct counted *c);

#endif
