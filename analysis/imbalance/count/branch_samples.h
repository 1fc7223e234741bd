/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts of control flow's turns and of events at instructions, estimated from samples of the
 * hardware: branch records, each sample with the last turns before it, and samples of an event with
 * the instruction where it happened. What a sample stands for is its period; the turns of one share
 * it. Sections, times and threads are a recording's that ran at the same time (parallel.h).
 *
 * Branch records tell of taken branches only. Between where one led to and where the next one left
 * from, control flow ran straight: it passed every branch that is known there. So a branch is known
 * if it was seen taken, as with callgrind.
 *
 * Instances with few samples say nothing by themselves. Those of a section that follow each other
 * are analysed together until their threads have enough.
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
	const void *file; /* the same pointer, the same path */
	const char *path;
	uint64_t address; /* in the terms of the file */
};

struct branch_sample_turn {
	struct branch_sample_place from, to;
};

/* turns: of pairs, from first on, the newest first; 0: the event happened at place first. */
struct branch_sample {
	uint64_t time_ns;
	uint32_t tid, first, turns;
	float weight; /* of each turn, or of the event */
};

struct branch_sample_pair {
	uint32_t from, to;
};

struct branch_sample_part {
	struct part_key key;
	uint32_t tid;
	uint64_t from_ns, to_ns, samples;
	double time; /* without what it had no CPU */
};

struct branch_samples {
	struct counts run;
	struct map object_of; /* file -> number of its path */
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
	uint64_t within; /* samples that fell into a thread's part of a section */
};

/* The kind of cause that an event of that name is. */
const char *branch_samples_kind(const char *event);
/* event: what was sampled, a kind of counted_cause. */
void branch_samples_init(struct branch_samples *s, const char *event);
void branch_samples_turns(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_turn *turns, size_t n);
void branch_samples_event(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_place *at);
/* From here on it is told of the imbalance's instances. */
void branch_samples_watch(struct branch_samples *s, struct imbalance *i);
/* Once all of both is there; c takes i over. s must outlive c. */
void branch_samples_find(struct branch_samples *s, struct counted *c, struct imbalance *i,
			 const struct lime_options *o);
void branch_samples_release(struct branch_samples *s);

#endif
