/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of watching for those who are watched, measured here and now: a record that the kernel
 * writes into a ring (as it does at each context switch), and a sample of a hardware counter, its
 * interrupt included. Both as the time of the same work with and without, the best of several
 * rounds.
 */
#ifndef ISPOT_PROBES_COST_WATCHCOST_H
#define ISPOT_PROBES_COST_WATCHCOST_H

#include <stdbool.h>

struct watchcost {
	double record_ns;
	double sample_ns; /* 0: not measured, there is no counter or it was not asked for */
};

void watchcost_measure(struct watchcost *cost, bool samples);

#endif
