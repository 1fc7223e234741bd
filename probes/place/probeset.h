/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A set: functions whose probes are registered, opened and removed together. Functions that
 * join a running recording form a set of their own (design fact 5). A set is up to three dynamic
 * events (entry, return, ret sites; or one that counts calls), each with one perf event that
 * carries the program (on a process of ispot's own) and, per thread or process of the target, a
 * carrier: an inherited event without a program that lets children's address spaces through the
 * kernel's filter (design fact 3).
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

enum { SET_ENTRY, SET_RETURN, SET_RET_SITES, SET_COUNT, SET_BEGIN, SET_END, SET_CLASSES };

struct probeset {
	uint32_t id;
	struct dynevent *events[SET_CLASSES]; /* NULL: no such points */
	struct usession *session;	      /* NULL: functions have two points each */
	bool attached;			      /* the programs are on */
	struct {
		char *path; /* of a file; NULL: none */
		uint64_t page;
	} read; /* latest page that a point's instruction was read of */
};

void probeset_init(struct probeset *set, struct dynevent_session *session, uint32_t id);
/* Functions that can be uprobe sessions (usession.h) become such, from here on. */
void probeset_use_sessions(struct probeset *set);
/* The function's points; function_id is what its records carry. path opens its file from here. */
void probeset_add(struct probeset *set, const struct planned *p, const char *path,
		  uint32_t function_id);
/* Only counts the function's calls (bpfprog_count). */
void probeset_add_count(struct probeset *set, const struct planned *p, const char *path,
			uint32_t function_id);
/* A single point of a class (SET_ENTRY, …). */
void probeset_add_point(struct probeset *set, int class, const char *path, uint64_t file_offset,
			uint32_t function_id);
/* The same with a counter in the file that the kernel raises while the probe is in; 0: none. */
void probeset_add_counted(struct probeset *set, int class, const char *path, uint64_t file_offset,
			  uint64_t counter_offset, uint32_t function_id);
/* Both points of a function as a session; false: the set has none. */
bool probeset_add_session(struct probeset *set, const char *path, uint64_t file_offset,
			  uint32_t entry_id, uint32_t return_id);
/* Registers all points. refused is told each one the kernel does not take. */
int probeset_create(struct probeset *set,
		    void (*refused)(void *ctx, uint32_t function_id, int errnum), void *ctx,
		    struct err *err);
/*
 * Opens it on a process and attaches the programs. That process should be one that runs none of
 * the points (the calibration's, or one that waits): the processes that are followed can then be
 * left within a moment (probeset_quiet).
 */
int probeset_open(struct probeset *set, struct bpfprog *b, pid_t pid, struct err *err);
/*
 * Opens the set's sessions on a process; where they are open already, nothing happens. Closed by
 * probeset_quiet(), or:
 */
int probeset_open_session(struct probeset *set, const struct bpfprog *b, pid_t pid,
			  struct err *err);
void probeset_close_session(struct probeset *set, pid_t pid);
/* A carrier on a thread, so that its threads' and children's calls are seen. -ESRCH: it is gone. */
int probeset_follow(struct probeset *set, pid_t tid, bool inherit, struct err *err);
/* Takes the carriers off; processes that are held keep their probes. */
void probeset_unfollow(struct probeset *set);
/* An event on one thread of the process that no child inherits: its probes are in, and stay in it
 * even if the kernel swaps inherited events (probes/session/hold.c). -ESRCH: the thread is gone. */
int probeset_hold(struct probeset *set, pid_t pid, struct err *err);
/* Closes the descriptors for processes that are gone. */
void probeset_let_go(struct probeset *set);
void probeset_unhold(struct probeset *set);
/* Takes the probes out of all followed processes, at once. */
void probeset_quiet(struct probeset *set);
/* The same, and lets a thread close the rest: probeset_release() waits for that. */
void probeset_close_beside(struct probeset *set);
bool probeset_is_closed(struct probeset *set); /* that is over: releasing it takes no time */
/* Closes and deletes everything; idempotent. */
void probeset_release(struct probeset *set);

#endif
