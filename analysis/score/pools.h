/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of block.c: divides a block's excess into pools (judgement.h) by what its threads did. */
#ifndef ISPOT_ANALYSIS_SCORE_POOLS_H
#define ISPOT_ANALYSIS_SCORE_POOLS_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct sci_function;
struct threads;

/* Reclassifies sleeps as idle or blocked by what is known at the end of the recording. The sleep of
 * the fastest call changes in proportion. */
void block_reconsider(struct sci_function *f, const struct threads *th);
/* Sets the pools of b: own time off the CPU beyond that of the fastest call; the rest ran. */
void block_fill_pools(struct block *b);
/*
 * Whether the fastest call itself was mostly waiting for a lock or a CPU. If contention affects
 * every call, calls do not differ, so there is no score. Waits of the fastest call for a disk or
 * for work do not count, because they may be what the call is for.
 */
bool block_never_fast(const struct block *b);

/* Returns how many outer calls each recorded one stands for with sampling: the weight of excess and
 * its parts, and of jitter, which is compared with it. */
double block_weight_outer(const struct block *b);
/* Returns how many calls each recorded one stands for: the weight of own times and their parts. */
double block_weight_calls(const struct block *b);
/* Returns the part of POOL_PREEMPTED in which other programs had the CPUs. */
double block_foreign_ns(const struct block *b);
/* Splits the own excess into lost_threads and idle_threads, by the share of POOL_IDLE. */
void block_set_idle(struct block *b, uint64_t duration_ns);

#endif
