/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long answers about files that others may write are waited for (parser.h), and how long this
 * process itself works on them. The process that
 * answers has the rights of its file's owner, who may stop it or take the CPU from it. So all
 * answers about one user's files together, and about all users' files, may take a part of the time
 * since the first; while a recording runs (patience_set()) each takes a few seconds at most, and
 * what comes after its end is one short time. Files of the user behind sudo are that user's loss,
 * and have none of these bounds but the one on a single answer.
 */
#ifndef ISPOT_SYMBOL_DSO_PATIENCE_H
#define ISPOT_SYMBOL_DSO_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What one user's files may take in any case, before the limit is a part of the time. */
extern uint64_t patience_user_ns;

/* While a recording runs, an answer may hold up the draining of its buffers for so long; after its
 * end all together take so long. */
extern uint64_t patience_run_ns, patience_after_ns;

/* An answer is waited for no longer if an earlier one of that user was late. */
#define PATIENCE_LEAST_NS 2000000000ull

enum patience_kind { PATIENCE_FULL, PATIENCE_RECORDING, PATIENCE_AFTERWARDS };
void patience_set(enum patience_kind now); /* the last two: from now on */

/*
 * Returns until when to wait for an answer that is asked for now, or 0 if the time for the owner's
 * files is used up, which is reported once.
 */
uint64_t patience_deadline_ns(uid_t owner, uint64_t now_ns);

/* Counts the time since since_ns as waiting for the owner's files. late: the deadline passed. */
void patience_waited(uid_t owner, uint64_t since_ns, bool late);

/*
 * Counts the files of which something is missing: they could not be read to the end, or not in
 * time.
 */
void patience_give_up(void); /* one more */
size_t patience_given_up(void);

#endif
