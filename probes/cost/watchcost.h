/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures what watching costs the watched threads on this machine: a record that the kernel writes
 * into a ring (as at each context switch), and a sample of a hardware counter with its interrupt.
 * Both are differences of the time of the same work with and without the event, the fastest of
 * several rounds.
 */
#ifndef ISPOT_PROBES_COST_WATCHCOST_H
#define ISPOT_PROBES_COST_WATCHCOST_H

#include <stdbool.h>

struct watchcost {
	double record_ns;
	double sample_ns; /* 0: not measured, as there is no counter or it was not requested */
};

void watchcost_measure(struct watchcost *cost, bool samples);

#endif
