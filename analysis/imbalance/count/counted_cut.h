/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where callgrind's counts of each thread are cut into its parts of sections, for counted.c. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CUT_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_CUT_H

#include <stdint.h>

struct counted;

/* Adds them to the dumps of c. Returns how many threads there were: they are numbered from 1, in
 * the order in which they began; those of joins from 0, in the order in which they were made. */
uint32_t counted_cut(struct counted *c);

#endif
