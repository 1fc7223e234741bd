/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/takers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/record.h"

void takers_add(struct takers *t, enum taker_kind kind, uint32_t pid, uint64_t ns)
{
	uint64_t key = (uint64_t)kind << 32 | pid;
	uint32_t i = map_get(&t->by_key, key);

	if (!ns)
		return;
	if (i == MAP_NONE) {
		i = (uint32_t)t->n;
		*vec_add(t) = (struct taker){ .kind = kind, .pid = pid };
		map_put(&t->by_key, key, i);
	}
	t->data[i].ns += ns;
}

void takers_is_kernel(struct takers *t, uint32_t pid)
{
	map_put(&t->kernel, SWITCH_AFTER_IDLE + (uint64_t)pid, 1);
}

/* Returns whether who is a thread of the kernel, which has a CPU only briefly. */
static bool is_brief(const struct takers *t, uint64_t who)
{
	return map_get(&t->kernel, who) != MAP_NONE;
}

static struct taker_cpu *cpu_of(struct takers *t, uint32_t cpu)
{
	while (t->cpus.n <= cpu)
		*vec_add(&t->cpus) = NULL;
	if (!t->cpus.data[cpu])
		t->cpus.data[cpu] = xcalloc(1, sizeof(struct taker_cpu));
	return t->cpus.data[cpu];
}

static void add_span(struct taker_cpu *c, uint64_t from_ns, uint64_t to_ns, uint64_t who)
{
	if (to_ns > from_ns)
		c->ring[c->n++ % TAKER_STRETCHES] = (struct taker_stretch){ from_ns, to_ns, who };
}

void takers_switch(struct takers *t, uint32_t cpu, uint64_t time_ns, uint64_t before, uint64_t next)
{
	struct taker_cpu *c = cpu < TAKER_CPUS_MAX ? cpu_of(t, cpu) : NULL;
	uint64_t middle_ns;

	if (!c)
		return;
	middle_ns = c->since_ns + (time_ns - c->since_ns) / 2;
	if (c->since_ns && time_ns > c->since_ns) {
		if (before == SWITCH_AFTER_UNKNOWN || before == c->who)
			middle_ns = time_ns;
		else if (c->who == SWITCH_AFTER_UNKNOWN || is_brief(t, c->who))
			middle_ns = c->since_ns;
		else if (is_brief(t, before))
			middle_ns = time_ns;
		add_span(c, c->since_ns, middle_ns, c->who);
		add_span(c, middle_ns, time_ns, before);
	}
	c->since_ns = time_ns;
	c->who = next;
}

void takers_forget(struct takers *t)
{
	vec_for_each (&t->cpus, struct taker_cpu *, cpu)
		if (*cpu)
			(*cpu)->since_ns = 0;
}

/*
 * Visits each period's part of the time from from_ns on, latest first. Returns the sum of the
 * parts.
 */
static uint64_t each_part(const struct taker_cpu *c, uint64_t from_ns, double scale,
			  void (*share)(void *ctx, uint64_t who, uint64_t ns), void *ctx)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; c && i < TAKER_STRETCHES && i < c->n; i++) {
		const struct taker_stretch *s = &c->ring[(c->n - 1 - i) % TAKER_STRETCHES];
		uint64_t begin = s->from_ns > from_ns ? s->from_ns : from_ns;

		if (s->to_ns <= from_ns)
			break;
		sum += s->to_ns - begin;
		if (share)
			share(ctx, s->who, (uint64_t)((double)(s->to_ns - begin) * scale));
	}
	return sum;
}

void takers_share(const struct takers *t, uint32_t cpu, uint64_t from_ns, uint64_t before,
		  void (*share)(void *ctx, uint64_t who, uint64_t ns), void *ctx)
{
	const struct taker_cpu *c = cpu < t->cpus.n ? t->cpus.data[cpu] : NULL;
	uint64_t all = c && c->since_ns > from_ns ? c->since_ns - from_ns : 0;
	uint64_t known = each_part(c, from_ns, 1, NULL, NULL);

	if (known)
		each_part(c, from_ns, (double)all / (double)known, share, ctx);
	else if (all)
		share(ctx, before, all);
}

void takers_release(struct takers *t)
{
	vec_for_each (&t->cpus, struct taker_cpu *, cpu)
		free(*cpu);
	vec_release(&t->cpus);
	map_release(&t->by_key);
	map_release(&t->kernel);
	vec_release(t);
}
