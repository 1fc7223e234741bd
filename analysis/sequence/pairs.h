/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the pairs of elements that stand beside each other twice, in rows from which the loops
 * have been folded: the paper's algorithm, which makes a repeated pair one element everywhere, as
 * one pass (the first occurrence is rewritten when the second is met, as in Nevill-Manning and
 * Witten's Sequitur). Remembers the last PAIRS_NODES elements of all rows; what is repeated
 * farther apart than that is not noticed.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_PAIRS_H
#define ISPOT_ANALYSIS_SEQUENCE_PAIRS_H

#include <stdint.h>

#include "base/hash.h"

struct patterns;

#define PAIRS_NODES (1u << 16)

struct pair_node {
	uint32_t symbol;
	uint64_t serial, left, right; /* of neighbours; a node with another serial is gone */
};

struct pairs {
	struct patterns *patterns;
	struct pair_node *nodes; /* [serial % PAIRS_NODES] */
	uint64_t serial;	 /* of the newest, from 1 */
	struct map at;		 /* left symbol << 32 | right symbol -> index of the left node */
};

void pairs_init(struct pairs *p, struct patterns *patterns);
void pairs_release(struct pairs *p);
/* Appends to the row whose last element was *last (0: it is empty). */
void pairs_push(struct pairs *p, uint64_t *last, uint32_t symbol);

#endif
