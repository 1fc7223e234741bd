/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts how often candidates are called, before any is traced: for 100 ms, each has a probe that
 * only counts. Counting is not free: a function that is called ten million times a second stops the
 * program. So the counts are checked every few milliseconds, and when counting has used its share
 * of the budget, all probes are removed at once. The program's own progress in that time is then
 * small and poorly known. So the cost of the functions that caused this is rough, and the others
 * are counted again without them.
 */
#ifndef ISPOT_PROBES_SESSION_COUNT_H
#define ISPOT_PROBES_SESSION_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "probes/place/probeset.h"

struct after;
struct attach;
struct beside;
struct budget;
struct costs;
struct cputime;
struct err;
struct recording;

struct counted_function {
	bool asked;	 /* its calls are to be counted, or are being counted */
	bool is_known;	 /* its call rate is known */
	uint64_t before; /* its calls before this round */
};

struct count {
	/* parts that it asks */
	const struct costs *costs;
	const struct after *after;
	const struct cputime *cputime;
	struct attach *attach;
	struct budget *budget;
	struct beside *beside;
	struct probeset set;	   /* the probes that count */
	size_t first;		   /* the plan's first candidate of this round */
	unsigned tries;		   /* attempts to count in this round */
	uint64_t since_ns, cpu_ns; /* when counting began; the target's CPU time then */
	struct {
		VEC(struct counted_function)
	} functions; /* by index in the plan; fewer if the last ones are not asked for */
};

/* Makes the function at this index of the plan a candidate of the next round. */
void session_count_ask(struct count *c, size_t function);
/* Counts the calls of the candidates. The first is at index first of the plan. */
int session_count_begin(struct count *c, struct recording *r, size_t first, struct err *err);
/* Adds the cost of counting if the recording ends while calls are counted. */
void session_count_stop(struct count *c, const struct recording *r);
/* Called while calls are counted. *counted: all rates are known, and functions that do not fit are
 * no longer possible. */
int session_count_look(struct count *c, struct recording *r, uint64_t now, bool *counted,
		       struct err *err);
void session_count_release(struct count *c);

#endif
