/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a call runs longer, from what it counts; the functions are rows of rules.c. Slow calls (from
 * the 90th percentile) are compared with fast ones (to the median), in cycles:
 *
 * - growth: the time that slow calls run longer, at the fast calls' cycles per ns.
 * - work: the part that more instructions take at the fast calls' cycles per instruction. No rule
 *   here takes this part, because it may be work or spinning.
 * - numa: loads that the memory of another node answers, beyond those of fast calls.
 * - cache-sharing: loads that find their line modified in another core's cache, beyond those of
 *   fast calls.
 * - memory-bandwidth: cycles that wait for memory, beyond those of fast calls.
 * - frequency-smt: cycles that took longer (cycles against reference cycles), and cycles that the
 *   core's other thread had.
 *
 * An event explains at most its cost on the slowest machines with published figures, so that a few
 * more events do not explain everything. User-space counters cannot see the kernel's part: if time
 * grew and the counters did not, nothing is explained. Rules use roles instead of events
 * (pmu/groups), and never names of functions.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_COUNTERS_H
#define ISPOT_ANALYSIS_CAUSE_BY_COUNTERS_H

#include <stddef.h>

struct block;
struct meta;
struct text;

#define COUNTED_CALLS_MIN 10 /* least fast calls, and least slow ones; fewer prove nothing */

double cause_remote_loads(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence);
double cause_shared_lines(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence);
double cause_memory_stalls(const struct block *b, const struct meta *meta, double rest_ns,
			   struct text *evidence);
/* Does the same if nobody counted whether the memory belongs to another node. */
double cause_memory_stalls_of_any(const struct block *b, const struct meta *meta, double rest_ns,
				  struct text *evidence);
double cause_clock(const struct block *b, const struct meta *meta, double rest_ns,
		   struct text *evidence);
double cause_sibling(const struct block *b, const struct meta *meta, double rest_ns,
		     struct text *evidence);
/*
 * Adds the counters that could tell why a call ran longer but were not counted, with the kinds of
 * cause that they decide. Adds nothing if all were counted.
 */
void cause_undecided(const struct meta *meta, struct text *out);
/*
 * Returns the group to record with that has the n-th of these counters, from 0, or NULL if there
 * are no more.
 */
const char *cause_undecided_group(const struct meta *meta, size_t n);

#endif
