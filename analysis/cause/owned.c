/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/owned.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/cause.h"
#include "analysis/cause/verdict.h"
#include "analysis/score/block.h"
#include "base/mem.h"
#include "base/text.h"

/* The lost time that a block owns, in ns. */
struct owned {
	double ns[CAUSE_POOLS];
	struct causes causes; /* lost: ns; share is not used */
	const struct block *most;
	double most_ns;
};

/* Sets the lost parts of a function's pools. Returns their sum. */
static double lost_pools(const struct block *f, double lost[CAUSE_POOLS])
{
	double waits = fmin(block_unexplained_waits_ns(f), f->unexplained_ns);

	memset(lost, 0, CAUSE_POOLS * sizeof(*lost));
	lost[POOL_PREEMPTED] = fmax(f->pools[POOL_PREEMPTED] - f->harmless[POOL_PREEMPTED], 0);
	lost[POOL_BLOCKED] = fmax(f->pools[POOL_BLOCKED] - f->harmless[POOL_BLOCKED] - waits, 0);
	lost[POOL_RUNNING] = fmax(f->pools[POOL_RUNNING] - f->harmless[POOL_RUNNING] -
					  (f->unexplained_ns - waits),
				  0);
	return lost[POOL_PREEMPTED] + lost[POOL_BLOCKED] + lost[POOL_RUNNING];
}

/* Adds a function's cause, whose evidence is of all calls of the function. */
static void add_cause(struct owned *o, const struct block *f, const struct cause *of, double ns)
{
	struct cause *c = causes_get(&o->causes, of->kind, 0);

	c->confidence = (c->confidence * c->lost + of->confidence * ns) / (c->lost + ns);
	c->lost += ns;
	vec_for_each (&of->evidence, char *, e) {
		struct text line = { 0 };
		char name[256];

		text_printf(&line, "all calls of %s: %s",
			    text_printable(name, sizeof(name), f->name), *e);
		*vec_add(&c->evidence) = line.s;
	}
}

static void add_function(struct owned *o, const struct block *f, double owned_ns)
{
	double lost[CAUSE_POOLS], sum = owned_ns > 0 ? lost_pools(f, lost) : 0;
	double all = block_pools_ns(f);

	if (!(sum > 0))
		return;
	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		o->ns[p] += owned_ns * lost[p] / sum;
	vec_for_each (&f->causes, const struct cause, c)
		if (c->lost > 0)
			add_cause(o, f, c, owned_ns * fmin(1, c->lost * all / sum));
	if (owned_ns > o->most_ns) {
		o->most = f;
		o->most_ns = owned_ns;
	}
}

static double sum_of(const double ns[CAUSE_POOLS])
{
	double sum = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		sum += ns[p];
	return sum;
}

/* Returns the excess that b has of a cause beyond the lost time that it owns of it. */
static double beyond(const struct cause *c, struct causes *lost, double excess)
{
	return fmax(c->share * excess - causes_get(lost, c->kind, 0)->lost, 0);
}

static void move_evidence(struct cause *to, struct cause *from)
{
	for (size_t i = 0; i < to->evidence.n; i++)
		*vec_add(&from->evidence) = to->evidence.data[i];
	vec_release(&to->evidence);
	to->evidence.data = from->evidence.data;
	to->evidence.n = from->evidence.n;
	to->evidence.room = from->evidence.room;
	memset(&from->evidence, 0, sizeof(from->evidence));
}

/* Divides the excess: each cause has the lost time owned of it, and of the rest its part as before.
 */
static void divide(struct block *b, struct owned *o, double excess)
{
	double lost = 0, rest = 0, part;

	vec_for_each (&b->causes, const struct cause, c)
		rest += beyond(c, &o->causes, excess);
	vec_for_each (&o->causes, const struct cause, c)
		lost += c->lost;
	part = rest > 0 ? fmax(excess - lost, 0) / rest : 0;
	vec_for_each (&b->causes, struct cause, c) {
		c->share = part * beyond(c, &o->causes, excess) / excess;
		c->lost = 0;
	}
	vec_for_each (&o->causes, struct cause, from) {
		struct cause *c = causes_get(&b->causes, from->kind, 0);

		if (!(from->lost > 0))
			continue;
		c->lost = from->lost / excess;
		c->share += c->lost;
		c->confidence = from->confidence;
		move_evidence(c, from);
	}
	if (!(rest > 0) && 1 - lost / excess >= CAUSE_SHARE_MIN)
		causes_get(&b->causes, "unknown", 0)->share += 1 - lost / excess;
	causes_sort(&b->causes);
}

void causes_take_owned(struct block *b, const struct blocks *functions, const double *owned_ns)
{
	struct owned o = { 0 };
	double excess = block_pools_ns(b), all, scale;

	if (!(excess > 0))
		return;
	vec_for_each (functions, const struct block, f)
		add_function(&o, f, owned_ns[f->id]);
	all = sum_of(o.ns);
	if (all > 0) {
		/* the fastest run of a sequence is not that of the fastest calls of each function
		 */
		scale = fmin(1, excess / all);
		for (unsigned p = 0; p < CAUSE_POOLS; p++)
			b->owned_ns[p] = scale * o.ns[p];
		vec_for_each (&o.causes, struct cause, c)
			c->lost *= scale;
		divide(b, &o, excess);
		b->owned_most = o.most->function;
		b->owned_most_share = o.most_ns / all;
		b->waits = o.most->waits;
	}
	causes_release(&o.causes);
}
