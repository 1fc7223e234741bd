/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/lime.h"

#include <math.h>
#include <string.h>

#include "analysis/stat/correlation.h"
#include "analysis/stat/regression.h"
#include "base/mem.h"

static const char *const answers[] = {
	[LIME_FOUND] = "causes were found",
	[LIME_ONE_THREAD] = "one thread cannot be late for itself",
	[LIME_BALANCED] = "the threads are balanced",
	[LIME_FEW_THREADS] =
		"two threads differ in everything that is uneven; with three or more, causes "
		"can be told apart",
	[LIME_SAME_COUNTS] =
		"every event happened equally often in all threads: the cause is none of "
		"them",
	[LIME_UNRELATED] = "no event's count follows the threads' times better than chance would",
};

const char *lime_answer_text(enum lime_answer answer)
{
	return answers[answer];
}

/* Returns (longest - mean) / longest, or 0 if no thread took any time. */
static double imbalance_of(const double *times, size_t n_threads)
{
	double longest = 0, sum = 0;

	for (size_t i = 0; i < n_threads; i++) {
		longest = fmax(longest, times[i]);
		sum += times[i];
	}
	return longest > 0 ? 1 - sum / ((double)n_threads * longest) : 0;
}

/* ---- 3.1: hardware events without their superiors' part ---- */

static void drop_superiors(const struct lime_instance *in, double *counts, uint32_t event)
{
	size_t n = in->n_threads;
	double rest[n], *own = counts + event * n;

	for (uint32_t s = in->events[event].superior; s != LIME_NONE; s = in->events[s].superior) {
		correlation_without(own, counts + s * n, n, rest);
		memcpy(own, rest, n * sizeof(*own));
	}
}

static uint32_t depth_of(const struct lime_instance *in, uint32_t event)
{
	uint32_t depth = 0;

	while ((event = in->events[event].superior) != LIME_NONE)
		depth++;
	return depth;
}

/* Returns the counts less their superiors' part, freed by the caller. Superiors come first, so that
 * a superior's own counts are subtracted and nothing is subtracted twice. */
static double *own_counts(const struct lime_instance *in)
{
	size_t n = in->n_threads, size = in->n_events * n;
	double *counts = xmalloc((size + 1) * sizeof(*counts));
	uint32_t deepest = 0;

	if (size)
		memcpy(counts, in->counts, size * sizeof(*counts));
	for (uint32_t depth = 1; depth <= deepest + 1; depth++)
		for (uint32_t i = 0; i < in->n_events; i++)
			if (depth_of(in, i) == depth) {
				drop_superiors(in, counts, i);
				deepest = depth;
			}
	for (uint32_t i = 0; i < in->n_events; i++)
		if (in->events[i].kind == LIME_EXECUTIONS)
			memset(counts + i * n, 0, n * sizeof(*counts));
	return counts;
}

/* ---- 3.4: leaders ---- */

/* The edges between one node and one cluster. */
struct door {
	bool entered; /* an incoming edge is in the cluster; back edges do not count */
	double in;    /* largest correlation of an incoming edge that is no back edge, in the
		       * cluster or not */
	double out, out_back;
	uint32_t edge, edge_back; /* outgoing edges in the cluster, LIME_NONE: none */
};

static void add_edge(struct door *doors, const struct lime_event *e, uint32_t event, bool member,
		     double r)
{
	struct door *from = &doors[e->edge.from], *to = &doors[e->edge.to];
	double *out = e->edge.back ? &from->out_back : &from->out;
	uint32_t *edge = e->edge.back ? &from->edge_back : &from->edge;

	if (!e->edge.back) {
		to->entered |= member;
		to->in = isnan(to->in) ? r : fmax(to->in, r);
	}
	if (member && (*edge == LIME_NONE || r > *out)) {
		*out = r;
		*edge = event;
	}
}

static void add_leader(struct lime_causes *causes, const struct door *d, uint32_t node,
		       uint32_t cluster, double beta)
{
	bool forward = d->edge != LIME_NONE;
	double leader = (forward ? d->out : d->out_back) - (isnan(d->in) ? 0 : d->in);

	*vec_add(causes) = (struct lime_cause){
		.node = node,
		.decider = node,
		.event = forward ? d->edge : d->edge_back,
		.cluster = cluster,
		.leader = leader,
		.beta = beta,
		.score = beta * leader,
	};
}

