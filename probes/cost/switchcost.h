/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a context switch here, measured by a child process whose two threads give one CPU to
 * each other; and of the birth and end of a thread that does nothing else. It is measured before
 * the recording watches the scheduler and while it does; the difference is what a switch of the
 * target costs more: the programs, how the kernel gets to them, and the carriers that come and go
 * with each thread. Only the first of these can be timed where it happens.
 */
#ifndef ISPOT_PROBES_COST_SWITCHCOST_H
#define ISPOT_PROBES_COST_SWITCHCOST_H

#include <sys/types.h>

/* ns of CPU time of each; NAN: not measured. A birth has two switches. */
struct switchcost {
	double switch_ns, birth_ns;
};

/* prepare (may be NULL) is given the child before it runs, and makes it a part of the target. */
struct switchcost switchcost_measure(int (*prepare)(void *ctx, pid_t child), void *ctx);

#endif
