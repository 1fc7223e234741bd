/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/simulate/simulate.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/fleet/simulate/world.h"
#include "base/mem.h"
#include "trace/fleet/file.h"

#define CLOCK_GHZ      2.8
#define PERIOD	       2500000.0 /* instructions */
#define BLOCK_NS       1000000000ull
#define START_NS       1700000000000000000ull
#define SMT_LOSS       0.05 /* loss of IPC beside any application on the core */
#define MISSES	       4.0  /* of the last-level cache, for each 1,000 instructions at IPC 1 */
#define MISSES_GAIN    6.0  /* so many times the share of the IPC that is lost */
#define APPS_MIN       4
#define APPS_MAX       20
#define NO_APP	       UINT32_MAX
#define SLICE_MIN_NS   20000000ull
#define SLICE_RANGE_NS 300000000u

/* A period in which a CPU runs one application, or is idle. */
struct slice {
	uint32_t app; /* index in the machine's mix; NO_APP: idle */
	uint64_t start_ns, end_ns;
};

struct schedule {
	VEC(struct slice)
};

/* The periods in which both co-runners of a trio are on one socket. */
struct together {
	const struct world_trio *trio;
	uint16_t socket;
	struct schedule times; /* app is not used */
	size_t at;	       /* the first period that may not be over */
};

/* One of the two co-runners begins (by: 1) or ends (-1) to run. */
struct coming {
	uint64_t time_ns;
	int32_t by;
	bool other;
};

struct machine {
	const struct world *world;
	struct fleet_header header;
	struct dice dice;
	double speed, occupancy; /* occupancy: busy share of its CPUs' time */
	uint32_t n_apps, apps[APPS_MAX];
	double instance[APPS_MAX];  /* [index in apps]: speed of the application on this machine */
	struct schedule *schedules; /* [CPU]: schedule of the current block */
	struct {
		VEC(struct together)
	} trios; /* trios whose applications are all in the mix, one for each socket */
	uint64_t blocks;
	struct {
		VEC(uint32_t)
	} misses;	    /* [sample of the block]; empty if they are not measured */
	struct dice chance; /* of the misses, so that all else is the same without them */
};

static void describe(struct machine *m, uint64_t seed, uint32_t n, uint32_t cpus)
{
	struct fleet_header *h = &m->header;

	h->id = seed * 0x9e3779b97f4a7c15ull ^ hash_u64(n + 1);
	snprintf(h->machine, sizeof(h->machine), "machine%05u", n + 1);
	snprintf(h->type, sizeof(h->type), "simulated-%u", cpus);
	snprintf(h->indicator, sizeof(h->indicator), "ipc");
	snprintf(h->unit, sizeof(h->unit), "1e-6");
	snprintf(h->by, sizeof(h->by), "executable");
	h->higher_is_better = true;
	h->period = (uint64_t)PERIOD;
	h->topology.n = cpus;
	for (uint32_t i = 0; i < cpus; i++) {
		uint16_t socket = i >= cpus / 2;

		h->topology.cpus[i] = (struct topology_cpu){ (uint16_t)(i / 2), socket, socket };
	}
}

static bool in_mix(const struct machine *m, uint32_t app)
{
	for (uint32_t i = 0; i < m->n_apps; i++)
		if (m->apps[i] == app)
			return true;
	return false;
}

static void find_trios(struct machine *m)
{
	vec_for_each (&m->world->trios, const struct world_trio, trio)
		for (uint16_t socket = 0; socket < 2; socket++)
			if (in_mix(m, trio->base) && in_mix(m, trio->one) && in_mix(m, trio->other))
				*vec_add(&m->trios) =
					(struct together){ .trio = trio, .socket = socket };
}

struct machine *machine_new(const struct world *w, uint64_t seed, uint32_t n, uint32_t cpus)
{
	struct machine *m = xcalloc(1, sizeof(*m));
	uint32_t wanted;

