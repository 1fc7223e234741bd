/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of counted.c: cuts callgrind's counts of each thread into its parts of sections. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CUT_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CUT_H

#include <stdint.h>

struct counted;

/* Adds the parts to the dumps of c. Returns the number of threads. Threads are numbered from 1, in
 * the order of their begin; those of joins from 0, in the order of their creation. */
uint32_t counted_cut(struct counted *c);

#endif
