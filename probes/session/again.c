/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reconsiders functions that were skipped because they were too costly, or removed because they
 * proved so. A program changes what it does. A function that was counted in a costly moment, or
 * together with costlier ones, may fit later, so its calls are counted again. The known cost fades
 * with time; once it has faded below the room that is left, the calls are counted. A costly
 * function is counted later, because counting uses the budget, too. Functions that the user looks
 * for, a contended lock first, need not wait for that if they cost a few times the room: they are
 * traced in turns. The throttle removes such a function when the debt is too large, and it returns
 * when the debt is repaid.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probes/select/blocking.h"
#include "probes/session/internal.h"
#include "symbol/dso/dso.h"

#define FADES 2.0 /* the factor by which a cost fades with each window */

static bool is_hot_now(const struct session *s, const struct planned *p)
{
	const struct profile *all = &s->hybrid.profile;

	if (p->what.marker || p->region || blocking_kind(p->what.function->symbol))
		return true;
	vec_for_each (&all->functions, const struct profile_function, f)
		if (f->function == p->what.function)
			return profile_is_hot(all, f, HYBRID_HOT_SHARE);
	return false;
}

static bool was_too_dear(const struct planned *p)
{
	return p->reason == session_over_budget || p->reason == session_over_budget_traced;
}

void session_ask_again(struct session *s)
{
	double room = session_choice_room(s) - s->hybrid.spent;

	for (size_t i = s->r.plan.n; i > 0 && s->r.plan.n - i < WIRE_COUNTS_MAX; i--) {
		struct planned *p = s->r.plan.data[i - 1];

		if (p->possible || p->is_beside || !was_too_dear(p) || (p->in_turns && p->out_ns))
			continue;
		p->faded_cost /= FADES;
		if (p->faded_cost > room || !is_hot_now(s, p))
			continue;
		p->asked = p->possible = true;
		p->counted = false;
		p->reason = "";
		s->hybrid.first_candidate = i - 1;
	}
}

int session_rejoin(struct session *s, struct err *err)
{
	bool *touched = xcalloc(s->r.sets.n + 1, sizeof(*touched));
	uint64_t *until_ns = xcalloc(s->r.plan.n + 1, sizeof(*until_ns)), again_ns;
	int ret;

	for (size_t i = 0; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];

		if (!p->possible || !p->out_ns)
			continue;
		until_ns[i] = p->out_ns;
		p->out_ns = 0;
		touched[p->set] = true;
	}
	session_quiet_sets(s, touched);
	ret = session_rebuild_sets(s, touched, err);
	again_ns = clock_now_ns(); /* the kernel may have taken long */
	for (size_t i = 0; i < s->r.plan.n; i++)
		if (until_ns[i])
			session_describe_again(s, s->r.plan.data[i], until_ns[i], again_ns);
	free(until_ns);
	free(touched);
	return ret;
}

int session_next_turn(struct session *s, struct err *err)
{
	bool any = false;

	if (!session_keeps_budget(s) || s->hybrid.debt_ns > 0 || s->hybrid.state == HYBRID_COUNTING)
		return 0;
	vec_for_each (&s->r.plan, struct planned *, it) {
		struct planned *p = *it;

		if (!p->in_turns || !p->out_ns)
			continue;
		any = p->possible = true;
		p->reason = "";
		s->hybrid.spent += p->cost_share;
	}
	return any ? session_rejoin(s, err) : 0;
}
