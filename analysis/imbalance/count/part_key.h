/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key of one thread's part in one instance of a parallel section. Analyses order parts by it: a
 * group is one instance, or several that follow each other and are analysed together.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_PART_KEY_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_PART_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* First member of what is sorted by these. */
struct part_key {
	uint32_t section; /* of the imbalance; MAP_NONE: it is of none, and sorted last */
	uint32_t group;	  /* any number that other groups of the section do not have */
	uint32_t thread;
	uint32_t instance; /* numbered through all sections */
};

int part_key_by_group(const void *a, const void *b);	/* then by thread, instance */
int part_key_by_instance(const void *a, const void *b); /* of a section, then by thread */
bool part_key_same_group(const struct part_key *a, const struct part_key *b);
bool part_key_same_instance(const struct part_key *a, const struct part_key *b);
bool part_key_same_thread(const struct part_key *a,
			  const struct part_key *b); /* of the same group */

#endif
