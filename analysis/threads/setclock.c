/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/threads/setclock.h"
#include "analysis/threads/threads.h"
#include "trace/meta/meta.h"

static uint64_t key(uint32_t set, uint32_t tgid)
{
	return (uint64_t)set << 32 | tgid;
}

static uint64_t reading(const struct set_clock *c, uint64_t time_ns)
{
	return c->total_ns + (c->on && time_ns > c->since_ns ? time_ns - c->since_ns : 0);
}

static struct set_clock *clock_for(const struct threads *th, uint32_t set, uint32_t tgid)
{
	uint32_t i = tgid ? map_get(&th->clock_of, key(set, tgid)) : MAP_NONE;

	return &th->clocks.data[i == MAP_NONE ? set : i];
}

/* Finds when a function was taken out; the meta lines name functions by object. */
static void find_outs(struct threads *th, uint32_t id)
{
	const struct meta_function *f = &th->meta->functions.data[id];

	vec_for_each (&th->meta->not_traced, const struct meta_not_traced, n)
		if (n->traced_until_ns && f->symbol &&
		    meta_not_traced_is(n, f->name, meta_object(th->meta, f->object)->path,
				       f->address))
			*vec_add(&th->outs) = (struct set_out){
				.id = id,
				.from_ns = n->traced_until_ns,
				.to_ns = n->traced_again_ns ? n->traced_again_ns : UINT64_MAX,
			};
}

static uint64_t common_ns(uint64_t from_ns, uint64_t to_ns, uint64_t other_from_ns,
			  uint64_t other_to_ns)
{
	uint64_t from = from_ns > other_from_ns ? from_ns : other_from_ns;
	uint64_t to = to_ns < other_to_ns ? to_ns : other_to_ns;

	return to > from ? to - from : 0;
}

/*
 * Returns the part of [from, to] in which the clock did not run. Its past pauses are known only if
 * functions were taken out.
 */
static uint64_t stood_ns(const struct threads *th, const struct set_clock *c, uint64_t from_ns,
			 uint64_t to_ns)
{
	uint32_t clock = (uint32_t)(c - th->clocks.data);
	uint64_t sum = c->on ? 0 : common_ns(from_ns, to_ns, c->since_ns, UINT64_MAX);

	vec_for_each (&th->pauses, const struct set_pause, p)
		if (p->clock == clock)
			sum += common_ns(from_ns, to_ns, p->from_ns, p->to_ns);
	return sum;
}

uint64_t setclocks_out_ns(const struct threads *th, uint32_t id, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns)
{
	const struct set_clock *c = clock_for(th, th->set_of[id], tgid);
	uint64_t sum = 0;

	vec_for_each (&th->outs, const struct set_out, o) {
		uint64_t from = o->from_ns > from_ns ? o->from_ns : from_ns;
		uint64_t to = o->to_ns < to_ns ? o->to_ns : to_ns;

		if (o->id == id && to > from)
			sum += to - from - stood_ns(th, c, from, to);
	}
	return sum;
}

static uint32_t index_of(struct threads *th, uint32_t set)
{
	uint32_t index = map_get(&th->set_index, set);

	if (index != MAP_NONE)
		return index;
	index = th->n_sets++;
	map_put(&th->set_index, set, index);
	*vec_add(&th->clocks) =
		(struct set_clock){ .set = index, .on = true, .since_ns = th->start_ns };
	return index;
}

void setclocks_init(struct threads *th)
{
	size_t n = th->meta->functions.n;

	th->set_of = xcalloc(n + 1, sizeof(*th->set_of));
	for (size_t id = 0; id < n; id++) {
		if (!meta_function(th->meta, (uint32_t)id))
			continue;
		th->set_of[id] = index_of(th, th->meta->functions.data[id].set);
		find_outs(th, (uint32_t)id);
	}
	/*
	 * A function without a description, or that was taken out before it had a call, makes no
	 * set of its own.
	 */
	if (n && !th->n_sets)
		index_of(th, th->meta->functions.data[0].set);
}

uint64_t setclock_read(struct threads *th, uint32_t set, uint32_t tgid, uint64_t time_ns)
{
	return reading(clock_for(th, set, tgid), time_ns);
}

bool setclock_is_off(const struct threads *th, uint32_t set, uint32_t tgid)
{
	return !clock_for(th, set, tgid)->on;
}

bool setclocks_any_on(struct threads *th, uint32_t tgid)
{
	for (uint32_t set = 0; set < th->n_sets; set++)
		if (clock_for(th, set, tgid)->on)
			return true;
	return !th->n_sets;
}

uint64_t setclock_overlap(struct threads *th, uint32_t set, uint32_t tgid, uint64_t from_ns,
			  uint64_t to_ns)
{
	const struct set_clock *c = clock_for(th, set, tgid);
	uint64_t from = from_ns > c->since_ns ? from_ns : c->since_ns;

	return c->on && to_ns > from ? to_ns - from : 0;
}

uint64_t setclock_paused_ns(struct threads *th, uint32_t set, uint64_t end_ns)
{
	const struct set_clock *c = &th->clocks.data[set];
	bool off = c->was_on && !c->on && end_ns > c->since_ns;

	return c->paused_ns + (off ? end_ns - c->since_ns : 0);
}

