/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probes/recording/recording.h"
#include "probes/select/blocking.h"
#include "symbol/dso/dso.h"

#define COSTLY_SHARE	  0.25 /* of the room: above this, other functions come first */
#define FUTEX_WAITS_LEAST 10
#define MOST		  0.5  /* of the samples */
#define FREE_SHARE	  1e-5 /* of the time: this always fits */
#define SOUGHT_TOLERANCE  1.2  /* of the room: costs are no more precise than this */
#define SOUGHT_IN_TURNS	  3.0  /* of the room: such a function is traced for a third of the time */

bool session_contends(const struct recording *r)
{
	return r->drain.waits[WAIT_FUTEX] >= FUTEX_WAITS_LEAST;
}

/*
 * Ranks a function. Markers and contended locks come first, then parallel regions, at whose end
 * threads wait, then other functions that wait, then callers before the leaves that they call. If
 * call chains are unknown, a leaf has the larger share, but its cost identifies it: it would leave
 * no room for several others. Locks without contention rank like other functions. A region comes
 * before its bodies, which are useless without it. The function that releases a lock comes right
 * after the one that takes it, and is chosen with it: only both show how long the lock is held, and
 * by whom.
 */
static double rank(const struct planned *p, bool contends, double room)
{
	const char *name = p->what.function->symbol;
	bool marker = p->what.marker;
	bool lock = contends && blocking_on_threads(name);
	bool waits =
		marker || lock || p->region || (!blocking_on_threads(name) && blocking_kind(name));
	double share = isnan(p->cpu_share) ? 0 : p->cpu_share;

	return marker + lock + waits + (p->region ? 1 - fmin(p->cost_share, 1) : share) -
	       (!waits && p->cost_share > COSTLY_SHARE * room);
}

/* Returns whether users look for such a function: a contended lock, a function with most of the
 * time, a marker or a parallel region. */
static bool is_sought(const struct planned *p, bool contends)
{
	return p->what.marker || p->region ||
	       (contends && blocking_on_threads(p->what.function->symbol)) || p->cpu_share >= MOST;
}

/* cost: of the function, or of both if it is chosen with the one that releases its lock */
static bool fits(const struct planned *p, bool contends, double cost, double sum, double room)
{
	/* Only little is chosen so far. */
	if (is_sought(p, contends) && sum <= (SOUGHT_TOLERANCE - 1) * room)
		room *= SOUGHT_TOLERANCE;
	return cost <= FREE_SHARE || sum + cost <= room;
}

struct candidate {
	struct planned *p;
	double rank;
	const struct candidate *lock; /* takes the lock that this one releases, if one does */
};

static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a,
			       *y = *(struct candidate *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->p->cost_share > y->p->cost_share   ? 1
	       : x->p->cost_share < y->p->cost_share ? -1
						     : 0;
}

static bool takes(const struct planned *lock, const struct planned *release)
{
	const char *name = blocking_release(lock->what.function->symbol);

	return name && lock->what.dso == release->what.dso &&
	       !strcmp(name, release->what.function->symbol);
}

#define BEHIND 1e-9 /* smaller than any difference between two shares of time */

/* Ranks the releasing function behind the best-ranked lock, because several locks have the same
 * releasing function. */
static void rank_behind(struct candidate *release, const struct candidate *lock)
{
	if (release->lock && by_rank(&release->lock, &lock) <= 0)
		return;
	release->lock = lock;
	release->rank = lock->rank - BEHIND;
}

static void rank_releases(struct candidate *all, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; blocking_release(all[k].p->what.function->symbol) && i < n; i++)
			if (takes(all[k].p, all[i].p))
				rank_behind(&all[i], &all[k]);
}

/* Ranks a function like the lock that it releases if that lock is no candidate because it is traced
 * already: locks are from a command's first instruction on. */
static void rank_missing_releases(const struct plan *plan, struct candidate *all, size_t n,
				  double room)
{
	vec_for_each (plan, struct planned *, lock)
		for (size_t i = 0; planned_is_traced(*lock) && i < n; i++)
			if (!all[i].lock && takes(*lock, all[i].p))
				all[i].rank = fmax(all[i].rank, rank(*lock, true, room));
}

/* Returns whether the function may be traced in turns. A releasing function is useless without its
 * lock and takes turns with it. */
static bool may_have_turns(const struct candidate *c, bool contends)
{
	return c->lock ? c->lock->p->in_turns : is_sought(c->p, contends);
}

