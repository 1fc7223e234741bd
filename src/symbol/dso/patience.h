/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits how long root's process waits for answers about files that others may write (parser.h),
 * and how long it works on such files itself. The process that answers has the rights of its file's
 * owner, who may stop it or take the CPU from it. So all answers about one user's files together,
 * and all answers about all users' files, may take a part of the time since the first answer. While
 * a recording runs (patience_set()), each answer may take a few seconds, and all that follow the
 * end of the recording share a short time. Slow files of the user who called sudo harm only that
 * user, so the single answer is their only limit.
 */
#ifndef ISPOT_SYMBOL_DSO_PATIENCE_H
#define ISPOT_SYMBOL_DSO_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Time that one user's files may always take, before the limit is a part of the elapsed time. */
extern uint64_t patience_user_ns;

/*
 * While a recording runs, an answer may delay the draining of its buffers by patience_run_ns. After
 * its end, all answers together may take patience_after_ns.
 */
extern uint64_t patience_run_ns, patience_after_ns;

/* The limit for an answer if an earlier answer about this user's files was late. */
#define PATIENCE_LEAST_NS 2000000000ull

enum patience_kind { PATIENCE_FULL, PATIENCE_RECORDING, PATIENCE_AFTERWARDS };
void patience_set(enum patience_kind now); /* the last two begin now */

/*
 * Returns the deadline of an answer that is requested now, or 0 if the time for the owner's files
 * is used up, which is reported once.
 */
uint64_t patience_deadline_ns(uid_t owner, uint64_t now_ns);

/*
 * Counts the time from since_ns until now as waiting for the owner's files. late: the deadline
 * passed.
 */
void patience_waited(uid_t owner, uint64_t since_ns, bool late);

/* Counts the files that could not be read to the end, or not in time. */
void patience_give_up(void); /* adds one */
size_t patience_given_up(void);

#endif
