/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of pmu/group.h: from words to events, and from events to what this machine counts. */
#ifndef ISPOT_PMU_LIST_H
#define ISPOT_PMU_LIST_H

struct err;
struct pmu_list;

/*
 * From -e's words: events, groups, @FILE; "auto" is the group of that name, "none" nothing.
 * -EINVAL, -ENODEV: an unknown event (pmu/event.h); -E2BIG: more than PMU_LIST_MAX events.
 * Nothing is opened.
 */
int pmu_list_parse(struct pmu_list *list, const char *words, struct err *err);

/*
 * Tries the list on this machine: what it cannot count goes to missing, and if nothing is left,
 * the software group comes in. -ENOSPC: more hardware events than count at once; the sentence says
 * how many do. An automatic list is cut instead.
 */
int pmu_list_fit(struct pmu_list *list, struct err *err);

#endif
