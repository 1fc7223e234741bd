/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function's decoded instructions, where its branches go, how far the stack pointer is from its
 * value at entry, and so where control leaves: part of placement, machine-independent.
 */
#ifndef ISPOT_PROBES_FLOW_H
#define ISPOT_PROBES_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct insn;
struct placement;
struct placement_input;

struct code {
	struct insn *insns; /* the function's, by address, then those of its further parts */
	size_t n, n_main;
	struct {
		VEC(uint64_t)
	} targets; /* of direct branches, ascending */
	struct {
		VEC(size_t)
	} bounds;	      /* index of each part's first instruction, and the end */
	uint64_t undecodable; /* address of the first byte that is no instruction */
	bool incomplete;      /* there is one */
	bool too_large;	      /* only the first CODE_BYTES_MAX bytes were read */
};

/* Symbols of megabytes are hand-made tables, not functions; reading on would only take time. */
#define CODE_BYTES_MAX (1u << 20)

void code_read(struct code *code, const struct placement_input *in);
void code_release(struct code *code);
bool code_is_target(const struct code *code, uint64_t address);

/* Fills ret_sites, ret_sites_complete and ret_sites_reason. */
void exits_find(const struct code *code, const struct placement_input *in, struct placement *out);

#endif
