/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program, where threads wait for the slowest at the end, and the time that
 * each section loses: the sum over its dynamic instances, however these were measured (parallel.h
 * finds them in recordings). Imbalance is defined by the LIME paper: the average share of a section
 * that its threads idle at its end.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_IMBALANCE_H
#define ISPOT_ANALYSIS_IMBALANCE_IMBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum section_kind {
	SECTION_BARRIER, /* between two waits at a barrier, or a thread's begin and its first
			  * wait */
	SECTION_JOIN,	 /* a thread's children, from the first one's begin to the last one's end */
	SECTION_REGION,	 /* an OpenMP parallel region */
	SECTION_NAMED,	 /* calls of a function or marker that the user named */
};

const char *section_kind_name(enum section_kind kind); /* "barrier" "join" "region" "named" */

/* Stands for the thread that created the others of a SECTION_JOIN, if it worked in the section,
 * too. */
#define SECTION_MAKER UINT32_MAX

/* A thread's part of one instance. Times are in ns or the unit of the measurement. */
struct section_part {
	uint32_t thread; /* number of imbalance_name(); in a SECTION_JOIN: rank in the order of
			  * creation, or SECTION_MAKER */
	double time;	 /* from the section's begin until the thread was done and waited */
	double cpu_wait; /* part of time: on the run queue; NAN: not known */
	double asleep;	 /* part of time: asleep, but not at the section's end; NAN: not known */
	double own;	 /* recordings only: part of time since its own begin of the section,
			  * less cpu_wait */
	uint32_t tid;	 /* recordings only: the thread, and from when to when it worked */
	uint64_t from_ns, to_ns;
};

struct section_thread {
	uint32_t thread;
	uint64_t instances, last;	     /* instances it took part in; instances in which it
					      * was the slowest */
	double time, idle, cpu_wait, asleep; /* sums */
};

/* A step sums up successive instances, step_instances of them, so that SECTION_STEPS hold all. */
#define SECTION_STEPS 64
struct section_step {
	double worked, idle; /* thread time, summed over the step's instances */
};

/* One instance, if all of them are kept (keeps_each). */
struct section_instance {
	uint64_t begin_ns; /* recordings only */
	double duration, lost;
	size_t first, n; /* its range in the section's parts */
};

struct parallel_section {
	uint32_t number; /* as imbalance_add() returned it */
	enum section_kind kind;
	const char *name, *since; /* where it ends and where it begins; since "": same as name,
				   * or not known */
	uint64_t instances;
	double duration, lost; /* sums of durations and of idle times over the instances */
	double thread_time;    /* sum of duration × threads */
	struct {
		VEC(struct section_thread)
	} threads; /* in order of their appearance */
	struct section_step steps[SECTION_STEPS];
	uint64_t step_instances; /* instances in a step; the last step may have fewer */
	uint64_t largest;	 /* number of the instance with the most lost time, from 1; 0:
				  * none */
	double largest_lost;	 /* its lost time */
	struct {
		VEC(struct section_part)
	} largest_parts;
	/* Filled only if struct imbalance has keeps_each: */
	struct {
		VEC(struct section_instance)
	} each;
	struct {
		VEC(struct section_part)
	} parts;
};

struct thread_name {
	uint32_t tid;
	char comm[32]; /* "" not known */
};

struct imbalance {
	struct strtab names;
	struct map section_of; /* hash of kind, name and since -> section; the next free key on a
				* collision */
	struct {
		VEC(struct parallel_section)
	} sections;
	struct {
		VEC(struct thread_name)
	} thread_names;	 /* [thread number] */
	bool keeps_each; /* keep every instance; set before the first one; memory grows with the
			  * instances */
	/* Called for each instance, if set. */
	void (*seen)(void *ctx, uint32_t section, const struct section_part *parts, size_t n);
	void *seen_ctx;
};

/* Adds a thread with this name. Threads are numbered from 0 in the order of these calls. */
void imbalance_name(struct imbalance *i, uint32_t tid, const char *comm);

/* Adds one instance and copies its parts. Returns the section's number, or MAP_NONE if n < 2,
 * because one thread has no imbalance. */
uint32_t imbalance_add(struct imbalance *i, enum section_kind kind, const char *name,
		       const char *since, const struct section_part *parts, size_t n);

/* Returns the average share of the section that its threads idle, from 0 to 1. Instances are
 * weighted by their duration and number of threads. */
double section_imbalance(const struct parallel_section *s);

/* Returns the thread that was most often the slowest, or NULL if there are no threads. */
const struct section_thread *section_worst(const struct parallel_section *s);

size_t section_steps(const struct parallel_section *s);

/* Sorts sections, the one with the most lost time first. No instance may be added afterwards. */
void imbalance_sort(struct imbalance *i);
void imbalance_release(struct imbalance *i);

#endif
