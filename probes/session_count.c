/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often candidates are called, before any is traced: a probe that only counts sits on each for
 * 100 ms. Counting is not free either: a function called ten million times a second stops the
 * program. So one looks every few milliseconds, and when the counts have cost their share of the
 * budget all probes come out at once; those functions that made it dear are decided (never traced),
 * the others are counted on.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "probes/bpfprog.h"
#include "probes/session_private.h"
#include "symbol/dso.h"

#define COUNTING_NS	  100000000ull
#define SCOUT_COUNTING_NS 30000000ull
#define SHARE_OF_BUDGET	  0.5 /* that counting may take of it */
#define ALLOWED_LEAST_NS  2000000.0
#define TRIES_MAX	  5

#define FUTEX_WAITS_LEAST 10

bool session_contends(const struct session *s)
{
	return s->drain.waits[WAIT_FUTEX] >= FUTEX_WAITS_LEAST;
}

/* Waiting first, then callers before the leaves below them. Locks that nobody waits for are called
 * as other functions are. */
static double rank(const struct planned *p, bool contends)
{
	const char *name = p->what.function->symbol;
	bool waits = blocking_on_threads(name) ? contends : blocking_kind(name) != NULL;

	return waits + (isnan(p->cpu_share) ? 0 : p->cpu_share);
}

static int by_rank(const void *a, const void *b)
{
	const struct planned *x = *(struct planned *const *)a, *y = *(struct planned *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->cost_share > y->cost_share ? 1 : x->cost_share < y->cost_share ? -1 : 0;
}

double session_choose(struct planned **candidates, size_t n, bool contends, double room,
		      const char *reason)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		candidates[i]->rank = rank(candidates[i], contends);

	qsort(candidates, n, sizeof(*candidates), by_rank);
	for (size_t i = 0; i < n; i++) {
		struct planned *p = candidates[i];

		if (!p->possible)
			continue;
		if (sum + p->cost_share > room) {
			p->possible = false;
			p->reason = reason;
			continue;
		}
		sum += p->cost_share;
	}
	return sum;
}

static int arm(struct session *s, struct err *err)
{
	struct probeset *set = &s->hybrid.counting;
	int ret;

	probeset_init(set, s->dynevents, s->sets.n);
	bpfprog_count_from(s->programs, s->hybrid.first_candidate);
	for (size_t i = s->hybrid.first_candidate; i < s->plan.n; i++)
		if (s->plan.data[i]->possible)
			probeset_add_count(set, s->plan.data[i],
					   session_path(s, s->plan.data[i]->what.dso), i);
	ret = probeset_create(set, session_point_refused, s, err);
	s->hybrid.count_cpu_ns = session_target_cpu_ns(s);
	s->hybrid.state_since_ns = clock_now_ns();
	return ret ? ret : session_open_on_targets(s, set, err);
}

int session_count_begin(struct session *s, struct err *err)
{
	s->hybrid.tries = 0;
	return arm(s, err);
}

/* What counting may have cost since the recording began, with what the target has used by now. */
static double allowed_ns(const struct session *s, uint64_t cpu_ns)
{
	double used = cpu_ns > s->cpu_at_begin_ns ? cpu_ns - s->cpu_at_begin_ns : 0;
	double room = SHARE_OF_BUDGET * s->options.overhead * used - s->hybrid.counting_cost_ns;

	if (s->options.scout) /* this run is not the one that is looked at */
		return INFINITY;
	return room > ALLOWED_LEAST_NS ? room : ALLOWED_LEAST_NS;
}

static double counted_cost_ns(const struct session *s)
{
	double cost = 0;

	for (size_t i = s->hybrid.first_candidate; i < s->plan.n; i++)
		if (s->plan.data[i]->possible)
			cost += bpfprog_count(s->programs, i) *
				session_count_cost_ns(s, s->plan.data[i]);
	return cost;
}

/* Rates in the time that was the program's own; who does not fit is out. */
static void decide(struct session *s, uint64_t elapsed_ns, uint64_t used_ns, double cost_ns)
{
	size_t first = s->hybrid.first_candidate, n = s->plan.n - first;
	struct planned **all = xcalloc(n + 1, sizeof(struct planned *));
	double work_ns = used_ns > cost_ns * 10 / 9 ? used_ns - cost_ns : used_ns / 10.0;
	double own_share = used_ns ? work_ns / used_ns : 1;

	if (work_ns < BUDGET_LEAST_CPU * elapsed_ns)
		work_ns = BUDGET_LEAST_CPU * elapsed_ns;

	for (size_t i = 0; i < n; i++) {
		struct planned *p = all[i] = s->plan.data[first + i];
		uint64_t count = p->possible ? bpfprog_count(s->programs, first + i) : 0;

		if (!p->possible)
			continue;
		p->calls_per_s = count * 1e9 / (elapsed_ns * own_share);
		p->cost_share = work_ns > 0 ? count * session_call_cost_ns(s, p) / work_ns : 0;
	}
	s->hybrid.spent_new =
		session_choose(all, n, session_contends(s), s->options.overhead - s->hybrid.spent,
			       "over the overhead budget");
	free(all);
}

static size_t n_possible(const struct session *s)
{
	size_t n = 0;

	for (size_t i = s->hybrid.first_candidate; i < s->plan.n; i++)
		n += s->plan.data[i]->possible;
	return n;
}

int session_count_look(struct session *s, uint64_t now, bool *counted, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.state_since_ns, cpu_ns = session_target_cpu_ns(s);
	uint64_t used_ns = cpu_ns > s->hybrid.count_cpu_ns ? cpu_ns - s->hybrid.count_cpu_ns : 0;
	bool over = elapsed_ns >= (s->options.scout ? SCOUT_COUNTING_NS : COUNTING_NS);
	double cost_ns = counted_cost_ns(s);
	size_t before = n_possible(s);

	*counted = false;
	if (!over && cost_ns <= allowed_ns(s, cpu_ns))
		return 0;
	session_retire_set(s, &s->hybrid.counting);
	/* The kernel may take a while for that, and calls were counted meanwhile. */
	cost_ns = counted_cost_ns(s);
	elapsed_ns = clock_now_ns() - s->hybrid.state_since_ns;
	cpu_ns = session_target_cpu_ns(s);
	used_ns = cpu_ns > s->hybrid.count_cpu_ns ? cpu_ns - s->hybrid.count_cpu_ns : 0;
	s->hybrid.counting_cost_ns += cost_ns;
	decide(s, elapsed_ns, used_ns, cost_ns);
	if (!over && n_possible(s) < before && n_possible(s) && ++s->hybrid.tries < TRIES_MAX)
		return arm(s, err);
	s->hybrid.spent += s->hybrid.spent_new;
	*counted = true;
	return 0;
}
