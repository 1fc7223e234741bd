/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why executions diverge. Of one: the first row whose time explains half of what is above the line,
 * else what it did that typical ones did not. Of a block: the paper's behaviours, each a row with
 * the evidence. No row reads names.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/outlier.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta.h"

#define EXPLAINS   0.5 /* of the residual: enough to be its cause */
#define RARE	   0.5 /* of typical executions: what fewer do is another path */
#define FAULTS_MIN 4   /* page faults more than typical that are worth a word */
#define TIMES_MORE 2

static double typical_mean(const struct outlier_block *b, double sum)
{
	return b->typical.n ? sum / (double)b->typical.n : 0;
}

static double typical_count(const struct outlier_block *b, unsigned i)
{
	return b->typical.counted[i] ? b->typical.counts[i] / (double)b->typical.counted[i] : 0;
}

/* ---- one execution ---- */

static double preempted(const struct outliers *o, const struct outlier_block *b,
			const struct outlier *x, const char **kind, struct text *evidence)
{
	char time[TEXT_NUMBER];

	(void)o;
	*kind = "cpu-wait";
	text_printf(evidence, "ready to run without a CPU for %s",
		    text_time(time, x->off.preempted_ns));
	return (double)x->off.preempted_ns - typical_mean(b, (double)b->typical.off.preempted_ns);
}

/* The kind of sleep that took most. */
static double slept(const struct outliers *o, const struct outlier_block *b,
		    const struct outlier *x, const char **kind, struct text *evidence)
{
	struct wait_cause most = { 0 };
	uint64_t most_ns = 0;
	char time[TEXT_NUMBER];

	(void)b;
	for (size_t i = 0; x->waits && i < x->waits->n; i++) {
		struct wait_cause cause = wait_cause_of(&o->calls.threads, &x->waits->data[i]);
		uint64_t ns = wait_part(&o->calls.threads, x->waits, cause.kind).ns;

		if (ns <= most_ns)
			continue;
		most_ns = ns;
		most = cause;
	}
	if (!most_ns)
		return 0;
	*kind = most.kind;
	text_printf(evidence, "%s for %s", most.fact, text_time(time, most_ns));
	return (double)most_ns;
}

static const struct outlier_usual *usual_of(const struct outlier_block *b, uint32_t id)
{
	static const struct outlier_usual none;

	vec_for_each (&b->typical.callees, const struct outlier_usual, u)
		if (u->id == id)
			return u;
	return &none;
}

/* The share of typical executions that call it. */
static double usual_share(const struct outlier_block *b, const struct outlier_usual *u)
{
	return typical_mean(b, (double)u->executions);
}

static const struct outlier_callee *worst_callee(const struct outlier_block *b,
						 const struct outlier *x, double *more_ns)
{
	const struct outlier_callee *worst = NULL;

	*more_ns = 0;
	for (uint32_t i = 0; i < x->n_callees; i++) {
		const struct outlier_usual *u = usual_of(b, x->callees[i].id);
		double more = (double)x->callees[i].ns - typical_mean(b, (double)u->ns);

		if (more > *more_ns) {
			*more_ns = more;
			worst = &x->callees[i];
		}
	}
	return worst;
}

static double called(const struct outliers *o, const struct outlier_block *b,
		     const struct outlier *x, const char **kind, struct text *evidence)
{
	double more;
	const struct outlier_callee *c = worst_callee(b, x, &more);
	const struct outlier_usual *u = c ? usual_of(b, c->id) : NULL;
	char time[TEXT_NUMBER], usually[TEXT_NUMBER], calls[TEXT_COUNTED];
	const char *name = c ? o->meta->functions.data[c->id].name : "";

	if (!c)
		return 0;
	text_time(time, c->ns);
	text_counted(calls, c->calls, "call");
	/* what those did that left no records is not known */
	if (b->brief) {
		*kind = "callee";
		text_printf(evidence, "%s of %s took %s", calls, name, time);
		return more;
	}
	if (usual_share(b, u) < RARE) {
		*kind = "slow-path";
		text_printf(evidence, "%s of %s took %s; ", calls, name, time);
		if (u->executions)
			text_printf(evidence, "%.2g %% of the typical executions call it",
				    100 * usual_share(b, u));
		else
			text_add(evidence, "typical executions do not call it");
		return more;
	}
	*kind = "callee";
	text_printf(evidence, "%s of %s took %s, typically %.2g and %s", calls, name, time,
		    typical_mean(b, (double)u->calls),
		    text_time(usually, (uint64_t)typical_mean(b, (double)u->ns)));
	return more;
}