/* Compilers test a loop's condition at its end: the leader is where the body begins, but the branch
 * that decides is the one that goes back to the leader or leaves the cluster. */
static void find_decider(const struct lime_event *events, uint32_t n, const uint32_t *cluster_of,
			 struct lime_cause *cause)
{
	bool leaves = false;
	uint32_t back = LIME_NONE;

	for (uint32_t i = 0; i < n; i++)
		leaves |= events[i].kind == LIME_EDGE && events[i].edge.from == cause->node &&
			  cluster_of[i] != cause->cluster;
	for (uint32_t i = 0; i < n && !leaves && back == LIME_NONE; i++) {
		const struct cfg_edge *e = &events[i].edge;

		if (events[i].kind != LIME_EDGE || !e->back || e->to != cause->node ||
		    cluster_of[i] != cause->cluster)
			continue;
		for (uint32_t j = 0; j < n; j++)
			if (events[j].kind == LIME_EDGE && events[j].edge.from == e->from &&
			    cluster_of[j] != cause->cluster)
				back = i;
	}
	if (back != LIME_NONE) {
		cause->event = back;
		cause->decider = events[back].edge.from;
	}
}

void lime_leaders(const struct lime_event *events, uint32_t n_events, const uint32_t *cluster_of,
		  const double *r, uint32_t cluster, double beta, struct lime_causes *causes)
{
	size_t before = causes->n;
	uint32_t n_nodes = 0;
	struct door *doors;

	for (uint32_t i = 0; i < n_events; i++)
		if (events[i].kind == LIME_EDGE) {
			const struct cfg_edge *e = &events[i].edge;
			uint32_t last = e->from > e->to ? e->from : e->to;

			n_nodes = last >= n_nodes ? last + 1 : n_nodes;
		}
	doors = xmalloc((n_nodes + 1) * sizeof(*doors));
	for (uint32_t v = 0; v < n_nodes; v++)
		doors[v] = (struct door){ .in = NAN, .edge = LIME_NONE, .edge_back = LIME_NONE };
	for (uint32_t i = 0; i < n_events; i++)
		if (events[i].kind == LIME_EDGE)
			add_edge(doors, &events[i], i, cluster_of[i] == cluster,
				 isnan(r[i]) ? 0 : r[i]);
	for (uint32_t v = 0; v < n_nodes; v++)
		if (!doors[v].entered &&
		    (doors[v].edge != LIME_NONE || doors[v].edge_back != LIME_NONE))
			add_leader(causes, &doors[v], v, cluster, beta);
	free(doors);
	for (; before < causes->n; before++)
		find_decider(events, n_events, cluster_of, &causes->data[before]);
}

/* ---- 3.5: clusters to scores ---- */

/* Returns the average z-scores of each cluster's events, a row for each cluster. */
static double *cluster_rows(const struct lime *l, const struct lime_instance *in,
			    const double *counts)
{
	size_t n = in->n_threads;
	double *rows = xcalloc(l->clusters.n * n + 1, sizeof(*rows)), z[n];
	uint32_t *members = xcalloc(l->clusters.n + 1, sizeof(*members));

	for (uint32_t i = 0; i < in->n_events; i++) {
		uint32_t c = l->clusters.of[i];

		if (c == CLUSTER_NONE)
			continue;
		correlation_zscores(counts + i * n, n, z);
		for (size_t t = 0; t < n; t++)
			rows[c * n + t] += z[t];
		members[c]++;
	}
	for (uint32_t c = 0; c < l->clusters.n; c++)
		for (size_t t = 0; t < n; t++)
			rows[c * n + t] /= members[c];
	free(members);
	return rows;
}

static double spread_of(const double *counts, size_t n)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t t = 0; t < n; t++) {
		least = fmin(least, counts[t]);
		most = fmax(most, counts[t]);
	}
	return most - least;
}

