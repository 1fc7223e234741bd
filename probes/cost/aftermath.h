/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a traced call beyond that of an empty one that is called again and again: its probes
 * find their own code and data gone from the caches, and leave the program's gone as well. That
 * depends on what the program does from one traced call to the next: for how long, and in how much
 * memory, because it is not the first-level cache alone that is lost. So it is measured for some
 * lengths of work, in little memory and in much: a child process of ispot's calls a function that
 * is probed, and one that is not, and does the same work in each and behind each, with as much code
 * and as many branches as programs have. An interpreter in a small loop loses nothing, a sort of
 * many megabytes the most. It is not known how much memory a program uses from call to call; the
 * memory that it has stands for that.
 */
#ifndef ISPOT_PROBES_COST_AFTERMATH_H
#define ISPOT_PROBES_COST_AFTERMATH_H

#include <stdint.h>

struct bpfprog;
struct err;
struct probeset;
struct ringbufs;

#define AFTERMATH_POINTS 3
enum aftermath_memory { AFTERMATH_LITTLE, AFTERMATH_MUCH, AFTERMATH_MEMORIES };

struct aftermath {
	struct {
		double work_ns, after_ns;
	} at[AFTERMATH_MEMORIES][AFTERMATH_POINTS]; /* by rising work_ns; all 0: not measured */
};

/* On a set that selfcost_add() was given, with records going into rings that nobody else reads. */
int aftermath_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		      struct aftermath *a, struct err *err);

/*
 * Returns the cost for a call, with so much work of the program's own from one call to the next, in
 * a program that has so much memory.
 */
double aftermath_ns(const struct aftermath *a, double work_ns, double memory_bytes);

#endif
