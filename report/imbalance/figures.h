/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of `ispot imbalance` as inline SVG. What they draw stands in tables, too. */
#ifndef ISPOT_REPORT_IMBALANCE_FIGURES_H
#define ISPOT_REPORT_IMBALANCE_FIGURES_H

#include <stddef.h>

struct imbalance_view;
struct parallel_section;
struct text;

#define FIGURE_CAUSES 3 /* whose counts are drawn over the threads' times */

/* The LIME paper's figure 2: threads' times and waiting, over all instances, and the counts of the
 * causes, each as a share of its largest. */
void figure_threads(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out);
/* The same of the instance that lost most; nothing where there is but one. */
void figure_largest(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out);
/* How much of each instance, or of as many as share a bar, was work and how much waiting; nothing
 * where there is but one. */
void figure_instances(const struct parallel_section *s, struct text *out);
/* A bar for each of n counts. */
void figure_counts(const double *counts, size_t n, struct text *out);

#endif
