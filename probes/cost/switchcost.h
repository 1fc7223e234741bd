/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures the cost of a context switch on this machine in a child process, whose two threads yield
 * one CPU to each other, and that of the birth and end of a thread that does nothing else. Both are
 * measured before the recording watches the scheduler and while it does. The difference is the
 * extra cost of a switch of the target: the programs, how the kernel gets to them, and the carriers
 * that come and go with each thread. Only the programs can be timed where they run.
 */
#ifndef ISPOT_PROBES_COST_SWITCHCOST_H
#define ISPOT_PROBES_COST_SWITCHCOST_H

#include <sys/types.h>

/* CPU time of each in ns; NAN: not measured. A birth has two switches. */
struct switchcost {
	double switch_ns, birth_ns;
};

/* prepare (may be NULL) is given the child before it runs, and makes it a part of the target. */
struct switchcost switchcost_measure(int (*prepare)(void *ctx, pid_t child), void *ctx);

#endif
