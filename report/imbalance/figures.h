/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of `ispot imbalance` as inline SVG. Tables show the same numbers. */
#ifndef ISPOT_REPORT_IMBALANCE_FIGURES_H
#define ISPOT_REPORT_IMBALANCE_FIGURES_H

#include <stddef.h>

struct imbalance_view;
struct parallel_section;
struct text;

#define FIGURE_CAUSES 3 /* causes whose counts are drawn over the threads' times */

/*
 * Draws figure 2 of the LIME paper: the time and waiting of each thread over all iterations, and
 * the counts of the causes, each as a share of its largest count.
 */
void figure_threads(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out);
/* Draws the same for the iteration that lost most; nothing if there is only one iteration. */
void figure_largest(const struct imbalance_view *v, const struct parallel_section *s,
		    struct text *out);
/*
 * Draws how much of each iteration was work and how much was waiting; several iterations may share
 * a bar. Draws nothing if there is only one iteration.
 */
void figure_instances(const struct parallel_section *s, struct text *out);
/* Draws a bar for each of n counts. */
void figure_counts(const double *counts, size_t n, struct text *out);

#endif
