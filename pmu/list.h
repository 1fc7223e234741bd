/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns words into lists (pmu/group.h), and lists into what this machine can count. */
#ifndef ISPOT_PMU_LIST_H
#define ISPOT_PMU_LIST_H

struct err;
struct pmu_list;

/*
 * Makes a list from the words of -e: events, groups, @FILE; "auto" is the group of that name,
 * "none" an empty list. -EINVAL, -ENODEV: an unknown event (pmu/event.h); -E2BIG: more than
 * PMU_LIST_MAX events. Nothing is opened.
 */
int pmu_list_parse(struct pmu_list *list, const char *words, struct err *err);

/*
 * Tries the list on this machine. Events that cannot be counted move to missing; if none is left,
 * the software group replaces them. -ENOSPC: more hardware events than count at once; the sentence
 * has the number that does. An automatic list is cut instead.
 */
int pmu_list_fit(struct pmu_list *list, struct err *err);

#endif
