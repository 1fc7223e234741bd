/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that execute a program, or load a library, once functions are timed in process
 * (beside.c): their memory has no patches, and no kernel probes either. They are patched as soon as
 * they have mapped what they map at their start. A notice says how many processes lack their calls
 * from before.
 */
#ifndef ISPOT_PROBES_SESSION_NEWCOMERS_H
#define ISPOT_PROBES_SESSION_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

struct beside;
struct recording;

/* A process that has mapped files of functions that are timed in process. */
struct newcomer {
	pid_t pid;
	uint64_t since_ns, ready_ns; /* the first of its mappings; when it is to be patched */
	bool may_be_patched; /* it is the command or its program, which may have patches already */
	bool has_file;	     /* it has mapped a file of these functions */
};

struct patched_newcomer {
	pid_t pid;
	uint64_t time_ns; /* when it was patched */
};

struct newcomers {
	/* parts that it asks */
	const struct beside *beside;
	struct {
		VEC(struct newcomer)
	} next; /* that are to be patched */
	/* processes that were patched, that had ended before they could be, that were refused, and
	 * that loaded a library after they were patched */
	uint64_t n_later, n_ended, n_refused, n_loaded;
	struct {
		VEC(struct patched_newcomer)
	} patched;
	uint64_t late_most_ns; /* the longest time until a process was patched */
	uint64_t later_ns;     /* that patching them has taken */
	struct err refused;    /* why the first was refused */
};

/* Notes what was mapped, before session_join_mapped() forgets it. */
void session_newcomers_note(struct newcomers *all, const struct recording *r);
/* Patches those that have mapped what they map at their start. */
void session_newcomers_patch(struct newcomers *all, struct recording *r);
/* Returns how long the loop may wait. */
uint64_t session_newcomers_wait_ns(const struct newcomers *all);
/* Writes a notice, at the end, about processes that lack some of their calls. */
void session_newcomers_report(struct newcomers *all, struct recording *r);
void session_newcomers_release(struct newcomers *all);

#endif
