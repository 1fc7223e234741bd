/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far the mean of a sample may be off: its values drawn again with replacement, many times,
 * here from the histogram (each bucket's count redrawn as a Poisson number), so that the cost does
 * not grow with the sample. The 2.5 and 97.5 percentiles of the means bound an interval that needs
 * no assumption about the distribution, which for durations is skewed. The same sample gives the
 * same interval.
 */
#ifndef ISPOT_ANALYSIS_STAT_BOOTSTRAP_H
#define ISPOT_ANALYSIS_STAT_BOOTSTRAP_H

struct hist;

struct bootstrap {
	double low, high; /* how far below and above the mean, both >= 0 */
};

/* all: of how many the values are a sample; 0 and 0 where it is all of them, or under 2. */
struct bootstrap bootstrap_mean(const struct hist *h, double all);

#endif
