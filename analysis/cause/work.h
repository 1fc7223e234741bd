/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The proof that a block's duration varies because its work does, if there is one: with the call's
 * number (a structure that grows), an integer argument, the instructions it took, or the traced
 * calls inside it. Nothing else is called workload. What waits proves nothing: neither a
 * block that is mostly off the CPU, nor one that spins; and where others are at work during slow
 * calls, a growth with time may be their growing contention. Growth of the median call only is
 * believed where co-activity and samples were enough to see such others and such spinning. So is
 * time on a CPU that is many times what the fastest call takes: half of the calls may have nothing
 * to do. Where no other thread of the program ran at all, a lesser multiple is enough.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_WORK_H
#define ISPOT_ANALYSIS_CAUSE_WORK_H

#include <stdint.h>

#include "analysis/score/judgement.h"

struct block;
struct meta;
struct text;

/*
 * Needs the block's pools, fit, counters, samples and co-activity. whole: the block of the function
 * whose group of calls it is, for what only that has, samples and co-activity; else the block.
 */
struct work work_proof(const struct block *b, const struct block *whole, const struct meta *meta);
/*
 * Returns the part of the excess that the argument or the call's number accounts for, where that
 * proves nothing about the whole: most calls waited, or other causes took more.
 */
struct work work_part(const struct block *b);
/* Where it is an argument: its number, as -F and --key count parameters. */
uint32_t work_argument(const struct block *b);
/* The proof in a sentence. */
void work_describe(const struct block *b, const struct meta *meta, const struct work *work,
		   struct text *out);

#endif
