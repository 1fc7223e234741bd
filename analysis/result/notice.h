/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notices of a result: what its numbers do not show by themselves. For the files that make a struct
 * result.
 */
#ifndef ISPOT_ANALYSIS_RESULT_NOTICE_H
#define ISPOT_ANALYSIS_RESULT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct result;

void result_notice(struct result *res, const char *sentence);
/* Adds "3 calls …" with the wording that fits the number; adds nothing for 0. */
void result_count_notice(struct result *res, uint64_t count, const char *one, const char *many);
/*
 * From this overhead on, views begin with a caution: a third of the CPU time is that of the probes,
 * which is more than most programs lose. A program that mostly sleeps is hardly slowed by that: its
 * probes take less than RESULT_CPUS_MUCH of a CPU.
 */
#define RESULT_OVERHEAD_MUCH 0.5
#define RESULT_CPUS_MUCH     0.2
bool result_slowed_much(const struct result *res);
/* The same of a slowdown by the share overhead (meta_overhead()), if the probes took so many CPUs.
 */
bool result_is_much(double overhead, double cpus);
/* Whether the recorder says that most of the cost is not that of traced calls. */
bool result_costs_elsewhere(const struct meta *meta);
/* Adds every notice that the recording and its blocks give reason for. */
void result_find_notices(struct result *res);

#endif
