/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/outlier/cause.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/outlier/outlier.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define RARE	   0.5 /* share of typical executions: what fewer of them do is a slow path */
#define FAULTS_MIN 4   /* fewer additional page faults are no cause */

static double typical_mean(const struct outlier_block *b, double sum)
{
	return b->typical.n ? sum / (double)b->typical.n : 0;
}

static double preempted(const struct outliers *o, const struct outlier_block *b,
			const struct outlier *x, const char **kind, struct text *evidence)
{
	char time[TEXT_NUMBER];

	(void)o;
	*kind = "cpu-wait";
	text_printf(evidence, "waiting for a CPU for %s", text_time(time, x->off.preempted_ns));
	return (double)x->off.preempted_ns - typical_mean(b, (double)b->typical.off.preempted_ns);
}

static double paused(const struct outliers *o, const struct outlier_block *b,
		     const struct outlier *x, const char **kind, struct text *evidence)
{
	bool safepoint = 2 * x->safepoint_ns > x->paused_ns;
	char time[TEXT_NUMBER];

	(void)o, (void)b;
	*kind = safepoint ? "safepoint" : "pause";
	text_printf(evidence, "the %s had all threads stopped for %s of it",
		    safepoint ? "Java machine" : "garbage collector",
		    text_time(time, x->paused_ns));
	return (double)x->paused_ns;
}

/* The kind of sleep that took the most time. */
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

static double monitors(const struct outliers *o, const struct outlier_block *b,
		       const struct outlier *x, const char **kind, struct text *evidence)
{
	char time[TEXT_NUMBER];

	(void)o, (void)b;
	*kind = "lock";
	text_printf(evidence, "its calls waited for monitors that other threads held for %s",
		    text_time(time, x->monitors_ns));
	return (double)x->monitors_ns;
}

static const struct outlier_usual *usual_of(const struct outlier_block *b, const struct outlier *x,
					    const struct outlier_callee *c)
{
	static const struct outlier_usual none;
	const struct outlier_usual *u = outlier_usual_of(b, x, (uint32_t)(c - x->callees));

	return u ? u : &none;
}

/* Returns the share of typical executions that call this callee. */
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
		const struct outlier_usual *u = usual_of(b, x, &x->callees[i]);
		double more = (double)x->callees[i].ns - typical_mean(b, (double)u->ns);

		if (x->callees[i].parent == OUTLIER_TOP && more > *more_ns) {
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
	const struct outlier_usual *u = c ? usual_of(b, x, c) : NULL;
	char time[TEXT_NUMBER], usually[TEXT_NUMBER], calls[TEXT_COUNTED];
	const char *name = c ? o->meta->functions.data[c->id].name : "";

	if (!c)
		return 0;
	text_time(time, c->ns);
	text_counted(calls, c->calls, "call");
	/* brief executions left no records, so what typical executions call is not known */
	if (b->brief) {
		*kind = "callee";
		text_printf(evidence, "%s of %s took %s", calls, name, time);
		return more;
	}
	if (usual_share(b, u) < RARE) {
		*kind = "slow-path";
		text_printf(evidence, "%s of %s took %s; ", calls, name, time);
		if (u->executions)
			text_printf(evidence, "%.2g%% of typical calls reach it",
				    100 * usual_share(b, u));
		else
			text_add(evidence, "typical calls do not reach it");
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
	return x->counted & 1u << OUTLIER_FAULTS ? (double)x->counts[OUTLIER_FAULTS] -
							   outlier_typical_count(b, OUTLIER_FAULTS)
						 : 0;
}

/* The time that page faults took is not known, so their number is the evidence. */
static double faulted(const struct outliers *o, const struct outlier_block *b,
		      const struct outlier *x, const char **kind, struct text *evidence)
{
	char faults[TEXT_COUNTED];

	(void)o;
	if (more_faults(b, x) < FAULTS_MIN ||
	    more_faults(b, x) < OUTLIER_TIMES_MORE * outlier_typical_count(b, OUTLIER_FAULTS))
		return 0;
	*kind = "page-fault";
	text_printf(evidence, "%s, typically %.2g",
		    text_counted(faults, x->counts[OUTLIER_FAULTS], "page fault"),
		    outlier_typical_count(b, OUTLIER_FAULTS));
	return x->residual_ns;
}

static bool known_shape(const struct outlier_block *b, uint64_t shape)
{
	for (uint32_t i = 1; i <= b->typical.shapes.n; i++)
		if (b->typical.shapes.rows[i].hash == shape)
			return true;
	return b->typical.shapes.rows[0].calls || !b->typical.n;
}

static double other_path(const struct outliers *o, const struct outlier_block *b,
			 const struct outlier *x, const char **kind, struct text *evidence)
{
	(void)o;
	if (b->kind == BLOCK_LOCK || known_shape(b, x->shape))
		return 0;
	*kind = "slow-path";
	text_add(evidence, "no typical call has these callees in this order");
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

/* Says how long the call ran. Time off the CPU that no one cause explains is no reason to blame the
 * input or the machine, unless it is the smaller part. */
static void ran(const struct outlier_block *b, const struct outlier *x, struct text *evidence)
{
	const uint64_t off_ns = offcpu_ns(&x->off);
	const double more_ns = (double)off_ns - typical_mean(b, (double)offcpu_ns(&b->typical.off));
	uint64_t ran_ns = x->duration_ns > off_ns ? x->duration_ns - off_ns : 0;
	char time[TEXT_NUMBER];

	if (off_ns < x->duration_ns / OUTLIER_FELT_PART || !off_ns)
		text_add(evidence, "it ran on a CPU all the time");
	else
		text_printf(evidence, "it ran on a CPU for %s", text_time(time, ran_ns));
	text_add(evidence,
		 more_ns < OUTLIER_EXPLAINS * x->residual_ns
			 ? ": its input or the machine made it slow"
			 : ", and no one cause explains half of the time above the trend");
}

static double running(const struct outliers *o, const struct outlier_block *b,
		      const struct outlier *x, const char **kind, struct text *evidence)
{
	*kind = "unknown";
	if (o->calls.threads.have_switch)
		ran(b, x, evidence);
	else
		text_add(evidence, "nothing recorded says why");
	return x->residual_ns;
}

/* Tried in this order until one explains enough. The last one always does. */
static double (*const reasons[])(const struct outliers *o, const struct outlier_block *b,
				 const struct outlier *x, const char **kind,
				 struct text *evidence) = {
	paused, preempted, monitors, slept, called, faulted, other_path, first, running,
};

static void explain(const struct outliers *o, const struct outlier_block *b, struct outlier *x)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !x->cause; i++) {
		struct text evidence = { 0 };
		const char *kind = NULL;
		double ns = reasons[i](o, b, x, &kind, &evidence);

		if (kind && ns > 0 && ns >= OUTLIER_EXPLAINS * x->residual_ns) {
			x->cause = kind;
			x->evidence = text_printable_new(evidence.s ? evidence.s : "");
		}
		text_release(&evidence);
	}
}

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
}
