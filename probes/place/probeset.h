/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A set: functions whose probes are registered, opened and removed together. Functions that join a
 * running recording form a set of their own (design fact 5). A set has a dynamic event for each
 * class of points that it uses (entries, returns, other exits; or one that counts calls). Each
 * event has one perf event that carries the program (on a process of ispot's own) and, for each
 * thread or process of the target, a carrier: an inherited event without a program that lets the
 * address spaces of children through the kernel's filter (design fact 3).
 */
#ifndef ISPOT_PROBES_PLACE_PROBESET_H
#define ISPOT_PROBES_PLACE_PROBESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/kernel/dynevent.h"

struct bpfprog;
struct err;
struct planned;
struct usession;

enum set_point { SET_ENTRY, SET_RETURN, SET_RET_SITES, SET_COUNT, SET_BEGIN, SET_END };

#define SET_EVENTS 4 /* one for each enum point_class */

struct probeset {
	uint32_t id;
	struct dynevent *events[SET_EVENTS]; /* NULL: no such points */
	struct usession *session;	     /* NULL: each function has two points */
	bool attached;			     /* the programs are attached */
	bool counts; /* the recording counts its time as one with probes (probed_ns) */
	struct {
		char *path; /* path of its file; NULL: none */
		uint64_t page;
	} read; /* the page that was read last for a point's instruction */
};

void probeset_init(struct probeset *set, struct dynevent_session *session, uint32_t id);
/* From here on, functions that can be uprobe sessions (usession.h) become sessions. */
void probeset_use_sessions(struct probeset *set);
/* Adds the points of a function. Its records carry function_id; path opens its file from here. */
void probeset_add(struct probeset *set, const struct planned *p, const char *path,
		  uint32_t function_id);
/* Adds a point that only counts the function's calls (bpfprog_count). */
void probeset_add_count(struct probeset *set, const struct planned *p, const char *path,
			uint32_t function_id);
/* Adds a single point. */
void probeset_add_point(struct probeset *set, enum set_point kind, const char *path,
			uint64_t file_offset, uint32_t function_id);
/*
 * The same with a counter at counter_offset of the file, which the kernel raises while the probe is
 * in place; 0: none.
 */
void probeset_add_counted(struct probeset *set, enum set_point kind, const char *path,
			  uint64_t file_offset, uint64_t counter_offset, uint32_t function_id);
/* Adds both points of a function as a session. Returns false if the set has no sessions. */
bool probeset_add_session(struct probeset *set, const char *path, uint64_t file_offset,
			  uint32_t entry_id, uint32_t return_id);
/* Registers all points. Calls refused for each point that the kernel does not accept. */
int probeset_create(struct probeset *set,
		    void (*refused)(void *ctx, uint32_t function_id, int errnum), void *ctx,
		    struct err *err);
/*
 * Opens the set on a process and attaches the programs. The process should be one that runs none of
 * the points (that of the calibration, or one that only waits), so that the probes leave the
 * followed processes within a moment (probeset_quiet).
 */
int probeset_open(struct probeset *set, struct bpfprog *b, pid_t pid, struct err *err);
/*
 * Opens the set's sessions on a process; if they are open already, nothing happens.
 * probeset_close_session() closes them for one process, probeset_quiet() for all.
 */
int probeset_open_session(struct probeset *set, const struct bpfprog *b, pid_t pid,
			  struct err *err);
void probeset_close_session(struct probeset *set, pid_t pid);
/* Returns the number of the set's dynamic events. */
uint32_t probeset_n_events(const struct probeset *set);
/*
 * Puts a carrier on a thread, so that the calls of its threads and children are recorded. -ESRCH:
 * the thread is gone.
 */
int probeset_follow(struct probeset *set, pid_t tid, bool inherit, struct err *err);
/* Removes the carriers; processes that are held keep their probes. */
void probeset_unfollow(struct probeset *set);
/*
 * Opens an event on one thread of the process that no child inherits. The probes are in the process
 * from then on, and stay even if the kernel swaps inherited events (probes/session/hold.c). -ESRCH:
 * the thread is gone.
 */
int probeset_hold(struct probeset *set, pid_t pid, struct err *err);
/* Closes the descriptors for processes that are gone. */
void probeset_unhold_ended(struct probeset *set);
void probeset_unhold(struct probeset *set);
/* Removes the probes from all followed processes at once. */
void probeset_quiet(struct probeset *set);
/* The same, and a thread closes the rest, for which probeset_release() waits. */
void probeset_close_beside(struct probeset *set);
bool probeset_is_closed(struct probeset *set); /* the thread is done: releasing takes no time */
/* Closes and deletes everything; idempotent. */
void probeset_release(struct probeset *set);

#endif
