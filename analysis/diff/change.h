/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of diff.h: by how much a block's calls differ between the sides, and how far
 * that may be from the truth. */
#ifndef ISPOT_ANALYSIS_DIFF_CHANGE_H
#define ISPOT_ANALYSIS_DIFF_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/diff/diff.h"

/* A block of one run, under the number of its key. */
struct diff_match {
	uint32_t key;
	enum diff_side side;
	const struct diff_run *run;
	const struct block *block;
};

/* A block's calls of both sides, ordered by side. */
struct diff_pair {
	const struct diff_match *m;
	size_t n_before, n_after;
	double level; /* chance that a change is none */
};

/* Without waiting for a CPU: of the mean, and of the mean logarithm. */
struct diff_change diff_mean_change(const struct diff_pair *p);
struct diff_change diff_typical_change(const struct diff_pair *p);
/* The change of the mean with its noise; NAN: too few runs to tell. */
struct diff_change diff_whole_change(const struct diff_pair *p);
/* The mean of runs with equal weight, also where nothing is known of the noise. */
double diff_mean(const struct diff_match *m, size_t n, enum slice_sum what);

#endif