static double more_faults(const struct outlier_block *b, const struct outlier *x)
{
	return x->counted & 1u << OUTLIER_FAULTS
		       ? (double)x->counts[OUTLIER_FAULTS] - typical_count(b, OUTLIER_FAULTS)
		       : 0;
}

/* How long they took is not known: that there were so many more is the evidence. */
static double faulted(const struct outliers *o, const struct outlier_block *b,
		      const struct outlier *x, const char **kind, struct text *evidence)
{
	char faults[TEXT_COUNTED];

	(void)o;
	if (more_faults(b, x) < FAULTS_MIN ||
	    more_faults(b, x) < TIMES_MORE * typical_count(b, OUTLIER_FAULTS))
		return 0;
	*kind = "page-fault";
	text_printf(evidence, "%s, typically %.2g",
		    text_counted(faults, x->counts[OUTLIER_FAULTS], "page fault"),
		    typical_count(b, OUTLIER_FAULTS));
	return x->residual_ns;
}

static bool known_shape(const struct outlier_block *b, uint64_t shape)
{
	for (uint32_t i = 0; i < b->typical.shapes.n; i++)
		if (b->typical.shapes.rows[i].hash == shape)
			return true;
	return b->typical.shapes.rest.calls || !b->typical.n;
}

static double other_path(const struct outliers *o, const struct outlier_block *b,
			 const struct outlier *x, const char **kind, struct text *evidence)
{
	(void)o;
	if (b->kind == BLOCK_LOCK || known_shape(b, x->shape))
		return 0;
	*kind = "slow-path";
	text_add(evidence, "it called what no typical execution calls, or in another order");
	return x->residual_ns;
}

static double first(const struct outliers *o, const struct outlier_block *b,
		    const struct outlier *x, const char **kind, struct text *evidence)
{
	(void)o, (void)b;
	if (x->index)
		return 0;
	*kind = "first-execution";
	text_add(evidence, "the first one: code and data were new to it");
	return x->residual_ns;
}

static double running(const struct outliers *o, const struct outlier_block *b,
		      const struct outlier *x, const char **kind, struct text *evidence)
{
	(void)b;
	*kind = "unknown";
	text_add(evidence,
		 o->calls.threads.have_switch
			 ? "on a CPU all the while, in its own code: its data, or the machine"
			 : "nothing recorded says why");
	return x->residual_ns;
}

/* In this order; the first that explains enough. The last one always does. */
static double (*const reasons[])(const struct outliers *o, const struct outlier_block *b,
				 const struct outlier *x, const char **kind,
				 struct text *evidence) = {
	preempted, slept, called, faulted, other_path, first, running,
};

static void explain(const struct outliers *o, const struct outlier_block *b, struct outlier *x)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !x->cause; i++) {
		struct text evidence = { 0 };
		const char *kind = NULL;
		double ns = reasons[i](o, b, x, &kind, &evidence);

		if (kind && ns > 0 && ns >= EXPLAINS * x->residual_ns) {
			x->cause = kind;
			x->evidence = text_printable_new(evidence.s ? evidence.s : "");
		}
		text_release(&evidence);
	}
}

/* ---- behaviours ---- */

/* What the executions with one of these causes are. */
static double share_of(const struct outlier_block *b, const char *const *kinds, uint64_t *n,
		       const struct outlier **longest)
{
	double sum = 0, all = 0;

	*n = 0;
	*longest = NULL;
	vec_for_each (&b->kept, const struct outlier, x) {
		all += x->residual_ns;
		for (const char *const *k = kinds; *k; k++) {
			if (strcmp(x->cause, *k))
				continue;
			sum += x->residual_ns;
			++*n;
			if (!*longest || x->residual_ns > (*longest)->residual_ns)
				*longest = x;
		}
	}
	return all > 0 ? sum / all : 0;
}

static double by_cause(const struct outlier_block *b, const char *const *kinds,
		       struct text *evidence)
{
	const struct outlier *longest;
	uint64_t n;
	double share = share_of(b, kinds, &n, &longest);

