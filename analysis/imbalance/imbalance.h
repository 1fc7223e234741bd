/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program, where threads wait for the slowest at the end, and what each
 * loses: the sum over its dynamic instances, wherever these were measured (parallel.h finds them
 * in recordings). Imbalance is the LIME paper's: the average share of a section that its threads
 * idle at its end.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_IMBALANCE_H
#define ISPOT_ANALYSIS_IMBALANCE_IMBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum section_kind {
	SECTION_BARRIER, /* between two waits at a barrier, or a thread's begin and its first */
	SECTION_JOIN,	 /* a thread's children, from the first one's begin to the last one's end */
	SECTION_REGION,	 /* an OpenMP parallel region */
	SECTION_NAMED,	 /* calls of a function or marker that the user named */
};

const char *section_kind_name(enum section_kind kind); /* "barrier" "join" "region" "named" */

/* Stands for the thread that made the others of a SECTION_JOIN, where it had a share itself. */
#define SECTION_MAKER UINT32_MAX

/* A thread's part of one instance. Times from the section's begin; ns or what stands for them. */
struct section_part {
	uint32_t thread; /* of imbalance_name(); SECTION_JOIN: rank in the order of creation, or
			    SECTION_MAKER */
	double time;	 /* until it was done and waited */
	double cpu_wait; /* of it, runnable without a CPU; NAN: not known */
	double asleep;	 /* of it, for other reasons than the section's end; NAN: not known */
	double own;	 /* of it, since it went on itself, less cpu_wait; of a recording */
	uint32_t tid;	 /* of a recording: when which thread did it */
	uint64_t from_ns, to_ns;
};

struct section_thread {
	uint32_t thread;
	uint64_t instances, last;	     /* instances it took part in, and came last of */
	double time, idle, cpu_wait, asleep; /* sums */
};

/* Instances one after the other, as many in each step as there is room for all of them. */
#define SECTION_STEPS 64
struct section_step {
	double worked, idle; /* sums over its instances: of thread times */
};

/* One instance, where all of them are kept. */
struct section_instance {
	uint64_t begin_ns; /* of a recording */
	double duration, lost;
	size_t first, n; /* of the section's parts */
};

struct parallel_section {
	uint32_t number; /* as imbalance_add() gave it */
	enum section_kind kind;
	const char *name, *since; /* where it ends and begins; since "": as name, or not known */
	uint64_t instances;
	double duration, lost; /* sums over the instances: of durations, of idle times */
	double thread_time;    /* of duration × threads */
	struct {
		VEC(struct section_thread)
	} threads; /* in order of their appearance */
	struct section_step steps[SECTION_STEPS];
	uint64_t step_instances; /* of a step; of the last one as many or fewer */
	uint64_t largest;	 /* number of the instance that lost most, from 1 */
	double largest_lost;	 /* and how much */
	struct {
		VEC(struct section_part)
	} largest_parts;
	/* Filled only by an analysis that keeps every instance: */
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
	struct map section_of; /* hash of kind, name, since; probed upwards -> section */
	struct {
		VEC(struct parallel_section)
	} sections;
	struct {
		VEC(struct thread_name)
	} thread_names;	 /* [number of the thread] */
	bool keeps_each; /* instance: set before there is any; memory grows with them */
	/* Told of each instance, if set. */
	void (*seen)(void *ctx, uint32_t section, const struct section_part *parts, size_t n);
	void *seen_ctx;
};

/* Names the next thread: they are numbered from 0. */
void imbalance_name(struct imbalance *i, uint32_t tid, const char *comm);

/* One instance; parts are copied. Fewer than two threads are none. Returns the section's number,
 * MAP_NONE where there is none. */
uint32_t imbalance_add(struct imbalance *i, enum section_kind kind, const char *name,
		       const char *since, const struct section_part *parts, size_t n);

/* Average share of the section that its threads idle, each instance weighing as its duration. */
double section_imbalance(const struct parallel_section *s);

/* The thread that came last most often; NULL: there are no threads. */
const struct section_thread *section_worst(const struct parallel_section *s);

size_t section_steps(const struct parallel_section *s);

/* The sections that lose most first; from here on none can be added. */
void imbalance_sort(struct imbalance *i);
void imbalance_release(struct imbalance *i);

#endif
