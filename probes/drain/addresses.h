/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses given as arguments, each kept once, when it first comes, for the owner to look up while
 * its process is alive. They are kept in a table of fixed size; nothing here allocates memory after
 * the start.
 */
#ifndef ISPOT_PROBES_DRAIN_ADDRESSES_H
#define ISPOT_PROBES_DRAIN_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arguments;
struct wire_args;

#define DRAIN_ADDRESSES_MAX 16384 /* most addresses of a recording; further ones have no name */

struct drain_address {
	uint64_t value; /* 0: free */
	pid_t pid;	/* the process that gave it first */
};

struct drain_addresses {
	struct drain_address *table;
	uint32_t *order;   /* [n]: indices in the table, in order of arrival */
	uint32_t n, taken; /* taken: how many of them the owner has taken */
	bool full;	   /* there were more addresses */
};

void drain_addresses_init(struct drain_addresses *a);
void drain_address(struct drain_addresses *a, pid_t pid, uint64_t value);
/* Adds the arguments of a call that are addresses. recorded has a bit for each recorded argument.
 */
void drain_addresses_of_call(struct drain_addresses *a, pid_t pid,
			     const struct arguments *arguments, uint64_t recorded,
			     const struct wire_args *w);
bool drain_addresses_left(const struct drain_addresses *a); /* whether there is a new one */
const struct drain_address *drain_addresses_next(struct drain_addresses *a); /* NULL: no new one */
void drain_addresses_release(struct drain_addresses *a);

#endif
