/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a sample for the thread that it interrupts: the timer's interrupt, the stack, the
 * record, and the thread's cache lines that are evicted. A child process of ispot walks through as
 * much memory as a first-level cache has, again and again, and notes the time of each walk, while
 * the recording's own events and programs sample it. A walk that a sample fell into, and those
 * behind it, take longer than the others; the difference is the cost. So the measurement needs no
 * window without samples, which would differ on a busy machine.
 */
#ifndef ISPOT_PROBES_COST_SAMPLECOST_H
#define ISPOT_PROBES_COST_SAMPLECOST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ringbufs;

#define SAMPLECOST_HERTZ 3989 /* the rate of samples while the cost is measured */
#define SAMPLECOST_LEAST 20   /* the least number of samples that gives a result */

/*
 * Returns the ns that a sample takes, or NAN if that was not measured. prepare is given the child
 * before it runs, and directs its samples into the rings, which nobody else reads meanwhile.
 */
double samplecost_measure(struct ringbufs *rings, int (*prepare)(void *ctx, pid_t child),
			  void *ctx);

/* Computes the same from the n start times of walks and the times of samples, which it sorts. */
double samplecost_of(const uint64_t *walks, size_t n, uint64_t *samples, size_t n_samples);

#endif
