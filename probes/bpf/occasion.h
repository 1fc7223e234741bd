/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that is done at one call in WIRE_OCCASION of a function, because it costs more than the
 * rest.
 */
#ifndef ISPOT_PROBES_BPF_OCCASION_H
#define ISPOT_PROBES_BPF_OCCASION_H

#include "common.h"

/* By function (functions may share a row). */
#define OCCASIONS      4096
#define OCCASION_FIRST 16 /* first calls on each CPU, all of them: for functions with few calls */

struct occasion {
	__u32 until, first;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OCCASIONS);
	__type(key, __u32);
	__type(value, struct occasion);
} occasions SEC(".maps");

/* Once per entry. */
static __always_inline bool is_occasion(__u32 id)
{
	__u32 row = id % OCCASIONS;
	struct occasion *o = bpf_map_lookup_elem(&occasions, &row);

	if (!o)
		return false;
	if (o->until) {
		o->until--;
		return false;
	}
	if (o->first < OCCASION_FIRST)
		o->first++;
	else /* at random, so that a program with a period of its own does not alias */
		o->until = WIRE_OCCASION / 2 + bpf_get_prandom_u32() % WIRE_OCCASION;
	return true;
}

#endif
