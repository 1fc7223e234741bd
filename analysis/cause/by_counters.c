/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/by_counters.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/cause.h"
#include "analysis/evidence/counters.h"
#include "analysis/score/block.h"
#include "base/text.h"
#include "trace/meta/meta.h"

/*
 * The most cycles that one event can cost, from latencies published for servers with two sockets.
 */
#define SHARED_LINE_CYCLES 400
#define REMOTE_LOAD_CYCLES 700

#define GROWTH_MIN 0.05 /* of the fast calls' time; a smaller growth is noise */
#define PART_MIN   0.05 /* of the growth; a smaller part is not reported */

/* The means of a value in fast and in slow calls. */
struct pair {
	double fast, slow;
};

struct slowdown {
	const struct counter_summary *counted;
	struct pair ns, cycles, instructions;
	double growth; /* of slow calls over fast ones, in cycles */
	double work;   /* the part of these cycles that more instructions take */
};

static bool get(const struct slowdown *s, const struct meta *meta, const char *role,
		struct pair *pair)
{
	const struct counter_mean *m = counter_role(s->counted, meta, role);

	if (!m || m->fast_calls < COUNTED_CALLS_MIN || m->slow_calls < COUNTED_CALLS_MIN)
		return false;
	*pair = (struct pair){ m->mean_fast, m->mean_slow };
	return true;
}

/*
 * Returns the counts of the block's own code if enough calls have them, or those of whole calls if
 * traced callees take hardly any time, or NULL.
 */
static const struct counter_summary *counted_of(const struct block *b)
{
	const struct counter_summary *own = b->counters.own;

	if (own && own->ns.slow_calls >= COUNTED_CALLS_MIN &&
	    own->ns.fast_calls >= COUNTED_CALLS_MIN)
		return own;
	return b->pools[POOL_CALLEE] < 0.1 * block_pools_ns(b) ? b->counters.all : NULL;
}

static bool slowdown_of(const struct block *b, const struct meta *meta, struct slowdown *s)
{
	*s = (struct slowdown){ .counted = counted_of(b) };
	if (!s->counted || !get(s, meta, "cycles", &s->cycles) ||
	    !get(s, meta, "instructions", &s->instructions))
		return false;
	s->ns = (struct pair){ s->counted->running_ns.mean_fast, s->counted->running_ns.mean_slow };
	if (!(s->ns.slow > (1 + GROWTH_MIN) * s->ns.fast) || !(s->cycles.fast > 0) ||
	    !(s->instructions.fast > 0))
		return false;
	s->growth = (s->ns.slow - s->ns.fast) * s->cycles.fast / s->ns.fast;
	s->work = s->cycles.fast * (s->instructions.slow / s->instructions.fast - 1);
	if (s->work < 0)
		s->work = 0;
	return s->growth > s->work;
}

/*
 * Returns cycles of a slow call's growth as ns of the block's pool, or 0 if they are too few to
 * mention.
 */
static double of_pool(const struct block *b, const struct slowdown *s, double cycles,
		      double rest_ns)
{
	double room = s->growth - s->work, ns;

	if (cycles > room)
		cycles = room;
	if (!(cycles > PART_MIN * s->growth))
		return 0;
	ns = b->pools[POOL_RUNNING] * cycles / s->growth;
	return ns < rest_ns ? ns : rest_ns;
}

/* Returns the cycles beyond those that the instructions take at the fast calls' rate. */
static double stretched(const struct slowdown *s)
{
	return s->cycles.slow - s->cycles.fast - s->work;
}

static double at_most(double value, double limit)
{
	return value < limit ? value : limit;
}

static double by_events(const struct block *b, const struct meta *meta, double rest_ns,
			const char *role, double cost_cycles, const char *what,
			struct text *evidence)
{
	struct slowdown s;
	struct pair events;
	double more;

	if (!slowdown_of(b, meta, &s) || !get(&s, meta, role, &events))
		return 0;
	more = events.slow - events.fast;
	if (!(more > 0))
		return 0;
	text_printf(evidence, "%.3g %s in a slow call, %.3g in a fast one", events.slow, what,
		    events.fast);
	return of_pool(b, &s, at_most(more * cost_cycles, stretched(&s)), rest_ns);
}

double cause_remote_loads(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence)
{
	return by_events(b, meta, rest_ns, "remote-loads", REMOTE_LOAD_CYCLES,
			 "loads from another node's memory", evidence);
}

double cause_shared_lines(const struct block *b, const struct meta *meta, double rest_ns,
			  struct text *evidence)
{
	return by_events(b, meta, rest_ns, "hitm", SHARED_LINE_CYCLES,
			 "loads of lines that another core had modified", evidence);
}

/*
 * Explains cycles that wait for memory. They grow with the number of misses, or because each miss
 * waits longer: the evidence says which.
 */
static double memory_stalls(const struct block *b, const struct slowdown *s,
			    const struct meta *meta, double rest_ns, struct text *evidence)
{
	struct pair stalls, misses;

	if (!get(s, meta, "stall-cycles", &stalls) || !get(s, meta, "llc-misses", &misses))
		return 0;
	if (!(misses.fast >= 1) || !(misses.slow >= 1) || !(stalls.slow > stalls.fast))
		return 0;
	text_printf(
		evidence,
		"a load from memory waits %.0f cycles in slow calls, %.0f in fast ones; %.3g and "
		"%.3g such loads",
		stalls.slow / misses.slow, stalls.fast / misses.fast, misses.slow, misses.fast);
	return of_pool(b, s, at_most(stalls.slow - stalls.fast, stretched(s)), rest_ns);
}

