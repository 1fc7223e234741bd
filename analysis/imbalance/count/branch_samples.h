/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts of branches and of events at instructions, estimated from hardware samples: branch
 * records, each with the last taken branches before it, and samples of an event with the
 * instruction where it happened. A sample stands for its period, which is divided among its
 * branches. Sections, times and threads come from a recording of the same run (parallel.h).
 *
 * Branch records contain only taken branches. Between the target of one branch and the source of
 * the next, control flow ran straight: it passed all known branches there without taking them. A
 * branch is known if it was taken at least once, as with callgrind.
 *
 * Instances with few samples are not analysed alone: successive instances of a section are analysed
 * together until their threads have enough samples.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_BRANCH_SAMPLES_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_BRANCH_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/count/part_key.h"
#include "base/hash.h"
#include "base/vec.h"

struct lime_options;
struct counted;
struct imbalance;

#define BRANCH_SAMPLES_ENOUGH 200 /* samples per thread, on average */

struct branch_sample_place {
	const void *file; /* equal pointers stand for equal paths */
	const char *path;
	uint64_t address; /* address in the file */
};

struct branch_sample_turn {
	struct branch_sample_place from, to;
};

/* turns: number of taken branches, which are pairs from index first on, newest first. 0: the event
 * happened at the place first. */
struct branch_sample {
	uint64_t time_ns;
	uint32_t tid, first, turns;
	float weight; /* weight of each branch, or of the event */
};

struct branch_sample_pair {
	uint32_t from, to;
};

struct branch_sample_part {
	struct part_key key;
	uint32_t tid;
	uint64_t from_ns, to_ns, samples;
	double time; /* time without waits for a CPU */
};

struct branch_samples {
	struct counts run;
	struct map object_of; /* file -> number of its path in run.names */
	struct {
		VEC(struct branch_sample)
	} samples;
	struct {
		VEC(struct branch_sample_pair)
	} pairs;
	struct {
		VEC(struct branch_sample_part)
	} parts;
	uint32_t instances;
	uint64_t within; /* samples inside a thread's part of a section */
};

/* Returns the kind of cause for an event of this name. */
const char *branch_samples_kind(const char *event);
/* event: the kind of the sampled event, as in counted_cause. */
void branch_samples_init(struct branch_samples *s, const char *event);
void branch_samples_turns(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_turn *turns, size_t n);
void branch_samples_event(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_place *at);
/* Makes i report its instances to s. */
void branch_samples_watch(struct branch_samples *s, struct imbalance *i);
/* Finds the causes, once all samples and instances are there. c takes over i; s must outlive c. */
void branch_samples_find(struct branch_samples *s, struct counted *c, struct imbalance *i,
			 const struct lime_options *o);
void branch_samples_release(struct branch_samples *s);

#endif
