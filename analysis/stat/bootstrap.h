/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An interval for how far the mean of a sample may be off. Its values are drawn again with
 * replacement, many times; here the count of each histogram bucket is redrawn as a Poisson number,
 * so that the cost does not grow with the sample. The 2.5 and 97.5 percentiles of the means bound
 * an interval that assumes nothing about the distribution, which is skewed for durations. The same
 * sample always gives the same interval.
 */
#ifndef ISPOT_ANALYSIS_STAT_BOOTSTRAP_H
#define ISPOT_ANALYSIS_STAT_BOOTSTRAP_H

struct hist;

struct bootstrap {
	double low, high; /* distance of the bounds below and above the mean, both >= 0 */
};

/*
 * all is the number of values that the sample stands for. Returns 0 and 0 if the sample is complete
 * or has fewer than two values.
 */
struct bootstrap bootstrap_mean(const struct hist *h, double all);

#endif
