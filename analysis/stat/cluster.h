/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events whose counts go together over the threads: hierarchical clustering with average linkage
 * (UPGMA) on Pearson's r, the LIME paper's section 3.2 with the bulk merging of its section 5.6.
 *
 * With counts scaled to mean 0 and length 1 the r of two events is the product of their vectors, so
 * the average r between all events of two clusters is the product of the clusters' mean vectors:
 * no matrix of distances is kept. Merges are found by chains of nearest neighbours, each up to
 * the pair that are each other's nearest, which gives the same tree as always merging the two
 * closest; a cluster without a neighbour above the threshold is finished and leaves. Time grows
 * with events² × threads at worst, memory with events × threads.
 */
#ifndef ISPOT_ANALYSIS_STAT_CLUSTER_H
#define ISPOT_ANALYSIS_STAT_CLUSTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define CLUSTER_NONE	  UINT32_MAX
#define CLUSTER_THRESHOLD 0.9  /* the paper's: merging ends where the largest r is smaller */
#define CLUSTER_BULK	  0.99 /* the paper's: events so alike are one from the start */

struct cluster_options {
	double threshold; /* -1: down to one cluster */
	double bulk;	  /* each event joins the first one that is so alike; above 1: none does */
};

struct cluster_merge {
	double r;   /* average over the pairs of the two clusters */
	uint32_t n; /* events of both */
};

struct clusters {
	uint32_t n;   /* clusters, counted from 0 in the order of their first events */
	uint32_t *of; /* [event]; CLUSTER_NONE: its count is the same in every thread */
	struct {
		VEC(struct cluster_merge)
	} merges; /* the largest r first; those of the bulk are not in it */
};

/* counts[event * n_threads + thread] */
void clusters_build(struct clusters *c, const double *counts, uint32_t n_events, size_t n_threads,
		    const struct cluster_options *o);
void clusters_release(struct clusters *c);

#endif
