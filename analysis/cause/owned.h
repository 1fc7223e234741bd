/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a sequence loses what it owns. It contains calls of several functions and what is between
 * them, and its excess is of all of that; but the lost time that it owns is only of its calls, by
 * the verdicts on their functions (analysis/sequence/owner.h). So its lost time has the causes of
 * those functions' lost time, each with the part that the sequence owns of its function.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_OWNED_H
#define ISPOT_ANALYSIS_CAUSE_OWNED_H

struct block;
struct blocks;

/*
 * Sets what b owns, and the lost part of its causes. Their shares stay shares of the excess, which
 * add up to it, and are at least the lost part. owned_ns: lost time that b owns, [function id].
 * functions: the judged functions of the same result as b, which must exist as long as b. Changes
 * nothing if no function's lost time is known.
 */
void causes_take_owned(struct block *b, const struct blocks *functions, const double *owned_ns);

#endif
