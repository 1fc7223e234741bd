/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the parallel sections of a recording (a visitor) and sums up what each loses:
 *
 *	barrier  a section of the threads that are in one barrier when it opens. For each thread, it
 *	         began when the thread last left a barrier, or was created. Calls of one barrier (by
 *	         its address, if recorded) belong together if they overlap when the first returns
 *	join     the threads that one thread created and then waited for (forkjoin.h), if they did
 *	         not meet at a barrier or run the body of a region
 *	region   calls of the functions that a compiler creates for the body of an OpenMP region,
 *	         within the call that runs the region
 *	named    blocks of a marker, or calls of a chosen function, that overlap when the first one
 *	         ends
 *
 * A section lasts from the begin of its first thread to the arrival of its last thread. The time of
 * each thread counts from the begin of the section. Threads whose begin is not known (attached,
 * dropped events) are left out.
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
	} processes; /* OpenMP bodies that have ended, by process */
	struct map process_of;
	bool named;	  /* a function or marker was chosen */
	uint64_t sampled; /* calls at barriers that were not recorded */
	uint64_t lost_records;
	uint64_t paused_ns; /* time in which switches had no records (unwatched.h) */
	uint64_t bodiless;  /* regions of which no body was recorded */
	uint64_t births;    /* threads that the program created */
	bool sees_joins;    /* a function that joins was recorded, or the reasons for sleeps */
};

/* named: a function or marker whose calls are the sections; NULL: all sections that are found.
 * Returns -ENOENT if it was not recorded; err says how to record it. */
int parallel_init(struct parallel *p, const struct meta *meta, const struct calls *calls,
		  const char *named, struct err *err);
struct call_visitor parallel_visitor(struct parallel *p);
void parallel_release(struct parallel *p);

#endif
