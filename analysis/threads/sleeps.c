/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/sleeps.h"
#include "analysis/threads/threads.h"

void sleeps_add(struct sleeps *s, const struct thread *t, uint64_t time_ns)
{
	size_t i = s->n % SLEEPS_KEPT;
	struct wait_sums one = { 0 };

	wait_add(&one, t, time_ns);
	if (one.n) {
		s->all[i].since_ns = t->sleep.since_ns;
		s->all[i].ended_ns = time_ns;
		s->all[i].cell = one.data[0];
		s->n++;
	}
	vec_release(&one);
}

void sleeps_between(const struct sleeps *s, uint64_t from_ns, uint64_t to_ns,
		    struct wait_sums *sums)
{
	for (uint64_t k = 0; k < s->n && k < SLEEPS_KEPT; k++) {
		size_t i = (s->n - 1 - k) % SLEEPS_KEPT;
		struct wait_cell cell = s->all[i].cell;
		struct wait_sums one = { .data = &cell, .n = 1, .room = 1 };

		if (s->all[i].since_ns < from_ns)
			break;
		if (s->all[i].ended_ns <= to_ns)
			wait_merge(sums, &one);
	}
}
