/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sleeping and waking take on a CPU: the system call's way in and out, the kernel's switches,
 * the message to the CPU that is to run the one woken. The thread runs meanwhile, but for no work
 *of its own: that time is of the wait that it begins or ends. No record says where it ends, so it
 *is what each sleep more and each wakeup more comes with, by a plane fitted over the block's calls:
 *
 *	own time on a CPU = a + b * sleeps + c * wakeups of others
 *
 * A slope of less than SWITCHING_SURE standard errors is 0; beyond SWITCHING_NS_MAX there is more
 * to it than a switch.
 */
#ifndef ISPOT_ANALYSIS_THREADS_SWITCHING_H
#define ISPOT_ANALYSIS_THREADS_SWITCHING_H

#include <stdint.h>

#include "analysis/threads/threads.h"

#define SWITCHING_SURE	 5
#define SWITCHING_NS_MAX 25000

/* Sums over a block's calls; x: sleeps, wakeups. */
struct switching {
	double n, y, yy;
	double x[2], xy[2], xx[2], x0x1;
};

struct switching_cost {
	double sleep_ns, wake_ns; /* 0: it cannot be told from chance */
};

void switching_add_switches(struct switching *s, double y, const struct offcpu *own_off);

/* A call that never left the CPU. */
static inline void switching_add_ran(struct switching *s, uint64_t own_ns)
{
	double y = (double)(int64_t)own_ns; /* signed: one instruction */

	s->n++;
	s->y += y;
	s->yy += y * y;
}

/* A call whose own time was own_ns, of which own_off off the CPU. */
static inline void switching_add(struct switching *s, uint64_t own_ns, const struct offcpu *own_off)
{
	uint64_t running_ns = offcpu_running_ns(own_ns, own_off);

	switching_add_ran(s, running_ns);
	if (own_off->sleeps | own_off->wakes) /* seldom */
		switching_add_switches(s, (double)running_ns, own_off);
}
struct switching_cost switching_cost(const struct switching *s);

#endif
