/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the loops in a row of sibling calls in one pass (nested loop recognition: elements that
 * equal those just before them are a second iteration). Keeps the last FOLD_WINDOW elements, each a
 * call or a loop that is folded already. A loop is found if two of its iterations fit in the
 * window.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_FOLD_H
#define ISPOT_ANALYSIS_SEQUENCE_FOLD_H

#include <stdbool.h>
#include <stdint.h>

struct patterns;

#define FOLD_WINDOW 128

struct fold {
	uint32_t n, known; /* known: patterns.version when the row was last read */
	uint32_t symbols[2 * FOLD_WINDOW];
};

/* Appends a symbol. learn: new loops become patterns of p; else only loops in p are folded. */
void fold_push(struct fold *f, struct patterns *p, uint32_t symbol, bool learn);
static inline void fold_clear(struct fold *f)
{
	f->n = 0;
}

#endif
