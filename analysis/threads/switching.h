/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU time of sleeping and waking: the way into and out of the system call, the kernel's
 * switches, and the message to the CPU that will run the woken thread. The thread runs meanwhile,
 * but does no work of its own, so that time belongs to the wait that it begins or ends. No record
 * shows where it ends. So it is the time that comes with each additional sleep and each additional
 * wakeup, by a plane fitted over the block's calls:
 *
 * own time on a CPU = a + b * sleeps + c * wakeups of others
 *
 * A slope of less than SWITCHING_SURE standard errors counts as 0. A slope above SWITCHING_NS_MAX
 * includes more than a switch.
 */
#ifndef ISPOT_ANALYSIS_THREADS_SWITCHING_H
#define ISPOT_ANALYSIS_THREADS_SWITCHING_H

#include <stdint.h>

#include "analysis/threads/threads.h"

#define SWITCHING_SURE	 5
#define SWITCHING_NS_MAX 25000

/* Sums over a block's calls; x holds sleeps and wakeups. */
struct switching {
	double n, y, yy;
	double x[2], xy[2], xx[2], x0x1;
};

struct switching_cost {
	double sleep_ns, wake_ns; /* 0: cannot be distinguished from chance */
};

void switching_add_switches(struct switching *s, double y, const struct offcpu *own_off);

/* Adds a call that never left the CPU. */
static inline void switching_add_ran(struct switching *s, uint64_t own_ns)
{
	double y = (double)(int64_t)own_ns; /* converting a signed value takes one instruction */

	s->n++;
	s->y += y;
	s->yy += y * y;
}

/* Adds a call whose own time was own_ns, including own_off off the CPU. */
static inline void switching_add(struct switching *s, uint64_t own_ns, const struct offcpu *own_off)
{
	uint64_t running_ns = offcpu_running_ns(own_ns, own_off);

	switching_add_ran(s, running_ns);
	if (own_off->sleeps | own_off->wakes) /* rare */
		switching_add_switches(s, (double)running_ns, own_off);
}
struct switching_cost switching_cost(const struct switching *s);

#endif
