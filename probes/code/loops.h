/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The natural loops of a function: a back edge to an instruction that every path to the edge
 * passed, and all instructions in between. If a function runs once and long, its loop is what to
 * mark.
 */
#ifndef ISPOT_PROBES_CODE_LOOPS_H
#define ISPOT_PROBES_CODE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;
struct code_input;

struct loop {
	uint64_t head;	 /* address of the first instruction */
	uint64_t branch; /* address of the last back edge: compilers give it the loop's own line */
	size_t insns;	 /* number of instructions, inner loops included */
};

struct loops;

struct loops *loops_read(const struct code_input *in);
/*
 * Reads the loops of the function of dso that contains address. Returns NULL if there is no such
 * function, or it is too large or in a file whose reading takes too long.
 */
struct loops *loops_read_at(struct dso *dso, uint64_t address);
/* Finds the loops that contain the instruction at address. Returns false if there are none. */
bool loops_around(const struct loops *l, uint64_t address, struct loop *outermost,
		  struct loop *innermost);
void loops_free(struct loops *l);

#endif
