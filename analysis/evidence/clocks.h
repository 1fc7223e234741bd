/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks of things that begin and end: each counts thread-nanoseconds, n of them a nanosecond while
 * n threads are at it. What every clock has gained since a moment is told without a look at those
 * that stood still:
 *
 *	mark    the moment has a place in a log
 *	move    a clock that moves for the first time behind the newest mark is put down in the log,
 *		as it was
 *	gains   clocks in the log behind the mark, and those that run: no other has gained
 *
 * A mark costs next to nothing, its gains what has happened since. Between two marks one entry of a
 * clock is enough, and to that the log is cut down when it is full: it has at most twice
 * (marks + 1) * clocks entries, or a few thousand.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_CLOCKS_H
#define ISPOT_ANALYSIS_EVIDENCE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct clock {
	int32_t n;
	uint32_t logged;    /* the newest mark when it was last put down */
	uint64_t offset_ns; /* its time is n * now - offset_ns, modulo 2^64 */
};

struct clocks {
	uint32_t n, used;      /* clocks; those below have moved */
	uint32_t newest, open; /* the newest mark; the newest that is not forgotten, 0: none */
	struct clock *all;
	uint64_t *running; /* a bit a clock */
	struct {
		VEC(struct clock_entry)
	} log;
	size_t log_room; /* entries to have before it is cut down */
	struct {
		VEC(struct clock_mark)
	} marks; /* oldest first */
};

/* What was gained, of every clock that gained anything or may have: list[0 … n - 1]. */
struct gains {
	uint32_t n, *list;
	uint32_t walk, cleared; /* walks so far; of these, until it was cleared */
	struct gain {
		uint64_t ns;  /* of those in the list; modulo 2^64 */
		uint32_t met; /* the latest walk that came to it */
	} * of;		      /* [clock] */
};

struct clocks *clocks_new(uint32_t n); /* all stand at 0 */
void clocks_free(struct clocks *cs);   /* NULL: nothing */
/* As new, if no clock moved before the first mark. Forgets all marks. */
void clocks_clear(struct clocks *cs);

/* For clocks_move(). */
void clocks_put_down(struct clocks *cs, uint32_t i);

/* One thread more (1) or less (-1). */
static inline void clocks_move(struct clocks *cs, uint32_t i, int by, uint64_t time_ns)
{
	struct clock *c = &cs->all[i];
	bool stood = !c->n;

	if (c->logged < cs->open)
		clocks_put_down(cs, i);
	c->n += by;
	c->offset_ns += by > 0 ? time_ns : -time_ns;
	if (!stood && c->n)
		return;
	cs->running[i / 64] ^= 1ull << i % 64;
	if (i >= cs->used)
		cs->used = i + 1;
}

void clocks_add(struct clocks *cs, uint32_t i, uint64_t ns); /* modulo 2^64 */

/* Times of marks do not decrease. Returns the mark's number. */
uint32_t clocks_mark(struct clocks *cs, uint64_t time_ns);
void clocks_forget(struct clocks *cs, uint32_t mark);

void gains_init(struct gains *g, uint32_t n);
void gains_release(struct gains *g);
/* Adds what each clock gained from the mark to time_ns, or takes it away. */
void gains_add(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns);
void gains_take(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns);
void gains_clear(struct gains *g);

#endif
