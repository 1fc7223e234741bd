/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program that counts its own edges. Threads report themselves when they
 * began, when they came to a section's end, and when they left it; parallel.h learns the same from
 * a recording.
 *
 * The time of a thread in an instance of microseconds depends on the machine as much as on its own
 * work. So successive instances of a section are analysed together until they have enough time.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_EDGED_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_EDGED_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/imbalance/count/part_key.h"
#include "analysis/imbalance/imbalance.h"

#define EDGED_ENOUGH_NS 20e6 /* average time of a thread in a group */

/*
 * One thread's part of a section, up to the section's end. In a SECTION_JOIN, key.thread becomes
 * the thread's order once the parts are grouped.
 */
struct edged_part {
	struct part_key key; /* thread: numbers from 0 over all processes; edged_find() sets the
			      * rest */
	uint32_t process;    /* numbers from 0 */
	uint32_t tid;
	enum section_kind kind;
	uint64_t object;  /* where parts of a process meet: a barrier, the number of a region, or
			   * of threads that one thread created and then waited for */
	uint32_t order;	  /* SECTION_JOIN: rank in the order of creation, from 0 */
	const char *name; /* where it ends; "": not known */
	uint64_t begin_ns, end_ns;
	uint64_t leave_ns;	    /* when it left the section's end; 0: never, or no thread
				     * waited for its end */
	double cpu_ns, cpu_wait_ns; /* from begin to end; cpu_wait_ns NAN: not known */
	uint64_t sleeps;	    /* how often it went to sleep from begin to end */
	const void *what;	    /* owned by the caller */

	/* Set by edged_find(): */
	const char *since; /* place of the barrier that the thread left at begin_ns; "": none */
	double own;	   /* its time without waits for a CPU, but with its sleeps */
};

/*
 * Adds the sections of all parts to i. The parts of each thread must be in order. A SECTION_JOIN
 * part is the whole life of a thread that met no others. Afterwards, parts are sorted by section,
 * group and thread; those without a section are last.
 */
void edged_find(struct edged_part *parts, size_t n, struct imbalance *i);

#endif
