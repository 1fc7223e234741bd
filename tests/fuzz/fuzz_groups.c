// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a file of counter groups, for a processor and for none. */
#include <stdint.h>

#include "base/err.h"
#include "pmu/group.h"

const char ispot_groups_start[1], ispot_groups_end[1]; /* none are compiled in here */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmu_groups groups = { 0 };
	struct pmu_group_choice choice;
	struct err err = { 0 };

	if (!pmu_groups_parse(&groups, (const char *)data, size, "groups", &err))
		vec_for_each (&groups, const struct pmu_group, g) {
			pmu_groups_find(&groups, g->name);
			pmu_group_choose(g, "skx", &choice);
			pmu_group_choose(g, NULL, &choice);
		}
	pmu_groups_release(&groups);
	return 0;
}
