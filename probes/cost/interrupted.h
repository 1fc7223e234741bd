/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds calls of an empty function that were interrupted, by another program that got the CPU or by
 * the host of a virtual machine. Such calls tell nothing about the probes: in a recorded program
 * interruptions are recorded as switches, and on a busy machine more than one call in a hundred is
 * interrupted, which would distort percentiles.
 */
#ifndef ISPOT_PROBES_COST_INTERRUPTED_H
#define ISPOT_PROBES_COST_INTERRUPTED_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many of the n sorted durations (ns) come before the first interrupted one. */
size_t interrupted_from(const uint64_t *sorted, size_t n);

#endif
