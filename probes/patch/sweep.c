// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/patch/sweep.h"

#include "probes/patch/sweep_arm64.h"
#include "probes/patch/sweep_x86.h"
#include "probes/patch/targets.h"

void sweep_branch(struct sweep *s, uint64_t at, uint64_t target, bool is_call)
{
	targets_mark(s->t, target, is_call ? MARK_TARGET | MARK_CALLED : MARK_TARGET);
	if (!is_call && (target < s->start || target >= s->end))
		*vec_add(&s->t->crossings) = (struct crossing){ target, at };
}

void sweep_address(struct sweep *s, uint64_t address)
{
	uint8_t *marks = targets_marks(s->t, address);

	if (marks)
		*marks |= MARK_COMPUTED;
	else if (address % 4 == 0)
		*vec_add(&s->tables) = address;
}

static void sweep_stretch(struct sweep *s, const struct code_stretch *c)
{
	const struct targets *t = s->t;
	size_t i = 0;

	s->dead = false;
	s->start = c->start;
	while (s->start < c->end) {
		while (i < t->starts.n && t->starts.data[i] <= s->start)
			i++;
		s->end = i < t->starts.n && t->starts.data[i] < c->end ? t->starts.data[i] : c->end;
		if (t->machine == CODE_AARCH64)
			sweep_arm64(s);
		else
			sweep_x86(s);
		s->start = s->end;
	}
}

void sweep_code(struct sweep *s)
{
	vec_for_each (&s->t->code, struct code_stretch, c)
		sweep_stretch(s, c);
}