	m->world = w;
	m->dice.state = seed ^ hash_u64(0x100000000ull + n);
	m->schedules = xcalloc(cpus, sizeof(*m->schedules));
	m->speed = 1 + WORLD_MACHINE_NOISE * dice_normal(&m->dice);
	m->occupancy = 0.3 + 0.6 * dice_unit(&m->dice);
	wanted = APPS_MIN + dice_below(&m->dice, APPS_MAX - APPS_MIN + 1);
	for (uint32_t tries = 0; m->n_apps < wanted && tries < 100; tries++) {
		uint32_t app = world_pick(w, &m->dice);

		if (in_mix(m, app))
			continue;
		m->instance[m->n_apps] = 1 + WORLD_INSTANCE_NOISE * dice_normal(&m->dice);
		m->apps[m->n_apps++] = app;
	}
	describe(m, seed, n, cpus);
	find_trios(m);
	return m;
}

void machine_measure_misses(struct machine *m)
{
	struct fleet_indicator *misses = &m->header.more[0];

	m->header.n_more = 1;
	m->chance.state = m->dice.state ^ hash_u64(m->header.id);
	snprintf(misses->name, sizeof(misses->name), "llc-misses");
	snprintf(misses->unit, sizeof(misses->unit), "1e-6");
}

const struct fleet_header *machine_header(const struct machine *m)
{
	return &m->header;
}

void machine_free(struct machine *m)
{
	for (uint32_t i = 0; i < m->header.topology.n; i++)
		vec_release(&m->schedules[i]);
	vec_for_each (&m->trios, struct together, t)
		vec_release(&t->times);
	vec_release(&m->trios);
	vec_release(&m->misses);
	free(m->schedules);
	free(m);
}

/* ---- a block ---- */

static void plan(struct machine *m, struct schedule *s, uint64_t from_ns, uint64_t to_ns)
{
	s->n = 0;
	while (from_ns < to_ns) {
		bool busy = dice_unit(&m->dice) < m->occupancy;
		uint64_t end_ns = from_ns + SLICE_MIN_NS + dice_below(&m->dice, SLICE_RANGE_NS);

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		*vec_add(s) = (struct slice){ busy ? dice_below(&m->dice, m->n_apps) : NO_APP,
					      from_ns, end_ns };
		from_ns = end_ns;
	}
}

