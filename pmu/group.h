/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is counted together. A group file (pmu/groups, compiled in; a user's own with -e @FILE) is
 * lines of words, # to the end of a line is a comment:
 *
 *	name    NAME			of the group, for -e NAME
 *	what    words			what it counts
 *	serves  CAUSE ...		the kinds of causes that it can decide
 *	event   ROLE PROCESSORS EVENT	PROCESSORS: libpfm4's names of core PMUs, globs, commas
 *					between them; of rows with the same role the first that fits
 *					this machine is taken
 *
 * A list is what -e names: events and groups, commas and braces between them. Nothing is
 * multiplexed: all hardware events count all of the time, or the list is refused.
 */
#ifndef ISPOT_PMU_GROUP_H
#define ISPOT_PMU_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "pmu/event.h"

struct err;

#define PMU_LIST_MAX 12 /* events of a list: auto has them all where the PMU counts all at once */

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
/* -EINVAL with the line's number, or -errno. origin: the file, for the sentence. */
int pmu_groups_parse(struct pmu_groups *groups, const char *text, size_t n, const char *origin,
		     struct err *err);
const struct pmu_group *pmu_groups_find(const struct pmu_groups *groups, const char *name);
void pmu_groups_release(struct pmu_groups *groups);

/* The rows for a processor (NULL: none that libpfm4 knows), one of each role. */
struct pmu_group_choice {
	const struct pmu_group_row *rows[PMU_LIST_MAX];
	unsigned n;
};
void pmu_group_choose(const struct pmu_group *g, const char *processor,
		      struct pmu_group_choice *choice);

/* The events to be counted, and those that were wanted and cannot be. */
struct pmu_list {
	struct pmu_event events[PMU_LIST_MAX];
	unsigned n;
	struct pmu_missing {
		struct pmu_event event;
		char why[120];
	} missing[PMU_LIST_MAX];
	unsigned n_missing;
	bool is_auto;	/* as many as fit, in this order; not those that were asked for */
	bool fell_back; /* nothing of it can be counted: these are the software group's */
};

#endif
