/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts that only some kinds of rows have: the holders of a lock, the names of sequences, which
 * are too long for a column, and the keys of groups of calls.
 */
#ifndef ISPOT_REPORT_SCREEN_ROW_H
#define ISPOT_REPORT_SCREEN_ROW_H

#include <stdbool.h>

#include "analysis/lock/holding.h"

struct block;
struct table;
struct text;
struct view;

/* Adds the block's name and its key, if it has one. The key is shortened if that makes both fit. */
void text_title(const struct block *b, unsigned room, struct text *out);
/* Adds "is in fdatasync" or "sleeps": what a lock's holder does for most of the time in which
 * others wait, or nothing if that is not known. Returns what was added. */
struct holding_most text_holding(const struct view *v, const struct block *b, struct text *out);
/* Adds a call site without the directories of its file: "cache_get (contended.c:66) +0x65". */
void text_place(const char *s, struct text *out);
/* Returns "mutex", "spinlock" or "rwlock" if the key of the row is a lock, or else NULL. The row of
 * a function that takes it for reading is "rdlock", for writing "wrlock". */
const char *row_lock(const struct block *b);
/* Ends the line with a name that is never cut. If it does not fit, it gets lines of its own. */
void text_whole(struct table *t, const char *name);
/* Adds the end of a sequence's line, on lines of its own if there is no room. */
void text_sequence(struct table *t, const struct block *b);
/* Adds what must be known to read a table of sequences. */
void text_sequences_note(const struct view *v, struct text *out);
/* Explains the offsets of call sites if the table has any. */
void text_sites_note(const struct view *v, struct text *out);
/* Adds the lines under a lock: where it is taken, and who held it while others waited. */
void text_holders(struct table *t, const struct view *v, const struct block *b);
void text_locks_note(const struct view *v, struct text *out);

#endif
