/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key of one thread's part in one instance of a parallel section, by which analyses sort parts.
 * A group is one instance, or several successive ones that are analysed together. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_PART_KEY_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_PART_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* The first member of structs that are sorted by the functions below. */
struct part_key {
	uint32_t section; /* number of the section; MAP_NONE: none, sorted last */
	uint32_t group;	  /* a number that is unique in the section */
	uint32_t thread;
	uint32_t instance; /* numbered through all sections */
};

int part_key_by_group(const void *a, const void *b);	/* by section, group, thread, instance */
int part_key_by_instance(const void *a, const void *b); /* by section, instance, thread */
bool part_key_same_group(const struct part_key *a, const struct part_key *b);
bool part_key_same_instance(const struct part_key *a, const struct part_key *b);
bool part_key_same_thread(const struct part_key *a,
			  const struct part_key *b); /* same group and thread */

#endif