static int by_coming(const void *a, const void *b)
{
	const struct coming *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

/* Finds these periods from the schedules of the socket's CPUs. */
static void find_together(struct machine *m, struct together *t)
{
	struct {
		VEC(struct coming)
	} comings = { 0 };
	int32_t there[2] = { 0, 0 };
	uint64_t since_ns = 0;

	t->times.n = t->at = 0;
	for (uint32_t i = 0; i < m->header.topology.n; i++) {
		if (m->header.topology.cpus[i].socket != t->socket)
			continue;
		vec_for_each (&m->schedules[i], const struct slice, s) {
			uint32_t app = s->app == NO_APP ? NO_APP : m->apps[s->app];

			if (app != t->trio->one && app != t->trio->other)
				continue;
			*vec_add(&comings) =
				(struct coming){ s->start_ns, 1, app == t->trio->other };
			*vec_add(&comings) =
				(struct coming){ s->end_ns, -1, app == t->trio->other };
		}
	}
	vec_sort(&comings, by_coming);
	vec_for_each (&comings, const struct coming, c) {
		bool before = there[0] && there[1];

		there[c->other] += c->by;
		if (!before && there[0] && there[1])
			since_ns = c->time_ns;
		else if (before && !(there[0] && there[1]))
			*vec_add(&t->times) = (struct slice){ 0, since_ns, c->time_ns };
	}
	vec_release(&comings);
}

/* Returns the share of the IPC that an application keeps beside the pairs of trios that are on its
 * socket now. */
static double beside_two(struct machine *m, uint32_t app, uint32_t cpu, uint64_t at_ns)
{
	double left = 1;

	vec_for_each (&m->trios, struct together, t) {
		if (t->trio->base != m->apps[app] ||
		    t->socket != m->header.topology.cpus[cpu].socket)
			continue;
		while (t->at < t->times.n && t->times.data[t->at].end_ns <= at_ns)
			t->at++;
		if (t->at < t->times.n && t->times.data[t->at].start_ns <= at_ns)
			left *= 1 - t->trio->loss;
	}
	return left;
}

/* Returns the share of the IPC that an application loses beside the slice of the sibling CPU. */
static double loss_beside(const struct machine *m, uint32_t app, const struct slice *sibling)
{
	double loss;

	if (sibling->app == NO_APP)
		return 0;
	loss = world_loss(m->world, m->apps[app], m->apps[sibling->app]);
	return loss > 0 ? loss : SMT_LOSS;
}

/* Those of a sample for each 1,000 instructions. left: the share of the IPC that the application
 * keeps beside others. */
static void add_misses(struct machine *m, const struct world_app *app, double left)
{
	double usual = MISSES / app->ipc;
	double value =
		usual * (1 + MISSES_GAIN * (1 - left)) * (1 + app->noise * dice_normal(&m->chance));

	*vec_add(&m->misses) = value > 0 ? (uint32_t)(value * FLEET_IPC_SCALE) + 1 : 1;
}

/* Simulates the samples of a slice. *sibling: current slice of the core's other hardware thread. */
static void run_slice(struct machine *m, struct fleet_block *b, uint32_t cpu,
		      const struct slice *slice, const struct slice **sibling, double hour)
{
	const struct world_app *app = &m->world->apps.data[m->apps[slice->app]];
	double ipc = app->ipc * m->speed * m->instance[slice->app] * hour;
	uint64_t at_ns = slice->start_ns, length_ns;
	double beside = 1 - loss_beside(m, slice->app, *sibling), value, left;

	fleet_block_run(b, fleet_block_app(b, app->name), at_ns);
	for (; at_ns < slice->end_ns; at_ns += length_ns) {
		while ((*sibling)->end_ns <= at_ns) {
			++*sibling;
			beside = 1 - loss_beside(m, slice->app, *sibling);
		}
		left = beside * beside_two(m, slice->app, cpu, at_ns);
		value = ipc * left * (1 + app->noise * dice_normal(&m->dice));
		length_ns = (uint64_t)(PERIOD / (value * CLOCK_GHZ));
		if (at_ns + length_ns > slice->end_ns)
			break;
		fleet_block_sample(b, length_ns, (uint32_t)(value * FLEET_IPC_SCALE));
		if (m->header.n_more)
			add_misses(m, app, left);
	}
}

/* Adds tracks of the misses: the same samples, by the other indicator. */
static void add_other_tracks(const struct machine *m, struct fleet_block *b)
{
	size_t tracks = b->tracks.n;

	for (size_t i = 0; i < tracks; i++) {
		const struct fleet_track track = b->tracks.data[i];

		fleet_block_track_of(b, track.cpu, 1);
		for (uint32_t r = track.first_run; r < track.first_run + track.n_runs; r++) {
			const struct fleet_run run = b->runs.data[r];

			if (run.n)
				fleet_block_run(b, run.app, run.start_ns);
			for (uint32_t s = run.first; s < run.first + run.n; s++)
				fleet_block_sample(b,
						   b->samples.data[s].end_ns -
							   fleet_sample_start(b, &run, s),
						   m->misses.data[s]);
		}
	}
}

void machine_block(struct machine *m, struct fleet_block *b)
{
	uint64_t start_ns = START_NS + m->blocks * BLOCK_NS;
	double hour = 1 + WORLD_HOUR_NOISE * dice_normal(&m->dice);
	uint32_t cpus = m->header.topology.n;

	fleet_block_begin(b, m->blocks++, start_ns);
	m->misses.n = 0;
	for (uint32_t i = 0; i < cpus; i++)
		plan(m, &m->schedules[i], start_ns, start_ns + BLOCK_NS);
	vec_for_each (&m->trios, struct together, t)
		find_together(m, t);
	for (uint32_t i = 0; i < cpus; i++) {
		const struct slice *sibling = m->schedules[i ^ 1].data;

		fleet_block_track(b, i);
		vec_for_each (&m->trios, struct together, t)
			t->at = 0;
		vec_for_each (&m->schedules[i], const struct slice, slice)
			if (slice->app != NO_APP)
				run_slice(m, b, i, slice, &sibling, hour);
	}
	if (m->header.n_more)
		add_other_tracks(m, b);
}
