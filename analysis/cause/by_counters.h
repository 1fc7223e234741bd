/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a call runs longer, from what it counts: rows of rules.c. Slow calls (from the 90th
 * percentile) are compared with fast ones (to the median), in cycles:
 *
 *	growth	what slow calls run longer, at the fast calls' cycles per ns
 *	work	the part that more instructions take at the fast calls' cycles per instruction;
 *		no rule here takes it: it may be work, or spinning
 *	numa	loads that another node's memory answers, beyond those of fast calls
 *	cache-sharing	loads that find their line modified in another core's cache, likewise
 *	memory-bandwidth	cycles that wait for memory, beyond those of fast calls
 *	frequency-smt	cycles that took longer (cycles against reference cycles), and cycles that
 *		the core's other thread had
 *
 * An event explains at most what it costs on the slowest machines that were published, so that
 * a few events more do not explain all. User-space counters cannot see what the kernel took: where
 * time grew and they did not, nothing is explained. Roles, not events: pmu/groups. No names.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_COUNTERS_H
#define ISPOT_ANALYSIS_CAUSE_BY_COUNTERS_H

#include <stddef.h>

struct block;
struct meta;
struct text;

#define COUNTED_CALLS_MIN 10 /* fast ones, and slow ones; fewer prove nothing */

double cause_remote_loads(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence);
double cause_shared_lines(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence);
double cause_memory_stalls(const struct block *b, const struct meta *meta, double rest_ns,
			   struct text *evidence);
/* The same where nobody counted whether it is another node's memory that is waited for. */
double cause_memory_stalls_of_any(const struct block *b, const struct meta *meta, double rest_ns,
				  struct text *evidence);
double cause_clock(const struct block *b, const struct meta *meta, double rest_ns,
		   struct text *evidence);
double cause_sibling(const struct block *b, const struct meta *meta, double rest_ns,
		     struct text *evidence);
/* The counters that would tell why a call ran longer, with the kinds that they stand for: those
 * that nobody counted. Adds nothing where all were. */
void cause_undecided(const struct meta *meta, struct text *out);
/* The group to record with that has the n-th of these, from 0; NULL: there are no more. */
const char *cause_undecided_group(const struct meta *meta, size_t n);

#endif