static void score_cluster(struct lime *l, const struct lime_instance *in, const double *counts,
			  const double *r, const struct regression_term *term)
{
	const struct lime_event *events = in->events;
	size_t before = l->causes.n;

	lime_leaders(events, in->n_events, l->clusters.of, r, term->column, term->beta, &l->causes);
	if (l->causes.n > before)
		return;
	for (uint32_t i = 0; i < in->n_events; i++)
		if (l->clusters.of[i] == term->column && events[i].kind == LIME_HARDWARE)
			*vec_add(&l->causes) = (struct lime_cause){
				.node = events[i].edge.from,
				.decider = events[i].edge.from,
				.event = i,
				.cluster = term->column,
				.leader = NAN,
				.beta = term->beta,
				.score = term->beta,
				.spread = spread_of(counts + i * in->n_threads, in->n_threads),
			};
}

static int by_score(const void *a, const void *b)
{
	const struct lime_cause *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->spread != y->spread)
		return x->spread < y->spread ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static enum lime_answer explain(struct lime *l, const struct lime_instance *in,
				const double *counts)
{
	size_t n = in->n_threads;
	double *rows = cluster_rows(l, in, counts);
	double *r = xmalloc((in->n_events + 1) * sizeof(*r));
	struct regression g;

	for (uint32_t i = 0; i < in->n_events; i++)
		r[i] = correlation(counts + i * n, in->times, n);
	regression_select(&g, rows, l->clusters.n, in->times, n, REGRESSION_LEVEL, LIME_OWN);
	l->r2 = g.r2;
	vec_for_each (&g.terms, const struct regression_term, term)
		score_cluster(l, in, counts, r, term);
	vec_sort(&l->causes, by_score);
	regression_release(&g);
	free(rows);
	free(r);
	return l->causes.n ? LIME_FOUND : LIME_UNRELATED;
}

void lime_analyse(struct lime *l, const struct lime_instance *in, const struct lime_options *o)
{
	double *counts;

	*l = (struct lime){ .imbalance = imbalance_of(in->times, in->n_threads) };
	if (in->n_threads < 2) {
		l->answer = LIME_ONE_THREAD;
	} else if (l->imbalance <= 0 || l->imbalance < o->min_idle) {
		l->answer = LIME_BALANCED;
	} else if (in->n_threads < LIME_THREADS) {
		l->answer = LIME_FEW_THREADS;
	} else {
		counts = own_counts(in);
		clusters_build(&l->clusters, counts, in->n_events, in->n_threads, &o->cluster);
		l->answer = l->clusters.n ? explain(l, in, counts) : LIME_SAME_COUNTS;
		free(counts);
	}
}

void lime_release(struct lime *l)
{
	clusters_release(&l->clusters);
	vec_release(&l->causes);
	*l = (struct lime){ 0 };
}

/* ---- 3.6: over instances ---- */

/* Returns the cause of the same node and kind (and event, if it is of hardware), or NULL. */
static struct lime_cause *same_cause(struct lime_cause *causes, size_t n,
				     const struct lime_cause *of)
{
	for (size_t i = 0; i < n; i++)
		if (causes[i].node == of->node && isnan(causes[i].leader) == isnan(of->leader) &&
		    (!isnan(of->leader) || causes[i].event == of->event))
			return &causes[i];
	return NULL;
}

void lime_total_add(struct lime_total *t, const struct lime *l)
{
	t->weight += l->imbalance;
	/* The largest score first: a node that leads several clusters counts once. */
	for (size_t i = 0; i < l->causes.n; i++) {
		const struct lime_cause *c = &l->causes.data[i];
		struct lime_cause *sum;

		if (same_cause(l->causes.data, i, c))
			continue;
		sum = same_cause(t->causes.data, t->causes.n, c);
		if (!sum) {
			sum = vec_add(&t->causes);
			*sum = *c;
			sum->score = sum->beta = sum->spread = 0;
			sum->leader = isnan(c->leader) ? NAN : 0;
		}
		sum->score += l->imbalance * c->score;
		sum->beta += l->imbalance * c->beta;
		sum->spread += c->spread;
		sum->leader += l->imbalance * c->leader;
	}
}

void lime_total_finish(struct lime_total *t)
{
	vec_for_each (&t->causes, struct lime_cause, c) {
		c->score /= t->weight;
		c->beta /= t->weight;
		c->leader /= t->weight;
	}
	vec_sort(&t->causes, by_score);
}

void lime_total_release(struct lime_total *t)
{
	vec_release(&t->causes);
	*t = (struct lime_total){ 0 };
}
