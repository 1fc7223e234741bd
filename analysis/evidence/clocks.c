/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/clocks.h"
#include "base/mem.h"

#define LOG_LEAST 4096

struct clock_entry {
	uint32_t clock;
	int32_t n;
	uint64_t offset_ns;
};

struct clock_mark {
	uint32_t number;
	uint64_t time_ns;
	size_t at; /* number of log entries when the mark was set */
};

struct clocks *clocks_new(uint32_t n)
{
	struct clocks *cs = xcalloc(1, sizeof(*cs));

	cs->all = xcalloc(n, sizeof(*cs->all));
	cs->running = xcalloc(n / 64 + 1, sizeof(*cs->running));
	cs->n = n;
	return cs;
}

void clocks_free(struct clocks *cs)
{
	if (!cs)
		return;
	free(cs->all);
	free(cs->running);
	vec_release(&cs->log);
	vec_release(&cs->marks);
	free(cs);
}

void clocks_clear(struct clocks *cs)
{
	vec_for_each (&cs->log, struct clock_entry, e) {
		cs->all[e->clock] = (struct clock){ 0 };
		cs->running[e->clock / 64] = 0;
	}
	cs->log.n = cs->marks.n = 0;
	cs->newest = cs->open = 0;
}

/* Keeps only the first entry of each clock between two marks, and makes room for as many again. */
static void cut_down(struct clocks *cs)
{
	uint32_t *stretch = xcalloc(cs->n, sizeof(*stretch)), now = 1;
	size_t kept = 0;

	for (size_t i = 0; i < cs->log.n; i++) {
		struct clock_entry e = cs->log.data[i];

		for (; now <= cs->marks.n && cs->marks.data[now - 1].at <= i; now++)
			cs->marks.data[now - 1].at = kept;
		if (stretch[e.clock] == now)
			continue;
		stretch[e.clock] = now;
		cs->log.data[kept++] = e;
	}
	for (; now <= cs->marks.n; now++)
		cs->marks.data[now - 1].at = kept;
	cs->log.n = kept;
	cs->log_room = 2 * kept > LOG_LEAST ? 2 * kept : LOG_LEAST;
	vec_reserve(&cs->log, cs->log_room);
	free(stretch);
}

void clocks_put_down(struct clocks *cs, uint32_t i)
{
	if (cs->log.n >= cs->log_room)
		cut_down(cs);
	cs->log.data[cs->log.n++] = (struct clock_entry){ i, cs->all[i].n, cs->all[i].offset_ns };
	cs->all[i].logged = cs->newest;
}

void clocks_add(struct clocks *cs, uint32_t i, uint64_t ns)
{
	if (cs->all[i].logged < cs->open)
		clocks_put_down(cs, i);
	cs->all[i].offset_ns -= ns;
}

uint32_t clocks_mark(struct clocks *cs, uint64_t time_ns)
{
	if (!cs->marks.n)
		cs->log.n = 0;
	cs->open = ++cs->newest;
	*vec_add(&cs->marks) = (struct clock_mark){ cs->newest, time_ns, cs->log.n };
	return cs->newest;
}

static size_t place(const struct clocks *cs, uint32_t mark)
{
	size_t i = cs->marks.n;

	while (i-- && cs->marks.data[i].number != mark)
		;
	return i;
}

void clocks_forget(struct clocks *cs, uint32_t mark)
{
	size_t i = place(cs, mark);

	memmove(&cs->marks.data[i], &cs->marks.data[i + 1],
		(cs->marks.n - i - 1) * sizeof(*cs->marks.data));
	cs->marks.n--;
	cs->open = cs->marks.n ? vec_last(&cs->marks)->number : 0;
}

void gains_init(struct gains *g, uint32_t n)
{
	*g = (struct gains){ .list = xmalloc(n * sizeof(*g->list)) };
	g->of = xcalloc(n, sizeof(*g->of));
}

void gains_release(struct gains *g)
{
	free(g->list);
	free(g->of);
	*g = (struct gains){ 0 };
}

void gains_clear(struct gains *g)
{
	g->n = 0;
	g->cleared = g->walk;
}

static inline void gain(struct gains *g, uint32_t clock, uint64_t ns)
{
	struct gain *x = &g->of[clock];

	if (x->met <= g->cleared) {
		g->list[g->n++] = clock;
		x->ns = 0;
	}
	x->met = g->walk;
	x->ns += ns;
}

static inline uint64_t count(int32_t n, uint64_t time_ns)
{
	return (uint64_t)(int64_t)n * time_ns;
}

static inline uint64_t since(const struct clock *now, uint64_t time_ns,
			     const struct clock_entry *then, uint64_t then_ns)
{
	return count(now->n, time_ns) - now->offset_ns -
	       (count(then->n, then_ns) - then->offset_ns);
}

/* Adds what each clock gained from the mark to time_ns, times sign: 1, or -1 modulo 2^64. */
static inline void walk(struct gains *g, const struct clocks *cs, uint32_t number, uint64_t time_ns,
			uint64_t sign)
{
	const struct clock_mark *mark = &cs->marks.data[place(cs, number)];

	g->walk++;
	for (size_t i = mark->at; i < cs->log.n; i++) {
		const struct clock_entry *e = &cs->log.data[i];

		if (g->of[e->clock].met != g->walk)
			gain(g, e->clock,
			     sign * since(&cs->all[e->clock], time_ns, e, mark->time_ns));
	}
	for (uint32_t word = 0; word * 64 < cs->used; word++)
		for (uint64_t bits = cs->running[word]; bits; bits &= bits - 1) {
			uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);

			if (g->of[i].met != g->walk)
				gain(g, i, sign * count(cs->all[i].n, time_ns - mark->time_ns));
		}
}

void gains_add(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns)
{
	walk(g, cs, mark, time_ns, 1);
}

void gains_take(struct gains *g, const struct clocks *cs, uint32_t mark, uint64_t time_ns)
{
	walk(g, cs, mark, time_ns, UINT64_MAX);
}
