/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clusters of events whose counts vary together over the threads: hierarchical clustering with
 * average linkage (UPGMA) on Pearson's r, from section 3.2 of the LIME paper, with the bulk merging
 * of its section 5.6.
 *
 * If counts are scaled to mean 0 and length 1, the r of two events is the product of their vectors.
 * So the average r between all events of two clusters is the product of the mean vectors of the
 * clusters, and no matrix of distances is needed. Chains of nearest neighbors find the merges. Each
 * chain ends at a pair that are each other's nearest, which gives the same tree as always merging
 * the two closest clusters. A cluster without a neighbor above the threshold is finished and
 * leaves. The worst case takes time in O(events² × threads), and memory in O(events × threads).
 */
#ifndef ISPOT_ANALYSIS_STAT_CLUSTER_H
#define ISPOT_ANALYSIS_STAT_CLUSTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define CLUSTER_NONE	  UINT32_MAX
#define CLUSTER_THRESHOLD 0.9  /* from the paper: merging ends when the largest r is smaller */
#define CLUSTER_BULK	  0.99 /* from the paper: such events form one cluster from the start */

struct cluster_options {
	double threshold; /* -1: merge until one cluster is left */
	/* an event joins the first one with at least this r; above 1: no bulk merging */
	double bulk;
};

struct cluster_merge {
	double r;   /* average over the pairs of the two clusters */
	uint32_t n; /* events of both clusters */
};

struct clusters {
	uint32_t n;   /* clusters, counted from 0 in the order of their first events */
	uint32_t *of; /* [event]: its cluster; CLUSTER_NONE: the same count in every thread */
	struct {
		VEC(struct cluster_merge)
	} merges; /* sorted by r, largest first; without those of bulk merging */
};

/* counts is indexed by [event * n_threads + thread]. */
void clusters_build(struct clusters *c, const double *counts, uint32_t n_events, size_t n_threads,
		    const struct cluster_options *o);
void clusters_release(struct clusters *c);

#endif
