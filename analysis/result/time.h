/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread time of a result, divided as result.h defines the parts. For the files that make a struct
 * result.
 */
#ifndef ISPOT_ANALYSIS_RESULT_TIME_H
#define ISPOT_ANALYSIS_RESULT_TIME_H

struct result;

/*
 * Returns the time off the CPU of all threads while probes were on; *asleep is the part that was
 * not runnable. ns.
 */
double result_off_ns(const struct result *res, double *asleep);
/* Adds up how long each thread was observed, and how much of this time traced calls cover. */
void result_add_threads(struct result *res);
/* Divides thread time by the blocks that are in_lost; is called again after in_lost has changed. */
void result_split_time(struct result *res);

/* Counts the lost time of the groups (keys, locks, …). Is called when keyed has finished them. */
void result_count_groups(struct result *result);
/* Copies the totals of another result of the same recording, whose rows are functions. */
void result_take_time(struct result *res, const struct result *from);

#endif