/* The candidates by rank, of which each is decided in its turn. */
struct choice {
	struct candidate **of;
	size_t n;
	bool contends;
	double room;
	const char *reason; /* of those that do not fit */
	double sum;	    /* costs of those that fit */
	double with_turns;  /* and of those that are traced in turns */
};

/*
 * Returns the function that is to be chosen with candidate i: it releases the lock that candidate i
 * takes, and comes right after it. NULL if there is none whose cost is known.
 */
static struct planned *partner(const struct choice *c, size_t i)
{
	const struct candidate *next = i + 1 < c->n ? c->of[i + 1] : NULL;

	if (!next || next->lock != c->of[i])
		return NULL;
	return next->p->possible && !isnan(next->p->cost_share) ? next->p : NULL;
}

static void refuse(const struct choice *c, struct planned *p, bool in_turns)
{
	p->possible = false;
	p->reason = c->reason;
	p->in_turns = in_turns;
}

/* Decides on a candidate, with its partner unless that is NULL, so that both are traced, at once or
 * in turns. Returns false if they have to be left out. */
static bool decide(struct choice *c, const struct candidate *one, struct planned *with)
{
	struct planned *p = one->p;
	double cost = p->cost_share + (with ? with->cost_share : 0);
	bool is_wanted = (!one->lock || one->lock->p->possible) &&
			 fits(p, c->contends, cost, c->sum, c->room);
	bool in_turns = !is_wanted && may_have_turns(one, c->contends) &&
			c->with_turns + cost <= SOUGHT_IN_TURNS * c->room;

	if (!is_wanted) {
		refuse(c, p, in_turns);
		if (with)
			refuse(c, with, in_turns);
	}
	c->sum += is_wanted ? cost : 0;
	c->with_turns += is_wanted || in_turns ? cost : 0;
	return is_wanted || in_turns;
}

/*
 * Decides on candidate i, and on its partner. Hold times and holders need both. If there is not
 * even a turn for both, the waits alone are worth more than neither. Returns the next candidate.
 */
static size_t decide_next(struct choice *c, size_t i)
{
	struct planned *p = c->of[i]->p, *with = partner(c, i);

	/* If a function was never counted, only tracing it shows whether it fits. */
	if (!p->possible || isnan(p->cost_share))
		return i + 1;
	if (!decide(c, c->of[i], with) && with) {
		p->possible = true;
		decide(c, c->of[i], NULL);
	}
	return i + 1 + (with != NULL);
}

double session_choose(const struct plan *plan, struct planned **planned, size_t n, bool contends,
		      double room, const char *reason)
{
	struct candidate *all = xcalloc(n + 1, sizeof(*all));
	struct choice c = { .of = xcalloc(n + 1, sizeof(*c.of)),
			    .n = n,
			    .contends = contends,
			    .room = room,
			    .reason = reason };

	for (size_t i = 0; i < n; i++) {
		planned[i]->in_turns = false;
		all[i].p = planned[i];
		all[i].rank = rank(planned[i], contends, room);
		c.of[i] = &all[i];
	}
	if (contends) {
		rank_releases(all, n);
		rank_missing_releases(plan, all, n, room);
	}
	qsort(c.of, n, sizeof(*c.of), by_rank);
	for (size_t i = 0; i < n;)
		i = decide_next(&c, i);
	free(c.of);
	free(all);
	return c.sum;
}

double session_give_turns(struct planned **candidates, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct planned *p = candidates[i];

		if (!p->in_turns)
			continue;
		p->possible = true;
		p->reason = "";
		sum += p->cost_share;
	}
	return sum;
}

/*
 * Returns whether the function releases locks, but no function that takes such a lock is traced all
 * the time. in_turns: one is traced in turns with others.
 */
static bool is_lone_release(const struct recording *r, const struct planned *p, bool *in_turns)
{
	bool found = false;

	*in_turns = false;
	vec_for_each (&r->plan, struct planned *, lock)
		if (takes(*lock, p)) {
			found = true;
			*in_turns |= (*lock)->in_turns;
			if ((*lock)->possible || (*lock)->is_beside)
				return false;
		}
	return found;
}

double session_drop_releases(const struct recording *r, struct planned **candidates, size_t n,
			     const char *reason)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct planned *p = candidates[i];

		if (!p->possible || !is_lone_release(r, p, &p->in_turns))
			continue;
		p->possible = false;
		p->reason = reason;
		sum += p->cost_share;
	}
	return sum;
}
