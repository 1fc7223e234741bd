/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses that were arguments. Those in the data of a mapped file are places in the file, found
 * while their process is alive and named when the recording ends. The others (heap, stacks) stay
 * numbers.
 */
#ifndef ISPOT_PROBES_RECORDING_ADDRESSES_H
#define ISPOT_PROBES_RECORDING_ADDRESSES_H

#include <stdint.h>

#include "base/vec.h"

struct dso;
struct recording;

/* Arguments that are addresses in the data of a file. */
struct session_address {
	uint64_t value;
	struct dso *dso;
	uint64_t address; /* as in the file */
};

struct session_addresses {
	VEC(struct session_address)
};

/* Called after session_add_stacks(). */
void session_add_addresses(struct session_addresses *addresses, struct recording *r);
void session_write_addresses(const struct session_addresses *addresses, struct recording *r);
void session_addresses_release(struct session_addresses *addresses);

#endif
