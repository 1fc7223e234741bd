/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of an empty function that something else came into: another program that had the CPU, or
 * the machine that this one is a guest of. They say nothing of the probes. What interrupts a
 * recorded program is seen there (switches), and where many programs run it is more than one call
 * in a hundred, so that percentiles would hold it.
 */
#ifndef ISPOT_PROBES_COST_INTERRUPTED_H
#define ISPOT_PROBES_COST_INTERRUPTED_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many of n durations in ns, in order, come before the first interrupted one. */
size_t interrupted_from(const uint64_t *sorted, size_t n);

#endif
