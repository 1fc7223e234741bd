/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a traced call costs beyond an empty one that is called again and again: its probes find
 * their own code and data gone from the caches, and leave the program's behind gone as well. That
 * depends on what the program does from one traced call to the next, first of all on how long. So
 * it is measured for some lengths of it: a child process of ispot's calls an empty function that is
 * probed, and one that is not, and behind each it does the same work, of as much code and data and
 * as many branches as programs have that are larger than a first-level cache. Sorting and
 * compressing lose as much or a little more, an interpreter in a small loop nothing.
 */
#ifndef ISPOT_PROBES_AFTERMATH_H
#define ISPOT_PROBES_AFTERMATH_H

#include <stdint.h>

struct bpfprog;
struct err;
struct probeset;
struct ringbufs;

#define AFTERMATH_POINTS 3

struct aftermath {
	struct {
		double work_ns, after_ns;
	} at[AFTERMATH_POINTS]; /* by rising work_ns; all 0: not measured */
};

/* On a set that selfcost_add() was given, with records going into rings that nobody else reads. */
int aftermath_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		      struct aftermath *a, struct err *err);

/* Of a call, with so much work of the program's own from one to the next. */
double aftermath_ns(const struct aftermath *a, double work_ns);

#endif