	if (n)
		text_printf(evidence, "%llu of %zu; the worst (%llu): %s", (unsigned long long)n,
			    b->kept.n, (unsigned long long)longest->index, longest->evidence);
	return n ? share : -1;
}

static double slow_path(const struct outliers *o, const struct outlier_block *b,
			struct text *evidence)
{
	static const char *const kinds[] = { "slow-path", "callee", NULL };

	(void)o;
	return by_cause(b, kinds, evidence);
}

/* Of a critical section also that others hold the lock when it is asked for: its long executions
 * are their waits. */
static double contention(const struct outliers *o, const struct outlier_block *b,
			 struct text *evidence)
{
	static const char *const kinds[] = { "lock", NULL };
	double share = by_cause(b, kinds, evidence);
	uint64_t contended = 0;

	(void)o;
	vec_for_each (&b->kept, const struct outlier, x)
		contended += x->contended;
	if (contended)
		text_printf(evidence, "%s%llu of %zu found the lock held by another thread",
			    evidence->n ? "; " : "", (unsigned long long)contended, b->kept.n);
	return share > 0 || !contended ? share : NAN;
}

/* It diverges by waiting or preemption. */
static bool is_held_up(const struct outlier *x)
{
	static const char *const own[] = { "slow-path",	      "callee",	 "page-fault",
					   "first-execution", "unknown", NULL };

	for (const char *const *k = own; *k; k++)
		if (!strcmp(x->cause, *k))
			return false;
	return true;
}

/* What of its time above the line was neither waiting nor preemption. */
static double own_part_ns(const struct outlier *x)
{
	double off = (double)offcpu_ns(&x->off);

	return x->residual_ns > off ? x->residual_ns - off : 0;
}

#define CHAIN_LEAST 3	 /* executions at growing distances */
#define CHAIN_OFF   0.12 /* a distance may be off by */
#define GROWTH_MIN  1.2
#define GROWTH_MAX  4.2

/* Executions by index, each so many times as far as the one before. own: that diverge by their own
 * doing; ns: of that. */
struct chain {
	uint64_t n, own, last, before;
	double growth, ns, most_ns;
};

static void lengthen(struct chain *c, const struct outlier_block *b, const struct outlier *x)
{
	double ns = own_part_ns(x);

	c->before = c->last;
	c->last = x->index;
	c->n++;
	c->own += ns > b->line.bound_ns;
	c->ns += ns;
	c->most_ns = ns > c->most_ns ? ns : c->most_ns;
}

static struct chain follow(const struct outlier_block *b, const struct outlier *x,
			   const struct outlier *y)
{
	const struct outlier *end = b->kept.data + b->kept.n;
	struct chain c = { .growth = (double)(y->index + 1) / (double)(x->index + 1) };

	if (c.growth < GROWTH_MIN || c.growth > GROWTH_MAX)
		return c;
	lengthen(&c, b, x);
	lengthen(&c, b, y);
	while (++y < end) {
		double expected = (double)(c.last + 1) * c.growth;

		if (fabs((double)(y->index + 1) - expected) <= CHAIN_OFF * expected)
			lengthen(&c, b, y);
	}
	return c;
}

/* Among many executions there always are some at such distances, and any few have one that took
 * much longer than the others: half of the time must be theirs, without the longest as well. */
static bool tells(const struct chain *c, double all_ns)
{
	return c->own >= CHAIN_LEAST && c->ns >= all_ns / 2 &&
	       c->ns - c->most_ns >= (all_ns - c->most_ns) / 2;
}

/* A structure that grows by a factor is made anew each time that it has so many times as many
 * elements. */
static double growing(const struct outliers *o, const struct outlier_block *b,
		      struct text *evidence)
{
	const struct outlier *end = b->kept.data + b->kept.n;
	struct chain best = { 0 };
	double all_ns = 0, own_ns = 0;

	(void)o;
	vec_for_each (&b->kept, const struct outlier, x) {
		all_ns += x->residual_ns;
		own_ns += x->index && !is_held_up(x) ? own_part_ns(x) : 0;
	}
	vec_for_each (&b->kept, const struct outlier, x)
		for (const struct outlier *y = x + 1; x->index && y < end; y++) {
			struct chain c = follow(b, x, y);

			if (c.ns > best.ns && tells(&c, own_ns))
				best = c;
		}
	if (!best.n)
		return -1;
	text_printf(evidence,
		    "%llu of %zu come each after %.2g times as many executions as the "
		    "one before (the last: %llu, %llu)",
		    (unsigned long long)best.n, b->kept.n, best.growth,
		    (unsigned long long)best.before, (unsigned long long)best.last);
	return best.ns / all_ns;
}

