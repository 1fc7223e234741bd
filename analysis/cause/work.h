/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The proof that a block's duration varies because its work does, if there is one: it varies with
 * the call's number (a structure that grows), an integer argument, the number of instructions, or
 * the traced calls inside. Nothing else is called workload.
 *
 * A wait proves nothing, so there is no proof for a block that is mostly off the CPU or spins. If
 * other threads run concurrently during slow calls, a growth with time may be their growing
 * contention. Growth of only the median call is accepted if coactivity and samples were enough to
 * see such threads and such spinning. So is running time that is many times that of the fastest
 * call, because half of the calls may have nothing to do. If no other thread of the program ran at
 * all, a smaller multiple is enough.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_WORK_H
#define ISPOT_ANALYSIS_CAUSE_WORK_H

#include <stdint.h>

#include "analysis/score/judgement.h"

struct block;
struct meta;
struct text;

/*
 * Needs the block's pools, fit, counters, samples and coactivity. whole is the block of the
 * function if b is a group of its calls, because only that has samples and coactivity; otherwise
 * whole is b.
 */
struct work work_proof(const struct block *b, const struct block *whole, const struct meta *meta);
/*
 * Returns the part of the excess that the argument or the call's number accounts for, if that
 * proves nothing about the whole because most calls waited or other causes took more.
 */
struct work work_part(const struct block *b);
/* Returns the number of the argument, as -F and --key count parameters. */
uint32_t work_argument(const struct block *b);
/* Adds the proof as a sentence. */
void work_describe(const struct block *b, const struct meta *meta, const struct work *work,
		   struct text *out);

#endif
