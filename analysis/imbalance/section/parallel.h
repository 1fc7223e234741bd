/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the parallel sections of a recording (a visitor) and sums up what each loses:
 *
 *	barrier  the threads that are in one barrier when it opens took part in a section; it began
 *	         for each when it last left a barrier, or began itself. Calls of one barrier (its
 *	         address, where recorded) belong together if they overlap when the first one returns
 *	join     the threads that one thread made and then waited for (forkjoin.h), if they met
 *	         at no barrier and ran no region's body
 *	region   calls of the functions that a compiler makes of an OpenMP region's body, within the
 *	         call that runs the region
 *	named    blocks of a marker, or calls of a chosen function, which overlap when the first one
 *	         ends
 *
 * A section is from its first thread's begin to the arrival of its last; a thread's time counts
 * from the former. Where a thread's begin is not known (attached, loss), it is not of the section.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/group/callsite.h"
#include "analysis/calls/calls.h"
#include "analysis/imbalance/imbalance.h"
#include "analysis/imbalance/section/forkjoin.h"

struct err;
struct meta;

struct parallel {
	const struct meta *meta;
	const struct calls *calls;
	struct imbalance imbalance;
	struct callsites sites;
	uint8_t *roles; /* [function id] */
	struct map meeting_of;
	struct {
		VEC(struct parallel_meeting)
	} meetings;
	struct {
		VEC(struct parallel_thread)
	} threads; /* [thread index] */
	struct forkjoin forkjoin;
	struct {
		VEC(struct parallel_bodies)
	} processes; /* OpenMP bodies that ended, by process */
	struct map process_of;
	bool named;	  /* a function or marker was chosen */
	uint64_t sampled; /* calls at barriers that were not recorded */
	uint64_t lost_records;
	uint64_t bodiless; /* regions of which no body was recorded */
};

/*
 * named: a function or marker whose calls are the sections, NULL: those that are found. -ENOENT:
 * it was not recorded; says how to.
 */
int parallel_init(struct parallel *p, const struct meta *meta, const struct calls *calls,
		  const char *named, struct err *err);
struct call_visitor parallel_visitor(struct parallel *p);
void parallel_release(struct parallel *p);

#endif
