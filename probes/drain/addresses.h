/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses given as arguments, each when it comes for the first time, for their owner to look up
 * while their process lives. Told apart in a table of fixed size; nothing here allocates after its
 * start.
 */
#ifndef ISPOT_PROBES_DRAIN_ADDRESSES_H
#define ISPOT_PROBES_DRAIN_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DRAIN_ADDRESSES_MAX 16384 /* of a recording; further ones have no name */

struct drain_address {
	uint64_t value; /* 0: free */
	pid_t pid;	/* that gave it first */
};

struct drain_addresses {
	struct drain_address *table;
	uint32_t *order;   /* [n]: places in the table */
	uint32_t n, taken; /* the owner has had so many of them */
	bool full;	   /* there were more */
};

void drain_addresses_init(struct drain_addresses *a);
void drain_address(struct drain_addresses *a, pid_t pid, uint64_t value);
const struct drain_address *drain_addresses_take(struct drain_addresses *a); /* NULL: no new one */
void drain_addresses_release(struct drain_addresses *a);

#endif
