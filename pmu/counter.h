/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted events as a recording's meta lines have them. */
#ifndef ISPOT_PMU_COUNTER_H
#define ISPOT_PMU_COUNTER_H

#include <stdint.h>

struct meta_counter;
struct pmu_event;

/*
 * Returns the event's description, which borrows the event's strings and why. why: the reason for
 * which it is not counted, or "". How often the event is read (period, on_change) and who asked for
 * it (by_default) is the recorder's to say: as returned, no call is counted.
 */
struct meta_counter pmu_counter(const struct pmu_event *e, uint32_t id, const char *why);

#endif
