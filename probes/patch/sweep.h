/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads all code of an object for the marks of targets.h. */
#ifndef ISPOT_PROBES_PATCH_SWEEP_H
#define ISPOT_PROBES_PATCH_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct dso;
struct targets;

struct sweep {
	struct targets *t;
	struct dso *dso;
	struct {
		VEC(uint64_t)
	} tables;	     /* data whose address is in the code: perhaps tables of offsets */
	uint64_t start, end; /* the range between two starts of functions */
	bool dead;	     /* control does not get here from above */
};

/* Marks what all code leads to and names, and fills the crossings and s->tables. */
void sweep_code(struct sweep *s);
/* Called by the reader of each machine: for a direct branch at an address, and for an address that
 * code computes or reads. */
void sweep_branch(struct sweep *s, uint64_t at, uint64_t target, bool is_call);
void sweep_address(struct sweep *s, uint64_t address);

#endif
