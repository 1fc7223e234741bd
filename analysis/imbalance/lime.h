/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why some threads of a parallel section arrive late: the analysis of Oh, Hughes, Venkataramani
 * and Prvulovic, "LIME: a framework for debugging load imbalance in multi-threaded execution",
 * ICSE 2011, section 3. From each thread's time in the section and its counts of events:
 *
 *	hardware events lose the part that follows their superior event (3.1),
 *	events that go together over the threads form clusters (3.2, cluster.h),
 *	a cluster with edges has leaders: where control flow turns into it (3.4),
 *	forward selection finds the clusters that explain the times, and how much (3.5),
 *	a leader's score is its own times its cluster's coefficient; of a cluster without edges
 *	each hardware event has the coefficient (3.5),
 *	scores of a section's instances are averaged, weighted by their imbalance (3.6).
 *
 * An edge belongs to a cluster, so does the branch it leaves. A leader of a cluster is a branch
 * with an outgoing edge in it and no incoming one, back edges aside (figure 4: the same branch may
 * lead two clusters by different edges). An outgoing back edge counts only where the branch has
 * no other outgoing edge in the cluster: the branch that ends a loop decides whether to go on.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_LIME_H
#define ISPOT_ANALYSIS_IMBALANCE_LIME_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/stat/cfg.h"
#include "analysis/stat/cluster.h"
#include "base/vec.h"

#define LIME_NONE      UINT32_MAX
#define LIME_BALANCE   0.02 /* threads that idle for less are not late; the paper has no bound */
#define LIME_THREADS   3    /* fewer fit any line */
#define LIME_IMPORTANT 0.1  /* the paper's: smaller scores are not worth a look */
#define LIME_OWN                                                                      \
	0.1 /* of a cluster's variation; with less it is redundant beside the others, \
	       and coefficients would grow without bound against each other */

struct lime_options {
	struct cluster_options cluster;
	double min_idle; /* share of an instance; where threads idle for less no cause is looked
			    for */
};

#define LIME_DEFAULTS                                             \
	{                                                         \
		{ CLUSTER_THRESHOLD, CLUSTER_BULK }, LIME_BALANCE \
	}

enum lime_kind {
	LIME_EDGE,	 /* control flow took it */
	LIME_HARDWARE,	 /* happened at an instruction */
	LIME_EXECUTIONS, /* of an instruction: only as superior of hardware events */
};

struct lime_event {
	enum lime_kind kind;
	struct cfg_edge edge; /* an edge; others: from is the node where it happened */
	uint32_t superior;    /* event without which it cannot happen; LIME_NONE: none. They do not
				 form a ring */
};

/* One dynamic instance of a parallel section. */
struct lime_instance {
	uint32_t n_events, n_threads;
	const struct lime_event *events;
	const double *counts; /* [event * n_threads + thread] */
	const double *times;  /* [thread], of one unit */
};

enum lime_answer {
	LIME_FOUND,
	LIME_ONE_THREAD,
	LIME_BALANCED, /* they idle for less than the least */
	LIME_FEW_THREADS,
	LIME_SAME_COUNTS, /* every event's count is the same in all threads */
	LIME_UNRELATED,	  /* no cluster explains the times better than chance */
};

struct lime_cause {
	uint32_t node;	  /* the leader, or where the hardware event happened */
	uint32_t decider; /* node; of a leader that a loop enters whose end decides to go round
			     again: that branch, and event is its back edge */
	uint32_t event; /* of its edges in the cluster the one nearest to the times; or the event */
	uint32_t cluster;
	double leader; /* score of a leader, equation 1; NAN: a hardware event */
	double beta;   /* its cluster's standardised coefficient */
	double score;  /* equation 2; or beta */
	double spread; /* of a hardware event's own counts over the threads; 0 of a leader */
};

struct lime_causes {
	VEC(struct lime_cause)
};

struct lime {
	enum lime_answer answer;
	double imbalance; /* average share of the section that threads idle at its end, 0..1 */
	double r2;	  /* share of the variance of times that the clusters explain */
	struct clusters clusters;
	struct lime_causes causes; /* the largest score first; all events of a hardware cluster have
				      one, so of these what the threads differ in most */
};

/* A sentence without full stop, for any answer. */
const char *lime_answer_text(enum lime_answer answer);

void lime_analyse(struct lime *l, const struct lime_instance *in, const struct lime_options *o);
void lime_release(struct lime *l);

/*
 * The leaders of one cluster, appended. cluster_of[event], r[event]: correlation with the times,
 * NAN where the count is constant, which is none.
 */
void lime_leaders(const struct lime_event *events, uint32_t n_events, const uint32_t *cluster_of,
		  const double *r, uint32_t cluster, double beta, struct lime_causes *causes);

/* Over instances of a section: each adds its causes; a node's largest score of an instance. */
struct lime_total {
	double weight;		   /* sum of the instances' imbalances */
	struct lime_causes causes; /* score and beta weighted, not yet divided */
};
void lime_total_add(struct lime_total *t, const struct lime *l);
/* Divides and sorts, once. */
void lime_total_finish(struct lime_total *t);
void lime_total_release(struct lime_total *t);

#endif