uint64_t setclock_first_on_ns(const struct threads *th, uint32_t set)
{
	return th->clocks.data[set].first_on_ns;
}

void setclocks_restart(struct threads *th, uint64_t time_ns)
{
	vec_for_each (&th->clocks, struct set_clock, c) {
		c->paused_ns = 0;
		if (!c->on && c->since_ns < time_ns)
			c->since_ns = time_ns;
	}
}

/*
 * Corrects the clock of a set that turns out to have been off until now: it has not observed any
 * thread.
 */
static void was_off(struct threads *th, struct set_clock *c, uint64_t time_ns)
{
	uint64_t now = reading(c, time_ns);

	vec_for_each (&th->all, struct thread *, it) {
		struct thread *t = *it;

		if (clock_for(th, c->set, t->tgid) == c)
			t->watch_ns[c->set] = t->dead ? 0 : now;
	}
}

static void pause(struct threads *th, struct set_clock *c, uint64_t to_ns)
{
	c->paused_ns += to_ns - c->since_ns;
	if (th->outs.n)
		*vec_add(&th->pauses) =
			(struct set_pause){ .clock = (uint32_t)(c - th->clocks.data),
					    .from_ns = c->since_ns,
					    .to_ns = to_ns };
}

static void turn(struct threads *th, struct set_clock *c, bool on, uint64_t time_ns)
{
	if (!on && !c->on) /* no change, so its pause goes on */
		return;
	if (!c->named && on)
		was_off(th, c, time_ns);
	c->named = true;
	if (c->on)
		c->total_ns = reading(c, time_ns);
	else if (c->was_on && time_ns > c->since_ns)
		pause(th, c, time_ns);
	if (on && !c->was_on)
		c->first_on_ns = time_ns;
	c->was_on |= on;
	c->since_ns = time_ns;
	c->on = on;
}

static void add_pauses(struct threads *th, uint32_t from, uint32_t to)
{
	for (size_t i = 0, n = th->pauses.n; i < n; i++) {
		struct set_pause p = th->pauses.data[i];

		if (p.clock != from)
			continue;
		p.clock = to;
		*vec_add(&th->pauses) = p;
	}
}

static struct set_clock *own_clock(struct threads *th, uint32_t set, uint32_t tgid)
{
	struct set_clock copy = th->clocks.data[set];

	if (map_get(&th->clock_of, key(set, tgid)) == MAP_NONE) {
		map_put(&th->clock_of, key(set, tgid), (uint32_t)th->clocks.n);
		copy.tgid = tgid;
		add_pauses(th, set, (uint32_t)th->clocks.n);
		*vec_add(&th->clocks) = copy;
	}
	return clock_for(th, set, tgid);
}

/*
 * Turns off the sets that the recorder has not named when it names one without functions. Such a
 * set's functions have not been chosen yet, or were removed before they had a call.
 */
static void others_are_off(struct threads *th, uint64_t time_ns)
{
	vec_for_each (&th->clocks, struct set_clock, c) {
		if (c->named)
			continue;
		was_off(th, c, time_ns);
		turn(th, c, false, time_ns);
	}
}

#define PROBED_LEAST_NS 1000000000 /* a longer time with probes shows how a program goes on */
#define SHORT_NS	4000000000 /* a longer recording may count calls where no probe was in */

/* Returns whether probes were in for a small part of the recording, and not long. */
static bool is_hardly_probed(const struct meta *meta)
{
	const struct meta_end *e = &meta->end;
	const uint64_t start_ns = meta->session.start_ns;

	return e->probed_ns != META_UNKNOWN && e->end_ns > start_ns &&
	       e->end_ns - start_ns < SHORT_NS && e->probed_ns < PROBED_LEAST_NS &&
	       e->probed_ns < (e->end_ns - start_ns) / 2;
}

/*
 * Returns whether the recording has too few calls to judge any function, or calls of a small part
 * of it alone. The waits of its threads are known for all of the time, however late the probes
 * came.
 */
static bool judges_waits(const struct meta *meta)
{
	return meta->end.present && (meta->end.made_records < CALLS_MIN || is_hardly_probed(meta));
}

void setclock_switch(struct threads *th, uint32_t set_id, uint32_t tgid, bool on, uint64_t time_ns)
{
	uint32_t set = map_get(&th->set_index, set_id);

	if (judges_waits(th->meta))
		return;
	if (set == MAP_NONE && on)
		others_are_off(th, time_ns);
	if (set == MAP_NONE)
		return;
	if (!tgid) {
		vec_for_each (&th->clocks, struct set_clock, c)
			if (c->set == set)
				turn(th, c, on, time_ns);
		return;
	}
	turn(th, own_clock(th, set, tgid), on, time_ns);
	/* if the recorder names processes, the set is off in the others */
	if (!th->clocks.data[set].named) {
		was_off(th, &th->clocks.data[set], time_ns);
		turn(th, &th->clocks.data[set], false, time_ns);
	}
}
