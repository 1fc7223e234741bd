/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds pairs of neighbouring elements that occur twice, in rows whose loops have been folded. This
 * is the paper's algorithm, which replaces a repeated pair by one element everywhere, in one pass:
 * the first occurrence is replaced when the second one is found, as in Nevill-Manning and Witten's
 * Sequitur. Keeps the last PAIRS_NODES elements of all rows; repetitions at a greater distance are
 * not found.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_PAIRS_H
#define ISPOT_ANALYSIS_SEQUENCE_PAIRS_H

#include <stdint.h>

#include "base/hash.h"

struct patterns;

#define PAIRS_NODES (1u << 16)

struct pair_node {
	uint32_t symbol;
	uint64_t serial, left, right; /* left, right: serials of the neighbours. The slot of a
				       * node may have been reused: then its serial differs. */
};

struct pairs {
	struct patterns *patterns;
	struct pair_node *nodes; /* [serial % PAIRS_NODES] */
	uint64_t serial;	 /* serial of the newest node, from 1 */
	struct map at;		 /* left symbol << 32 | right symbol -> index of the left node */
};

void pairs_init(struct pairs *p, struct patterns *patterns);
void pairs_release(struct pairs *p);
/* Appends a symbol to the row whose last node has the serial *last (0: the row is empty). */
void pairs_push(struct pairs *p, uint64_t *last, uint32_t symbol);

#endif
