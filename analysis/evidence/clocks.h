/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks that count thread-nanoseconds: a clock gains n nanoseconds per nanosecond while n threads
 * run it. What all clocks gained since a mark is found without visiting clocks that stood still:
 *
 *	mark    is a position in a log
 *	move    logs the state of a clock that moves for the first time after the newest mark
 *	gains   visits the clocks in the log after the mark, and those that run: no other clock
 *		gained anything
 *
 * Setting a mark is cheap; finding the gains costs as much as has happened since. Between two
 * marks, one log entry of each clock is enough, so the log is shortened to that when it is full: it
 * has at most twice (marks + 1) * clocks entries, or a few thousand.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_CLOCKS_H
#define ISPOT_ANALYSIS_EVIDENCE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct clock {
	int32_t n;
	uint32_t logged;    /* the newest mark when the clock was last logged */
	uint64_t offset_ns; /* the clock's time is n * now - offset_ns, modulo 2^64 */
};

struct clocks {
	uint32_t n, used;      /* n: number of clocks; used: clocks from here on never moved */
	uint32_t newest, open; /* the newest mark, and the newest that is not forgotten (0: none) */
	struct clock *all;
	uint64_t *running; /* a bit for each clock: its n is not 0 */
	struct {
		VEC(struct clock_entry)
	} log;
	size_t log_room; /* the log is shortened when it has so many entries */
	struct {
		VEC(struct clock_mark)
	} marks; /* oldest first */
};

/* The gain of each clock since a mark. list[0 … n - 1] are those that may have gained any. */
struct gains {
	uint32_t n, *list;
	uint32_t walk, cleared; /* number of walks so far, and before the last clearing */
	struct gain {
		uint64_t ns;  /* valid for clocks in list; modulo 2^64 */
		uint32_t met; /* the latest walk that visited the clock */
	} * of;		      /* [clock] */
};

struct clocks *clocks_new(uint32_t n); /* all clocks are at 0 */
void clocks_free(struct clocks *cs);   /* NULL: nothing */
/* Resets all clocks and forgets all marks. Clocks that moved before the first mark are not
 * reset. */
void clocks_clear(struct clocks *cs);

/* Logs a clock's state before it moves; for clocks_move(). */
void clocks_put_down(struct clocks *cs, uint32_t i);

/* One thread begins (1) or ends (-1) to run the clock. */
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

void clocks_add(struct clocks *cs, uint32_t i, uint64_t ns); /* ns: modulo 2^64 */

/* Sets a mark and returns its number. Times of marks must not decrease. */
uint32_t clocks_mark(struct clocks *cs, uint64_t time_ns);
void clocks_forget(struct clocks *cs, uint32_t mark);

void gains_init(struct gains *g, uint32_t n);
void gains_release(struct gains *g);
/* Adds what each clock gained from the mark to time_ns to g, or subtracts it from g. */
void gains_add(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns);
void gains_take(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns);
void gains_clear(struct gains *g);

#endif
