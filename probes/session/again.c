/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/again.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probes/recording/recording.h"
#include "probes/sample/profile.h"
#include "probes/select/blocking.h"
#include "probes/session/budget.h"
#include "probes/session/choose.h"
#include "probes/session/count.h"
#include "probes/session/set.h"
#include "symbol/dso/dso.h"

static bool is_hot_now(const struct profile *all, const struct planned *p)
{
	if (p->what.marker || p->region || blocking_kind(p->what.function->symbol))
		return true;
	vec_for_each (&all->functions, const struct profile_function, f)
		if (f->function == p->what.function)
			return profile_is_hot(all, f, HYBRID_HOT_SHARE);
	return false;
}

static bool was_too_costly(const struct planned *p)
{
	return p->reason == session_over_budget || p->reason == session_over_budget_traced;
}

size_t session_ask_again(struct budget *b, struct count *count, struct recording *r,
			 const struct profile *profile, size_t first)
{
	double room = session_choice_room(b, r) - session_share_spent(b);

	for (size_t i = r->plan.n; i > 0 && r->plan.n - i < WIRE_COUNTS_MAX; i--) {
		struct planned *p = r->plan.data[i - 1];

		if (p->possible || p->is_beside || !was_too_costly(p) || (p->in_turns && p->out_ns))
			continue;
		if (session_fade_cost(b, i - 1) > room || !is_hot_now(profile, p))
			continue;
		session_count_ask(count, i - 1);
		p->possible = true;
		p->reason = "";
		first = i - 1;
	}
	return first;
}

int session_rejoin(struct attach *a, struct recording *r, struct err *err)
{
	bool *touched = xcalloc(r->sets.n + 1, sizeof(*touched));
	uint64_t *until_ns = xcalloc(r->plan.n + 1, sizeof(*until_ns)), again_ns;
	int ret;

	for (size_t i = 0; i < r->plan.n; i++) {
		struct planned *p = r->plan.data[i];

		if (!p->possible || !p->out_ns)
			continue;
		until_ns[i] = p->out_ns;
		p->out_ns = 0;
		touched[p->set] = true;
	}
	session_quiet_sets(r, touched);
	ret = session_rebuild_sets(a, r, touched, err);
	again_ns = clock_now_ns(); /* the kernel may have taken long */
	for (size_t i = 0; i < r->plan.n; i++)
		if (until_ns[i])
			session_describe_again(r, r->plan.data[i], until_ns[i], again_ns);
	free(until_ns);
	free(touched);
	return ret;
}

int session_next_turn(struct budget *b, struct attach *a, struct recording *r, bool counting,
		      struct err *err)
{
	bool any = false;

	if (!session_keeps_budget(r) || session_debt_ns(b) > 0 || counting)
		return 0;
	vec_for_each (&r->plan, struct planned *, it) {
		struct planned *p = *it;

		if (!p->in_turns || !p->out_ns)
			continue;
		any = p->possible = true;
		p->reason = "";
		session_spend(b, p->cost_share);
	}
	return any ? session_rejoin(a, r, err) : 0;
}
