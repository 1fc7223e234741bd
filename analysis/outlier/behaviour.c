/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/outlier/behaviour.h"

#include <math.h>
#include <string.h>

#include "analysis/outlier/outlier.h"
#include "base/text.h"

/* Returns the share of the outliers' residuals that have one of these causes. *n: number of these
 * outliers; *longest: the one furthest above the line. */
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

/*
 * Contention shows as waits for locks inside the executions. It also shows as locks that another
 * thread held when they were requested, because a critical section begins only after that wait.
 */
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

/* Whether the execution is an outlier because it waited or was preempted. */
static bool is_delayed(const struct outlier *x)
{
	static const char *const own[] = { "slow-path",	      "callee",	 "page-fault",
					   "first-execution", "unknown", NULL };

	for (const char *const *k = own; *k; k++)
		if (!strcmp(x->cause, *k))
			return false;
	return true;
}

/* Returns how much of the execution's time above the line was neither waiting nor preemption. */
static double own_part_ns(const struct outlier *x)
{
	double off = (double)(offcpu_ns(&x->off) + x->paused_ns + x->monitors_ns);

	return x->residual_ns > off ? x->residual_ns - off : 0;
}

#define CHAIN_LEAST 3	 /* least number of executions in a chain */
#define CHAIN_OFF   0.12 /* relative error that a distance may have */
#define CHANCE_MOST 0.3	 /* highest expected number of such chains by chance */
#define GROWTH_MIN  1.2
#define GROWTH_MAX  4.2

/* Executions whose indices grow by a constant factor. own: executions whose own time alone makes
 * them outliers; ns: sum of the executions' own time. ways, off: factors of chance(). */
struct chain {
	uint64_t n, own, last, before;
	double growth, ns, most_ns, least_ns, ways, off;
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
	c->least_ns = c->n == 1 || ns < c->least_ns ? ns : c->least_ns;
}

/* Returns the execution after x, near the expected index, that has the most time of its own, or
 * NULL. On a busy machine, some executions that are only slightly too long are always near. */
static const struct outlier *next_at(const struct outlier_block *b, const struct outlier *x,
				     double expected)
{
	const struct outlier *end = b->kept.data + b->kept.n, *next = NULL;

	while (++x < end && (double)(x->index + 1) <= (1 + CHAIN_OFF) * expected)
		if ((double)(x->index + 1) >= (1 - CHAIN_OFF) * expected &&
		    (!next || own_part_ns(x) > own_part_ns(next)))
			next = x;
	return next;
}

static double growth_of(const struct outlier *x, const struct outlier *y)
{
	return (double)(y->index + 1) / (double)(x->index + 1);
}

/* Adds an execution that is near the expected index. */
static void find_next(struct chain *c, const struct outlier_block *b, const struct outlier *x,
		      double expected)
{
	double off = fabs((double)(x->index + 1) - expected);

	off = (off > 0.5 ? off : 0.5) / expected;
	c->off = off > c->off ? off : c->off;
	c->ways *= 2 * expected / (double)b->begun;
	lengthen(c, b, x);
}

static struct chain follow(const struct outlier_block *b, const struct outlier *x,
			   const struct outlier *y)
{
	struct chain c = { .growth = growth_of(x, y), .ways = 1 };

	if (c.growth < GROWTH_MIN || c.growth > GROWTH_MAX)
		return c;
	lengthen(&c, b, x);
	lengthen(&c, b, y);
	for (;;) {
		double expected = (double)(y->index + 1) * c.growth;

		x = y;
		y = next_at(b, x, expected);
		if (!y)
			return c;
		find_next(&c, b, y, expected);
		c.growth = growth_of(x, y); /* later indices give a more exact factor */
	}
}

/*
 * Returns the expected number of chains as good as this one among as many executions at random
 * indices, counting those with at least as much own time as the chain's shortest. Any two begin a
 * chain; each further one must be as near to its expected index as those of this chain.
 */
static double chance(const struct chain *c, const struct outlier_block *b)
{
	double n = 0;

	vec_for_each (&b->kept, const struct outlier, x)
		n += x->index && !is_delayed(x) && own_part_ns(x) >= c->least_ns;
	return n * (n - 1) / 2 * c->ways * pow(n * c->off, (double)c->n - 2);
}

/*
 * Whether the chain is evidence. Among many executions, some are always at such distances, and in
 * any few executions one took much longer than the others. So the chain must have half of the own
 * time of all outliers, also when its longest execution is left out.
 */
static bool tells(const struct chain *c, const struct outlier_block *b, double own_ns)
{
	return c->own >= CHAIN_LEAST && c->ns >= own_ns / 2 &&
	       c->ns - c->most_ns >= (own_ns - c->most_ns) / 2 && chance(c, b) < CHANCE_MOST;
}

/* A structure that grows by a factor is reallocated each time the number of its elements has grown
 * by that factor, so the distances between these executions grow by it, too. */
static double growing(const struct outliers *o, const struct outlier_block *b,
		      struct text *evidence)
{
	const struct outlier *end = b->kept.data + b->kept.n;
	struct chain best = { 0 };
	double all_ns = 0, own_ns = 0; /* own: without the first execution, which is slow for
					* many reasons */

