/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files that make a struct result: its threads' time, as result.h defines the parts. */
#ifndef ISPOT_ANALYSIS_RESULT_TIME_H
#define ISPOT_ANALYSIS_RESULT_TIME_H

struct result;

/* Time off the CPU of all threads while probes were on; *asleep: of that, not runnable. ns. */
double result_off_ns(const struct result *res, double *asleep);
/* Adds up how long each thread was observed, and how much of that traced calls cover. */
void result_add_threads(struct result *res);
/* From the blocks that are in_lost; may be called again when others are. */
void result_split_time(struct result *res);

/* Once the groups of keyed are finished (keys, locks, …): what they lose is lost. */
void result_count_groups(struct result *result);
/* The totals of another result of the same recording, whose rows are functions. */
void result_take_time(struct result *res, const struct result *from);

#endif
