/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why some threads of a parallel section arrive late: the analysis of Oh, Hughes, Venkataramani and
 * Prvulovic, "LIME: a framework for debugging load imbalance in multi-threaded execution", ICSE
 * 2011, section 3. The input is each thread's time in the section and its counts of events:
 *
 *	hardware events lose the part that follows their superior event (3.1),
 *	events whose counts correlate over the threads form clusters (3.2, cluster.h),
 *	a cluster with edges has leaders: where control flow turns into it (3.4),
 *	forward selection finds the clusters that explain the times, and their coefficients (3.5),
 *	a leader's score is that of equation 1 times its cluster's coefficient; in a cluster
 *	without edges, each hardware event has the coefficient as its score (3.5),
 *	scores of a section's instances are averaged, weighted by their imbalance (3.6).
 *
 * An edge, and the branch that it leaves, belong to the cluster. A leader of a cluster is a branch
 * with an outgoing edge in the cluster and no incoming one; incoming back edges do not count
 * (figure 4: the same branch may lead two clusters by different edges). An outgoing back edge
 * counts only if the branch has no other outgoing edge in the cluster: the branch that ends a loop
 * decides whether to go on.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_LIME_H
#define ISPOT_ANALYSIS_IMBALANCE_LIME_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/stat/cfg.h"
#include "analysis/stat/cluster.h"
#include "base/vec.h"

#define LIME_NONE      UINT32_MAX
#define LIME_BALANCE   0.02 /* threads that idle for less are balanced; the paper has no bound */
#define LIME_THREADS   3    /* any line fits fewer threads */
#define LIME_IMPORTANT 0.1  /* the paper's bound: smaller scores are not important */
/*
 * Least share of a cluster's variation that no other selected cluster has. With less, the cluster
 * is redundant, and the coefficients would grow without bound against each other.
 */
#define LIME_OWN 0.1

struct lime_options {
	struct cluster_options cluster;
	double min_idle; /* share of an instance that threads must idle for causes to be looked
			  * for */
};

#define LIME_DEFAULTS                                             \
	{                                                         \
		{ CLUSTER_THRESHOLD, CLUSTER_BULK }, LIME_BALANCE \
	}

enum lime_kind {
	LIME_EDGE,	 /* control flow took this edge */
	LIME_HARDWARE,	 /* a hardware event that happened at an instruction */
	LIME_EXECUTIONS, /* executions of an instruction; only a superior of hardware events */
};

struct lime_event {
	enum lime_kind kind;
	struct cfg_edge edge; /* the edge; of other kinds, from is the node where the event
			       * happened */
	uint32_t superior;    /* event without which this one cannot happen; LIME_NONE: none.
			       * Superiors do not form a cycle */
};

/* One dynamic instance of a parallel section. */
struct lime_instance {
	uint32_t n_events, n_threads;
	const struct lime_event *events;
	const double *counts; /* [event * n_threads + thread] */
	const double *times;  /* [thread]; all in the same unit */
};

enum lime_answer {
	LIME_FOUND,
	LIME_ONE_THREAD,
	LIME_BALANCED, /* threads idle for less than min_idle */
	LIME_FEW_THREADS,
	LIME_SAME_COUNTS, /* every event's count is the same in all threads */
	LIME_UNRELATED,	  /* no cluster explains the times better than chance */
};

struct lime_cause {
	uint32_t node;	  /* the leader, or where the hardware event happened */
	uint32_t decider; /* the branch that decides: node, or if node is the begin of a loop's
			   * body, the branch at the loop's end; event is then the back edge */
	uint32_t event;	  /* the leader's edge in the cluster that correlates most with the times;
			   * or the hardware event */
	uint32_t cluster;
	double leader; /* score of a leader, equation 1; NAN: a hardware event */
	double beta;   /* the standardised coefficient of its cluster */
	double score;  /* equation 2; of a hardware event beta */
	double spread; /* range of a hardware event's own counts over the threads; 0 of a leader */
};

struct lime_causes {
	VEC(struct lime_cause)
};

struct lime {
	enum lime_answer answer;
	double imbalance; /* average share of the section that threads idle at its end, 0..1 */
	double r2;	  /* share of the variance of times that the clusters explain */
	struct clusters clusters;
	struct lime_causes causes; /* the largest score first. All events of a hardware cluster
				    * have the same score; of these, the event with the largest
				    * spread comes first */
};

/* Returns a sentence without full stop for the answer. */
const char *lime_answer_text(enum lime_answer answer);

void lime_analyse(struct lime *l, const struct lime_instance *in, const struct lime_options *o);
void lime_release(struct lime *l);

/* Appends the leaders of one cluster. cluster_of[event]: the event's cluster; r[event]: its
 * correlation with the times; NAN if its count is constant, which counts as no correlation. */
void lime_leaders(const struct lime_event *events, uint32_t n_events, const uint32_t *cluster_of,
		  const double *r, uint32_t cluster, double beta, struct lime_causes *causes);

/* Sums the causes over the instances of a section. If a node has several causes in an instance,
 * only the one with the largest score counts. */
struct lime_total {
	double weight;		   /* sum of the instances' imbalances */
	struct lime_causes causes; /* score, beta and leader are weighted sums until
				    * lime_total_finish() divides them */
};
void lime_total_add(struct lime_total *t, const struct lime *l);
/* Divides the sums by the weight and sorts the causes. Called once, after the last instance. */
void lime_total_finish(struct lime_total *t);
void lime_total_release(struct lime_total *t);

#endif