	(void)o;
	vec_for_each (&b->kept, const struct outlier, x) {
		all_ns += x->residual_ns;
		if (!x->index || is_delayed(x))
			continue;
		own_ns += own_part_ns(x);
	}
	vec_for_each (&b->kept, const struct outlier, x)
		for (const struct outlier *y = x + 1; x->index && y < end; y++) {
			struct chain c = follow(b, x, y);

			if (c.ns > best.ns && tells(&c, b, own_ns))
				best = c;
		}
	if (!best.n)
		return -1;
	text_printf(evidence,
		    "%llu of %zu come each after %.2g times as many calls as the one before "
		    "(the last: %llu, %llu)",
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
	return *mean - outlier_typical_count(b, count);
}

static double locality(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence)
{
	double mean, more = more_of(b, OUTLIER_MISSES, &mean);

	if (!(o->counted & 1u << OUTLIER_MISSES) || more < 1 ||
	    mean < OUTLIER_TIMES_MORE * (mean - more))
		return -1;
	text_printf(evidence, "%.3g cache misses in each, typically %.3g", mean, mean - more);
	return NAN;
}

static double allocation(const struct outliers *o, const struct outlier_block *b,
			 struct text *evidence)
{
	static const char *const kinds[] = { "pause", NULL };
	double mean, more = more_of(b, OUTLIER_FAULTS, &mean), share = by_cause(b, kinds, evidence);

	if (share >= 0)
		return share;
	if (!(o->counted & 1u << OUTLIER_FAULTS) || more < 1 ||
	    mean < OUTLIER_TIMES_MORE * (mean - more))
		return -1;
	text_printf(evidence,
		    "memory that is new to the program: %.3g page faults in each, "
		    "typically %.2g",
		    mean, mean - more);
	return NAN;
}

/* Half of the executions are so short that most of their measured time is the cost of the
 * probes. */
static double accessor(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence)
{
	const struct paircost *cost;
	uint64_t p50 = hist_quantile(&b->durations, 0.5);
	char time[TEXT_NUMBER], probes[TEXT_NUMBER];

	if (b->kind != BLOCK_FUNCTION || !b->kept.n)
		return -1;
	cost = &calls_costs(&o->calls)[b->function->id];
	if (!cost->known || p50 >= 2 * cost->inner_ns)
		return -1;
	text_printf(evidence,
		    "half of the calls take up to %s, of which the probes are %s: caches and "
		    "the machine decide",
		    text_time(time, p50), text_time(probes, cost->inner_ns));
	return NAN;
}

static double once(const struct outliers *o, const struct outlier_block *b, struct text *evidence)
{
	char time[TEXT_NUMBER];

	(void)o;
	if (b->begun + b->brief != 1)
		return -1;
	text_printf(evidence, "it took %s; there is no other call to compare it with",
		    text_time(time, b->durations.max));
	return NAN;
}

/* The behaviours of the paper's section 4.1, and two of its threats to validity. */
static const struct {
	char behaviour;
	const char *name;
	/*
	 * Returns the share of the residuals that have this behaviour; negative: the behaviour does
	 * not apply; NAN: it applies, but has no share. NULL: the executions that have one of the
	 * causes in kinds.
	 */
	double (*find)(const struct outliers *o, const struct outlier_block *b,
		       struct text *evidence);
	const char *kinds[4];
} rows[] = {
	{ 'A', "slow path", NULL, { "slow-path", "callee" } },
	{ 'B', "contention", contention, { NULL } },
	{ 'C', "growing structure", growing, { NULL } },
	{ 'D', "locality", locality, { NULL } },
	{ 'E', "allocation", allocation, { NULL } },
	{ 'F', "input/output", NULL, { "disk-io", "network", "pipe" } },
	{ 'G', "cheap accessor", accessor, { NULL } },
	{ 'H', "executed once", once, { NULL } },
	{ 0, "preemption", NULL, { "cpu-wait" } },
	{ 0, "first execution", NULL, { "first-execution" } },
};

/* Returns a copy of the block without the outliers that a callee explains, because the callee's
 * block reports the behaviour of these. */
static struct outlier_block without_passed(const struct outlier_block *b)
{
	struct outlier_block own = *b;

	memset(&own.kept, 0, sizeof(own.kept));
	vec_for_each (&b->kept, const struct outlier, x)
		if (!x->passed)
			*vec_add(&own.kept) = *x;
	return own;
}

static void find(const struct outliers *o, const struct outlier_block *b,
		 struct outlier_hints *hints)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text evidence = { 0 };
		double share = rows[i].find ? rows[i].find(o, b, &evidence)
					    : by_cause(b, rows[i].kinds, &evidence);

		if (share < 0) {
			text_release(&evidence);
			continue;
		}
		*vec_add(hints) = (struct outlier_hint){ .behaviour = rows[i].behaviour,
							 .name = rows[i].name,
							 .share = share,
							 .evidence = evidence.s };
	}
}

void outlier_find_behaviours(struct outliers *o, struct outlier_block *b)
{
	struct outlier_block own;

	find(o, b, &b->hints);
	if (!b->own || b->own == b->divergent)
		return;
	own = without_passed(b);
	find(o, &own, &b->own_hints);
	vec_release(&own.kept);
}
