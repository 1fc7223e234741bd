/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The natural loops of a function: a branch back to a place that was passed on the way to it, and
 * all that lies between. Where a function runs once and long, its loop is what to mark.
 */
#ifndef ISPOT_PROBES_CODE_LOOPS_H
#define ISPOT_PROBES_CODE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;
struct code_input;

struct loop {
	uint64_t head;	 /* its first instruction */
	uint64_t branch; /* the last branch back to it: compilers give it the loop's own line */
	size_t insns;	 /* in it, inner loops included */
};

struct loops;

struct loops *loops_read(const struct code_input *in);
/* The same of the function of dso that contains address; NULL: none, or too large. */
struct loops *loops_read_at(struct dso *dso, uint64_t address);
/* Around the instruction at address. False: in none. */
bool loops_around(const struct loops *l, uint64_t address, struct loop *outermost,
		  struct loop *innermost);
void loops_free(struct loops *l);

#endif
