/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise floor of a block: the excess that the probes themselves add to it. Pair costs must be
 * known. */
#ifndef ISPOT_ANALYSIS_SCORE_FLOOR_H
#define ISPOT_ANALYSIS_SCORE_FLOOR_H

struct block;
struct offcpu;

/* Returns calls, traced callees included, times (mean - min) of an empty call, in ns. */
double floor_jitter_ns(const struct block *b);
/* Returns the share of probe code in the time that the block ran on a CPU, 0..1. */
double floor_probe_share(const struct block *b);
/* Returns the run queue time after preemptions, which may have interrupted a probe. Run queue time
 * after a wakeup cannot. */
double floor_interrupted_ns(const struct offcpu *off);
/* Returns the noise floor in ns: the jitter, at least PROBE_VARIES of an empty call, and the
 * preempted time that fell on probe code; NAN without calibration. */
double floor_ns(const struct block *b);

#endif
