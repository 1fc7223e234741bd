/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of `ispot list` about counters: every event and group, tried on this machine. */
#ifndef ISPOT_PMU_LISTING_H
#define ISPOT_PMU_LISTING_H

#include "base/vec.h"
#include "pmu/event.h"
#include "pmu/group.h"

struct json;
struct text;

struct tried {
	struct pmu_event event;
	char why[160]; /* why it does not count here; "": it does */
};

struct tried_group {
	const struct pmu_group *group;
	struct {
		VEC(struct tried)
	} events;
	unsigned fit; /* events that count at once */
};

struct counter_list {
	struct pmu_groups *groups;
	struct {
		VEC(struct tried)
	} counters;
	struct {
		VEC(struct tried_group)
	} tried_groups;
	char pmu[64];	       /* name in sysfs */
	const char *processor; /* name in libpfm4; NULL: unknown to it */
	int paranoid;	       /* INT32_MAX: the kernel has no perf events */
};

void counter_list_find(struct counter_list *l);
void counter_list_print(const struct counter_list *l, bool each, struct text *out);
void counter_list_json(const struct counter_list *l, struct json *root);
void counter_list_release(struct counter_list *l);

#endif
