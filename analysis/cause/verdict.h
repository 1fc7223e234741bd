/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on a block: interference, or why it is not called that. */
#ifndef ISPOT_ANALYSIS_CAUSE_VERDICT_H
#define ISPOT_ANALYSIS_CAUSE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/score/judgement.h"

struct block;
struct meta_frame;

/* Needs everything of the block but verdict and causes. */
enum verdict block_verdict(const struct block *b);
/*
 * Once its causes are known: a block of interference keeps as lost what evidence attributes to
 * interference. Where most of the excess is not explained nobody can tell. whole: as of
 * work_proof().
 */
void block_take_unexplained(struct block *b, const struct block *whole, uint64_t duration_ns);

/* Most of its excess is time on a CPU that nothing explains. */
bool block_is_unexplained(const struct block *b);

/* Whether the file belongs to the system (/usr, /lib, …), so that the user does not edit its
 * source. */
bool cause_is_installed(const char *path);
/* Whether the function has a loop, in a file that does not belong to the system. */
bool loop_can_be_marked(const struct meta_frame *f);
/* The block's own frame in the loop (its loop is the line) that takes much of its threads' time,
 * where it was called too few times to be judged; NULL: none is known. */
const struct meta_frame *block_loop(const struct block *b);
/* Part of its threads' time in such a loop. */
double block_loop_share(const struct block *b);

#endif
