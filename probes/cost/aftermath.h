/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a traced call beyond that of an empty call that is repeated: probes find their own
 * code and data gone from the caches, and evict those of the program. This depends on what the
 * program does between traced calls: for how long, and in how much memory, as more than the
 * first-level cache is lost. So the cost is measured for some lengths of work, in little memory and
 * in much. A child process of ispot calls a function that is probed and one that is not, and does
 * the same work in each and behind each, with as much code and as many branches as programs have.
 * An interpreter in a small loop loses nothing; a sort of many megabytes loses most. How much
 * memory a program uses between calls is unknown; the memory that it has serves as an estimate.
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
	} at[AFTERMATH_MEMORIES][AFTERMATH_POINTS]; /* by increasing work_ns; all 0: not measured */
};

/*
 * Measures with a set that has the functions of selfcost_add(). Records go into rings that nobody
 * else reads meanwhile.
 */
int aftermath_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		      struct aftermath *a, struct err *err);

/*
 * Returns the extra cost of a call in a program that does work_ns of own work between calls and has
 * memory_bytes of memory.
 */
double aftermath_ns(const struct aftermath *a, double work_ns, double memory_bytes);

#endif
