/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts that only rows of some kinds have: the holders of a lock, names of sequences that are
 * too long for a column, the key that tells one group of calls from another.
 */
#ifndef ISPOT_REPORT_SCREEN_ROW_H
#define ISPOT_REPORT_SCREEN_ROW_H

#include <stdbool.h>

struct block;
struct table;
struct text;
struct view;

/* Name and key of a block that has one; the key in short if that makes them fit. */
void text_title(const struct block *b, unsigned room, struct text *out);
/* "mutex", "rwlock" or "spinlock": what the key of a row's calls is; NULL: no lock. */
/* "cache_get (contended.c:66) +0x65", of a call site: without the file's directories. */
void text_place(const char *s, struct text *out);
const char *row_lock(const struct block *b);
/* Ends the line with a name, which is never cut: where it does not fit it has lines of its own. */
void text_whole(struct table *t, const char *name);
/* The end of a sequence's line; on lines of its own where it has no room there. */
void text_sequence(struct table *t, const struct block *b);
/* Adds what must be known to read a table of sequences. */
void text_sequences_note(const struct view *v, struct text *out);
/* Adds the meaning of call sites' offsets; nothing where the table has none. */
void text_sites_note(const struct view *v, struct text *out);
/* The lines under a lock's: where it is taken, who held it while others waited. */
void text_holders(struct table *t, const struct view *v, const struct block *b);
void text_locks_note(const struct view *v, struct text *out);

#endif
