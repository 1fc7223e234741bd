/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of block.c: divides a block's excess into pools (cause.h) by where its threads were. */
#ifndef ISPOT_ANALYSIS_SCORE_POOLS_H
#define ISPOT_ANALYSIS_SCORE_POOLS_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct sci_function;
struct threads;

/*
 * Applies what the end of the recording shows about sleeps; the fastest call's sleep changes in
 * proportion.
 */
void block_reconsider(struct sci_function *f, const struct threads *th);
/* Own time off the CPU beyond that of the fastest call, the rest ran. */
void block_fill_pools(struct block *b);
/*
 * A program so contended that no call was spared shows no difference between its calls, and so no
 * score. What the fastest one waited for a disk or for work is not held against it: that may be
 * what the call is for.
 */
bool block_never_fast(const struct block *b);

/* Recorded calls stand for so many of them under sampling, in the excess and in all that is part of
 * it or, as jitter, is taken for a part: of those inside no other of the block. */
double block_weight_outer(const struct block *b);
/* The same of every call, for what is part of own times. */
double block_weight_calls(const struct block *b);
/* Part of its pools: it could have run, and other programs had the CPUs. */
double block_foreign_ns(const struct block *b);
/* From its pools and own excess: what is idle is not lost. */
void block_take_idle(struct block *b, uint64_t duration_ns);

#endif
