/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups of events that are counted together. A group file (pmu/groups, compiled in; a user's own
 * with -e @FILE) has lines of words; # begins a comment:
 *
 *     name    NAME                    of the group, for -e NAME
 *     what    words                   what the group counts
 *     serves  CAUSE ...               the kinds of causes that the group can decide
 *     event   ROLE PROCESSORS EVENT   PROCESSORS: libpfm4's names of core PMUs, as globs separated
 *                                     by commas; of the rows with the same role, the first that
 *                                     matches this machine is used
 *
 * A list is the argument of -e: events and groups, separated by commas, with optional braces.
 * Nothing is multiplexed: all hardware events count all of the time, or the list is refused.
 */
#ifndef ISPOT_PMU_GROUP_H
#define ISPOT_PMU_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "pmu/event.h"

struct err;

#define PMU_LIST_MAX 12 /* events of a list: enough for all of auto, if all count at once */

struct pmu_group_row {
	char *role, *processors, *event;
};

struct pmu_group {
	char *name, *what, *serves;
	struct {
		VEC(struct pmu_group_row)
	} rows;
};

struct pmu_groups {
	VEC(struct pmu_group)
};

/* Loads the groups that are compiled in; the caller releases them. */
void pmu_groups_load(struct pmu_groups *groups);
/*
 * Adds the groups of a text. -EINVAL: malformed; the sentence has the line's number and origin, the
 * name of the file.
 */
int pmu_groups_parse(struct pmu_groups *groups, const char *text, size_t n, const char *origin,
		     struct err *err);
const struct pmu_group *pmu_groups_find(const struct pmu_groups *groups, const char *name);
void pmu_groups_release(struct pmu_groups *groups);

/* The rows that fit a processor (NULL: libpfm4 does not know it), one for each role. */
struct pmu_group_choice {
	const struct pmu_group_row *rows[PMU_LIST_MAX];
	unsigned n;
};
void pmu_group_choose(const struct pmu_group *g, const char *processor,
		      struct pmu_group_choice *choice);

/* The events to count, and the wanted events that cannot be counted. */
struct pmu_list {
	struct pmu_event events[PMU_LIST_MAX];
	unsigned n;
	struct pmu_missing {
		struct pmu_event event;
		char why[120];
	} missing[PMU_LIST_MAX];
	unsigned n_missing;
	bool is_auto;	/* as many events as fit, in this order, instead of a fixed list */
	bool fell_back; /* no event can be counted: these are of the software group */
};

#endif
