/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The floor of a block: the excess that the probes themselves add to it. Pair costs must be known.
 */
#ifndef ISPOT_ANALYSIS_SCORE_FLOOR_H
#define ISPOT_ANALYSIS_SCORE_FLOOR_H

struct block;
struct offcpu;

/* Calls, traced callees included, times (mean - min) of an empty call: ns. */
double floor_jitter_ns(const struct block *b);
/* Probe code's part of the time that the block ran on a CPU, 0..1. */
double floor_probe_share(const struct block *b);
/* Time without a CPU since something was interrupted, which may have been a probe; what a thread
 * waits for a CPU when it is woken is no probe's. */
double floor_interrupted_ns(const struct offcpu *off);
/* Jitter, at least what probes vary by in a program, and the preempted time that fell on probe
 * code. ns; NAN without calibration. */
double floor_ns(const struct block *b);

#endif
