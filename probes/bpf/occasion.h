/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses one call in WIRE_OCCASION of a function for work that costs more than the rest. */
#ifndef ISPOT_PROBES_BPF_OCCASION_H
#define ISPOT_PROBES_BPF_OCCASION_H

#include "common.h"

/* A row for each function (several functions may share one). */
#define OCCASIONS      4096
#define OCCASION_FIRST 16 /* first calls on each CPU, all chosen: for functions with few calls */

struct occasion {
	__u32 until, first;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OCCASIONS);
	__type(key, __u32);
	__type(value, struct occasion);
} occasions SEC(".maps");

/* Call it once for each entry. */
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
	else /* at random, to avoid aliasing with a period of the program */
		o->until = WIRE_OCCASION / 2 + bpf_get_prandom_u32() % WIRE_OCCASION;
	return true;
}

#endif
