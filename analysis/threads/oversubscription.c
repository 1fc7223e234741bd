/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/oversubscription.h"

/*
 * Returns how fast the program progresses, compared with a machine of its own on which it has all
 * CPUs.
 */
static double progress(const struct oversubscription *c)
{
	return c->running < c->cpus ? (double)c->running / c->cpus : 1;
}

static double clock_at(const struct oversubscription *c, uint64_t time_ns)
{
	uint32_t runnable = c->running + c->waiting, beyond;

	if (time_ns <= c->since_ns || !c->waiting || !c->cpus || runnable <= c->cpus)
		return c->clock_ns;
	beyond = runnable - c->cpus;
	if (beyond > c->waiting)
		beyond = c->waiting;
	return c->clock_ns + (double)(time_ns - c->since_ns) * progress(c) * beyond / c->waiting;
}

static uint32_t *count_of(struct oversubscription *c, enum oversubscription_place place)
{
	return place == OVERSUBSCRIPTION_RUNNING   ? &c->running
	       : place == OVERSUBSCRIPTION_WAITING ? &c->waiting
						   : 0;
}

void oversubscription_move(struct oversubscription *c, struct oversubscription_member *m,
			   enum oversubscription_place place, uint64_t time_ns)
{
	uint32_t *from = count_of(c, m->place), *to = count_of(c, place);

	if (from == to)
		return;
	c->clock_ns = clock_at(c, time_ns);
	if (time_ns > c->since_ns)
		c->since_ns = time_ns;
	if (from)
		--*from;
	if (to)
		++*to;
	m->place = place;
	m->mark_ns = c->clock_ns;
}

double oversubscription_take_ns(const struct oversubscription *c, struct oversubscription_member *m,
				uint64_t time_ns)
{
	double now_ns = clock_at(c, time_ns), passed_ns = now_ns - m->mark_ns;

	if (m->place != OVERSUBSCRIPTION_WAITING || !(passed_ns > 0))
		return 0;
	m->mark_ns = now_ns;
	return passed_ns;
}
