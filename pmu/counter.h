/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes counted events as the meta lines of a recording have them. */
#ifndef ISPOT_PMU_COUNTER_H
#define ISPOT_PMU_COUNTER_H

#include <stdint.h>

struct meta_counter;
struct pmu_event;

/*
 * Returns the event's description, which borrows the strings of the event and why. why: the reason
 * for which the event is not counted, or "". The recorder sets how often the event is read (period,
 * on_change) and who asked for it (by_default); the returned description counts no calls.
 */
struct meta_counter pmu_counter(const struct pmu_event *e, uint32_t id, const char *why);

#endif
