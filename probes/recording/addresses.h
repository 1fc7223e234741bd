/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses that were arguments. Those in the data of a mapped file are places in the file, found
 * while their process is alive and named when the recording ends. The others (heap, stacks) stay
 * numbers.
 */
#ifndef ISPOT_PROBES_RECORDING_ADDRESSES_H
#define ISPOT_PROBES_RECORDING_ADDRESSES_H

#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

struct drain_addresses;
struct dso;
struct spaces;

/* Arguments that are addresses in the data of a file. */
struct recorded_address {
	uint64_t value;
	struct dso *dso;
	uint64_t address; /* as in the file */
};

struct recorded_addresses {
	VEC(struct recorded_address)
};

/* Looks up the addresses that were given since the last call. */
void addresses_add(struct recorded_addresses *addresses, struct drain_addresses *given,
		   struct spaces *spaces);
/* Writes the line of each address. */
void addresses_write(const struct recorded_addresses *addresses, text_write_line *write, void *ctx);
/* Returns a notice on addresses that were not kept, which the caller frees, or NULL if all were. */
char *addresses_notice(const struct drain_addresses *given);
void addresses_release(struct recorded_addresses *addresses);

#endif
