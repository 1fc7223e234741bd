/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of diff.c: by how much a block's calls differ between the two sides, and the error
 * margin. */
#ifndef ISPOT_ANALYSIS_DIFF_CHANGE_H
#define ISPOT_ANALYSIS_DIFF_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/diff/diff.h"

/* A block of one run. key: number of the name that matches it with other runs. */
struct diff_match {
	uint32_t key;
	enum diff_side side;
	const struct diff_run *run;
	const struct block *block;
};

/* The matches of one block on both sides, those before first. */
struct diff_pair {
	const struct diff_match *m;
	size_t n_before, n_after;
	double level; /* accepted probability that a change is chance */
};

/* Return the change of the mean and of the mean logarithm, both without waits for a CPU. */
struct diff_change diff_mean_change(const struct diff_pair *p);
struct diff_change diff_typical_change(const struct diff_pair *p);
/* Returns the change of the mean with waits for a CPU; NAN if there are too few runs. */
struct diff_change diff_whole_change(const struct diff_pair *p);
/* Returns the mean of the runs with equal weight, even if the noise is not known; NAN: no calls. */
double diff_mean(const struct diff_match *m, size_t n, enum slice_sum what);

#endif
