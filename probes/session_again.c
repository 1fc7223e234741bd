/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that were left out for what they would cost. A program goes on to do something else,
 * and what was counted in a dear moment, or beside dearer ones, may fit later: so their calls are
 * counted again. What was known of their price fades with time; when it has faded into the room
 * that is left one asks. The dearer, the later: asking takes out of the budget as well.
 */
#include "probes/session_private.h"
#include "symbol/dso.h"

#define FADES	     2.0 /* by so much with each window */
#define JUST_REFUSED 4.0 /* times its price: one does not ask at once */

const char session_over_budget[] = "over the overhead budget";

void session_remember_costs(struct planned **asked, size_t n)
{
	for (size_t i = 0; i < n; i++)
		asked[i]->faded_cost = JUST_REFUSED * asked[i]->cost_share;
}

static bool is_hot_now(const struct session *s, const struct planned *p)
{
	const struct profile *all = &s->hybrid.profile;

	if (blocking_kind(p->what.function->symbol))
		return true;
	vec_for_each (&all->functions, const struct profile_function, f)
		if (f->function == p->what.function)
			return profile_is_hot(all, f, HYBRID_HOT_SHARE);
	return false;
}

void session_ask_again(struct session *s)
{
	double room = session_choice_room(s) - s->hybrid.spent;

	for (size_t i = s->plan.n; i > 0 && s->plan.n - i < WIRE_COUNTS_MAX; i--) {
		struct planned *p = s->plan.data[i - 1];

		if (p->possible || p->set != PLANNED_NO_SET || p->reason != session_over_budget)
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
