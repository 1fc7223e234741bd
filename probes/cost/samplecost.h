/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a sample for the thread that it meets: the timer's interrupt, the stack, the record,
 * and the cache lines that the thread had before. A child process of ispot's walks through as much
 * memory as a first-level cache has, again and again, and notes the time of each walk; it is
 * sampled meanwhile by the recording's own events and programs. Walks that a sample fell into, and
 * those behind them, take longer than the others: by the cost. So no window without samples is
 * needed, which a busy machine would make as different as one with them.
 */
#ifndef ISPOT_PROBES_COST_SAMPLECOST_H
#define ISPOT_PROBES_COST_SAMPLECOST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ringbufs;

#define SAMPLECOST_HERTZ 3989 /* while it is measured */
#define SAMPLECOST_LEAST 20   /* samples; of fewer nothing can be told */

/*
 * ns that a sample takes; NAN: not measured. prepare is given the child before it runs, and makes
 * its samples come into the rings, which nobody else reads meanwhile.
 */
double samplecost_measure(struct ringbufs *rings, int (*prepare)(void *ctx, pid_t child),
			  void *ctx);

/* The same from the n times at which walks began and those of the samples; orders the latter. */
double samplecost_of(const uint64_t *walks, size_t n, uint64_t *samples, size_t n_samples);

#endif