static double more_of(const struct outlier_block *b, unsigned count, double *mean)
{
	double sum = 0, n = 0;

	vec_for_each (&b->kept, const struct outlier, x)
		if (x->counted & 1u << count) {
			sum += (double)x->counts[count];
			n++;
		}
	*mean = n > 0 ? sum / n : 0;
	return *mean - typical_count(b, count);
}

static double locality(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence)
{
	double mean, more = more_of(b, OUTLIER_MISSES, &mean);

	if (!(o->counted & 1u << OUTLIER_MISSES) || more < 1 || mean < TIMES_MORE * (mean - more))
		return -1;
	text_printf(evidence, "%.3g cache misses in each, typically %.3g", mean, mean - more);
	return NAN;
}

static double allocation(const struct outliers *o, const struct outlier_block *b,
			 struct text *evidence)
{
	double mean, more = more_of(b, OUTLIER_FAULTS, &mean);

	if (!(o->counted & 1u << OUTLIER_FAULTS) || more < 1 || mean < TIMES_MORE * (mean - more))
		return -1;
	text_printf(evidence,
		    "memory that is new to the program: %.3g page faults in each, "
		    "typically %.2g",
		    mean, mean - more);
	return NAN;
}

static double input_output(const struct outliers *o, const struct outlier_block *b,
			   struct text *evidence)
{
	static const char *const kinds[] = { "disk-io", "network", "pipe", NULL };

	(void)o;
	return by_cause(b, kinds, evidence);
}

/* Cheaper than what the probes themselves take of it. */
static double accessor(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence)
{
	const struct paircost *cost = &calls_costs(&o->calls)[b->function->id];
	uint64_t p50 = hist_quantile(&b->durations, 0.5);
	char time[TEXT_NUMBER], probes[TEXT_NUMBER];

	if (b->kind != BLOCK_FUNCTION || !cost->known || !b->kept.n || p50 >= 2 * cost->inner_ns)
		return -1;
	text_printf(evidence,
		    "half of the executions take up to %s, of which the probes are %s: "
		    "caches and the machine decide",
		    text_time(time, p50), text_time(probes, cost->inner_ns));
	return NAN;
}

static double once(const struct outliers *o, const struct outlier_block *b, struct text *evidence)
{
	char time[TEXT_NUMBER];

	(void)o;
	if (b->begun + b->brief != 1)
		return -1;
	text_printf(evidence, "it took %s, and there is nothing to compare that with",
		    text_time(time, b->durations.max));
	return NAN;
}

static double no_cpu(const struct outliers *o, const struct outlier_block *b, struct text *evidence)
{
	static const char *const kinds[] = { "cpu-wait", NULL };

	(void)o;
	return by_cause(b, kinds, evidence);
}

static double at_first(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence)
{
	static const char *const kinds[] = { "first-execution", NULL };

	(void)o;
	return by_cause(b, kinds, evidence);
}

/* The paper's section 4.1, and two that it has among the threats to validity. Negative: it does
 * not apply. */
static const struct {
	char behaviour;
	const char *name;
	double (*find)(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence);
} rows[] = {
	{ 'A', "slow path", slow_path },       { 'B', "contention", contention },
	{ 'C', "growing structure", growing }, { 'D', "locality", locality },
	{ 'E', "allocation", allocation },     { 'F', "input/output", input_output },
	{ 'G', "cheap accessor", accessor },   { 'H', "executed once", once },
	{ 0, "preemption", no_cpu },	       { 0, "first execution", at_first },
};

static int by_index(const void *a, const void *b)
{
	const struct outlier *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

void outlier_explain(struct outliers *o, struct outlier_block *b)
{
	vec_sort(&b->kept, by_index);
	vec_for_each (&b->kept, struct outlier, x)
		explain(o, b, x);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text evidence = { 0 };
		double share = rows[i].find(o, b, &evidence);

		if (share < 0) {
			text_release(&evidence);
			continue;
		}
		*vec_add(&b->hints) = (struct outlier_hint){ .behaviour = rows[i].behaviour,
							     .name = rows[i].name,
							     .share = share,
							     .evidence = evidence.s };
	}
}
