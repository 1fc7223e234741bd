/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parallel sections of a program that counted its edges: threads say themselves when they began,
 * came to a section's end and were let go, as parallel.h would learn it from a recording.
 *
 * A thread's time in an instance of microseconds is the machine's as much as its own. Instances of
 * a section that follow each other are analysed together until there is enough of it.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_EDGED_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_EDGED_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/imbalance/count/part_key.h"
#include "analysis/imbalance/imbalance.h"

#define EDGED_ENOUGH_NS 20e6 /* of a thread's time, on average */

/*
 * One thread's part of a section, up to the section's end. In a SECTION_JOIN, key.thread becomes
 * the thread's order once the parts are grouped.
 */
struct edged_part {
	struct part_key key; /* thread: numbers from 0, of all processes. The rest is found */
	uint32_t process;    /* numbers from 0 */
	uint32_t tid;
	enum section_kind kind;
	uint64_t object;  /* parts of one process meet there: a barrier, a number of a region; or
			     threads that one made and then waited for */
	uint32_t order;	  /* SECTION_JOIN: rank in the order of creation, from 0 */
	const char *name; /* where it ends; "" not known */
	uint64_t begin_ns, end_ns;
	uint64_t leave_ns;	    /* it was let go; 0: never, or nobody waited for its end */
	double cpu_ns, cpu_wait_ns; /* from begin to end; cpu_wait NAN: not known */
	uint64_t sleeps;	    /* from begin to end: how often it gave its CPU away */
	const void *what;	    /* the caller's own */

	/* found: */
	const char *since; /* the place of the barrier that the thread left then; "": none */
	double own;	   /* its time without what it had no CPU; asleep it had its reasons */
};

/*
 * parts: of one thread in order. SECTION_JOIN: the whole of a thread that met no others. Afterwards
 * they are sorted by section, group and thread, those of none last.
 */
void edged_find(struct edged_part *parts, size_t n, struct imbalance *i);

#endif
