/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/drain/addresses.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "probes/bpf/wire.h"
#include "probes/select/arguments.h"

#define SLOTS (2 * DRAIN_ADDRESSES_MAX) /* a power of two */

void drain_addresses_init(struct drain_addresses *a)
{
	*a = (struct drain_addresses){ 0 };
	a->table = xcalloc(SLOTS, sizeof(*a->table));
	a->order = xcalloc(DRAIN_ADDRESSES_MAX, sizeof(*a->order));
}

void drain_address(struct drain_addresses *a, pid_t pid, uint64_t value)
{
	uint32_t i = (uint32_t)hash_u64(value) & (SLOTS - 1);

	if (!value)
		return;
	while (a->table[i].value && a->table[i].value != value)
		i = (i + 1) & (SLOTS - 1);
	if (a->table[i].value)
		return;
	a->full |= a->n == DRAIN_ADDRESSES_MAX;
	if (a->full)
		return;
	a->table[i] = (struct drain_address){ value, pid };
	a->order[a->n++] = i;
}

void drain_addresses_of_call(struct drain_addresses *a, pid_t pid,
			     const struct arguments *arguments, uint64_t recorded,
			     const struct wire_args *w)
{
	for (uint32_t i = 0; i < WIRE_ARGS_MAX; i++)
		if (arguments->addresses & recorded & 1u << i)
			drain_address(a, pid, w->values[i]);
}

bool drain_addresses_left(const struct drain_addresses *a)
{
	return a->taken < a->n;
}

const struct drain_address *drain_addresses_next(struct drain_addresses *a)
{
	return drain_addresses_left(a) ? &a->table[a->order[a->taken++]] : NULL;
}

void drain_addresses_release(struct drain_addresses *a)
{
	free(a->table);
	free(a->order);
	*a = (struct drain_addresses){ 0 };
}
