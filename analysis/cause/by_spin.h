/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting for a lock, or at a barrier, without sleeping. Two facts prove it: samples inside slow
 * calls are in a short loop around a pause instruction, or in a function that is known to wait so
 * (standard.h), and another thread runs more during slow calls than during fast ones
 * (coactivity.h), so it holds the lock. Without the second fact the wait is reported without a
 * holder, and with less confidence: as one for a lock if several threads make the calls, as one for
 * another thread if only one does. At a barrier, as a standard function tells, the first fact is
 * enough.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_SPIN_H
#define ISPOT_ANALYSIS_CAUSE_BY_SPIN_H

#include <stdbool.h>

struct block;
struct meta;
struct text;

/* Returns the share of the slow calls' own samples that spin, or 0 if that is little or samples are
 * too few. */
double cause_spins(const struct block *b);
/* Whether they spin in calls of one thread, with no known holder. */
bool cause_spins_alone(const struct block *b);

/* Rules for POOL_RUNNING (cause.h), in this order. */
double cause_spin_at_barrier(const struct block *b, const struct meta *meta, double rest_ns,
			     struct text *evidence);
double cause_spin_held(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence);
double cause_spin(const struct block *b, const struct meta *meta, double rest_ns,
		  struct text *evidence);
double cause_spin_alone(const struct block *b, const struct meta *meta, double rest_ns,
			struct text *evidence);

/*
 * A rule for POOL_PREEMPTED: a thread that waits at a barrier, as its standard function tells, and
 * that gives up its CPU meanwhile, waits for the barrier in the run queue, whoever has the CPU.
 */
double cause_yield_at_barrier(const struct block *b, const struct meta *meta, double rest_ns,
			      struct text *evidence);

/*
 * A rule for POOL_PREEMPTED: who gives up the CPU between tries, as by sched_yield(), waits for the
 * lock in the run queue. Only the time behind threads of the program counts.
 */
double cause_yield(const struct block *b, const struct meta *meta, double rest_ns,
		   struct text *evidence);

#endif