double cause_memory_stalls(const struct block *b, const struct meta *meta, double rest_ns,
			   struct text *evidence)
{
	struct slowdown s;
	struct pair remote;

	if (!slowdown_of(b, meta, &s) || !get(&s, meta, "remote-loads", &remote))
		return 0;
	return memory_stalls(b, &s, meta, rest_ns, evidence);
}

double cause_memory_stalls_of_any(const struct block *b, const struct meta *meta, double rest_ns,
				  struct text *evidence)
{
	struct slowdown s;
	struct pair remote;
	double ns;

	if (!slowdown_of(b, meta, &s) || get(&s, meta, "remote-loads", &remote))
		return 0;
	ns = memory_stalls(b, &s, meta, rest_ns, evidence);
	if (ns > 0)
		text_add(evidence,
			 "; whether from another node's was not counted (record -e numa)");
	return ns;
}

/*
 * Compares clock rates. Reference cycles run at a fixed rate and stop with the core's cycles, so
 * the ratio of the two is the clock rate.
 */
double cause_clock(const struct block *b, const struct meta *meta, double rest_ns,
		   struct text *evidence)
{
	struct slowdown s;
	struct pair ref;
	double fast, slow;

	if (!slowdown_of(b, meta, &s) || !get(&s, meta, "ref-cycles", &ref) || !(ref.fast > 0) ||
	    !(ref.slow > 0))
		return 0;
	fast = s.cycles.fast / ref.fast;
	slow = s.cycles.slow / ref.slow;
	if (!(slow < fast))
		return 0;
	text_printf(evidence, "the core's clock ran at %.0f%% of its speed in fast calls",
		    100 * slow / fast);
	/* the time that the cycles took longer, in cycles of the fast calls' length */
	return of_pool(b, &s, s.cycles.slow * (fast / slow - 1), rest_ns);
}

/* Gets the cycles that the core's other thread had, by whichever counter the machine has. */
static bool sibling_cycles(const struct slowdown *s, const struct meta *meta, struct pair *had)
{
	struct pair own;

	if (get(s, meta, "sibling-cycles", had))
		return true;
	if (!get(s, meta, "distributed-cycles", &own))
		return false;
	*had = (struct pair){ s->cycles.fast - own.fast, s->cycles.slow - own.slow };
	return true;
}

double cause_sibling(const struct block *b, const struct meta *meta, double rest_ns,
		     struct text *evidence)
{
	struct slowdown s;
	struct pair had;

	if (!slowdown_of(b, meta, &s) || !sibling_cycles(&s, meta, &had) ||
	    !(had.slow > had.fast) || !(s.cycles.slow > 0))
		return 0;
	text_printf(
		evidence,
		"the core's other thread had %.0f%% of its cycles in slow calls, %.0f%% in fast ones",
		100 * had.slow / s.cycles.slow, 100 * had.fast / s.cycles.fast);
	return of_pool(b, &s, at_most(had.slow - had.fast, stretched(&s)), rest_ns);
}

/* The causes that no rule can decide without a counter of this role. */
static const struct deciding {
	const char *role, *or_role, *what, *group, *kind;
} deciding[] = {
	{ "hitm", NULL, "lines that another core had modified", "sharing", "cache-sharing" },
	{ "stall-cycles", NULL, "cycles that wait for memory", "memory", "memory-bandwidth" },
	{ "remote-loads", NULL, "loads from another node's memory", "numa", "numa" },
	{ "ref-cycles", NULL, "cycles against time", "frequency", "frequency-smt" },
	{ "distributed-cycles", "sibling-cycles",
	  "cycles that the core's other thread had, if this processor tells", "frequency",
	  "frequency-smt" },
};

static bool is_counted(const struct meta *meta, const char *role)
{
	vec_for_each (&meta->counters, const struct meta_counter, c)
		if (c->role && !strcmp(c->role, role) && !(c->why && *c->why))
			return true;
	return false;
}

static bool decides(const struct meta *meta, const struct deciding *d)
{
	return is_counted(meta, d->role) || (d->or_role && is_counted(meta, d->or_role));
}

/*
 * Returns the n-th counter that was not counted, one for each group, or NULL if there are no more.
 */
static const struct deciding *undecided(const struct meta *meta, size_t n)
{
	const char *pmu = meta->session.pmu, *group = "";

	for (size_t i = 0; pmu && i < sizeof(deciding) / sizeof(deciding[0]); i++) {
		const struct deciding *d = &deciding[i];

		if (!strcmp(d->group, group) || (strcmp(pmu, "none") != 0 && decides(meta, d)))
			continue;
		if (!n--)
			return d;
		group = d->group;
	}
	return NULL;
}

const char *cause_undecided_group(const struct meta *meta, size_t n)
{
	const struct deciding *d = undecided(meta, n);

	return d ? d->group : NULL;
}

void cause_undecided(const struct meta *meta, struct text *out)
{
	const struct deciding *d;
	size_t n = 0;

	for (; (d = undecided(meta, n)); n++)
		text_printf(out, "%s%s (record -e %s): %s",
			    n ? "; " : "not counted, and would tell: ", d->what, d->group, d->kind);
	if (n && !strcmp(meta->session.pmu, "none"))
		text_add(out, "; this machine has no such counters");
}
