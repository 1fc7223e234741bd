/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording without -F: samples say where the time goes, the hot functions' calls (and those
 * of the blocking functions that the program imports) are counted for a moment, and what fits
 * into the overhead budget is traced. Sampling goes on at a low rate; what becomes hot later joins.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/bpfprog.h"
#include "probes/session_private.h"
#include "symbol/dso.h"

/* The first of two passes has nothing to spare for later: it asks often and traces nothing. */
#define SCOUT_HERTZ	      3989
#define SCOUT_WINDOW_NS	      30000000ull
#define SCOUT_COUNTING_NS     30000000ull
#define FIRST_HERTZ	      997
#define LATER_HERTZ	      SAMPLE_HERTZ
#define FIRST_WINDOW_NS	      400000000ull
#define FIRST_SAMPLES	      250 /* enough to see 1 %, roughly; the window ends early with them */
#define FIRST_WINDOW_LEAST_NS 100000000ull
#define LATER_WINDOW_NS	      3000000000ull
#define COUNTING_NS	      100000000ull
#define BRAKE_INTERVAL_NS     100000000ull
#define BRAKE_TOLERANCE	      1.5
#define BRAKE_SETS_MAX	      1024
#define CANDIDATES_MAX	      WIRE_COUNTS_MAX

static void on_sample(void *ctx, const struct sample *sample)
{
	profile_add(ctx, sample);
}

static uint32_t hertz_now(const struct session *s)
{
	if (s->options.scout)
		return SCOUT_HERTZ;
	return s->hybrid.rounds ? LATER_HERTZ : FIRST_HERTZ;
}

int session_hybrid_open(struct session *s, struct err *err)
{
	profile_init(&s->hybrid.profile, &s->spaces);
	return sampler_open(&s->hybrid.sampler, s->programs, &s->cpus, hertz_now(s), err);
}

void session_hybrid_start(struct session *s)
{
	s->hybrid.state_since_ns = clock_now_ns();
	session_sample_rate(s, hertz_now(s));
	bpfprog_sample(s->programs, true);
}

static bool known(struct session *s, const struct dso_function *f)
{
	vec_for_each (&s->selection.chosen, struct selected, c)
		if (c->function == f)
			return true;
	return false;
}

/* Imported blocking functions: where threads wait for each other, they wait in one of these. */
static int add_blocking(struct session *s, struct err *err)
{
	struct {
		VEC(const char *)
	} names = { 0 };
	struct patterns *patterns = NULL;
	struct dso **dsos = xcalloc(s->objects.n + 1, sizeof(*dsos));
	int ret = 0;

	for (size_t i = 0; i < s->objects.n; i++) {
		const char *const *imports;
		size_t n = dso_imports(s->objects.data[i].dso, &imports);

		dsos[i] = s->objects.data[i].dso;
		if (!s->objects.data[i].executable)
			continue;
		for (size_t k = 0; k < n; k++)
			if (blocking_kind(imports[k]))
				*vec_add(&names) = imports[k];
	}
	if (names.n)
		ret = patterns_parse(&patterns, names.data, names.n, err);
	if (!ret && names.n)
		ret = selection_add(&s->selection, patterns, dsos, s->objects.n, 0, err);
	/* The selection keeps pointing at the words of its patterns. */
	if (patterns)
		*vec_add(&s->hybrid.patterns) = patterns;
	vec_release(&names);
	free(dsos);
	return ret;
}

static double share(const struct session *s, uint64_t samples)
{
	return s->hybrid.profile.samples ? (double)samples / s->hybrid.profile.samples : 0;
}

static void add_hot(struct session *s)
{
	vec_for_each (&s->hybrid.profile.functions, struct profile_function, f) {
		struct selected *c;

		if (share(s, f->inclusive) < HYBRID_HOT_SHARE || known(s, f->function))
			continue;
		session_add_object(s, f->dso, f->path, false);
		c = vec_add(&s->selection.chosen);
		c->dso = f->dso;
		c->function = f->function;
		c->pattern = "";
		c->arguments = "";
	}
}

static int begin_counting(struct session *s, struct err *err)
{
	size_t first = s->plan.n, objects = s->objects.n, chosen = s->selection.chosen.n;
	struct probeset *set = &s->hybrid.counting;
	int ret = s->hybrid.rounds ? 0 : add_blocking(s, err);

	if (ret)
		return ret;
	add_hot(s);
	session_write_objects(s, objects);
	if (s->selection.chosen.n > chosen + CANDIDATES_MAX)
		s->selection.chosen.n = chosen + CANDIDATES_MAX;
	plan_add(&s->plan, &s->selection, chosen, &s->traits, s->kernel_version);
	s->hybrid.first_candidate = first;
	if (s->plan.n == first)
		return 0;
	probeset_init(set, s->dynevents, s->sets.n);
	bpfprog_count_from(s->programs, first);
	for (size_t i = first; i < s->plan.n; i++)
		if (s->plan.data[i]->possible)
			probeset_add_count(set, s->plan.data[i],
					   session_path(s, s->plan.data[i]->what.dso), i);
	ret = probeset_create(set, session_point_refused, s, err);
	if (!ret)
		ret = session_open_on_targets(s, set, err);
	s->hybrid.state = HYBRID_COUNTING;
	s->hybrid.state_since_ns = clock_now_ns();
	return ret;
}

/* CPU seconds a second of the target, from its samples. */
static double target_cpus(const struct session *s, uint64_t window_ns)
{
	return window_ns ? s->hybrid.profile.samples * (1e9 / hertz_now(s)) / window_ns : 0;
}

static const struct profile_function *profile_of(const struct session *s, const struct planned *p)
{
	uint32_t i = map_get(&s->hybrid.profile.by_function, (uintptr_t)p->what.function);

	return i == MAP_NONE ? NULL : &s->hybrid.profile.functions.data[i];
}

/* Waiting first, then callers before the leaves below them. */
static double rank(const struct planned *p)
{
	return (blocking_kind(p->what.function->symbol) ? 1 : 0) +
	       (isnan(p->cpu_share) ? 0 : p->cpu_share);
}

static int by_rank(const void *a, const void *b)
{
	const struct planned *x = *(struct planned *const *)a, *y = *(struct planned *const *)b;

	return rank(x) < rank(y) ? 1 : rank(x) > rank(y) ? -1 : 0;
}

static void choose(struct session *s, double counted_s, double cpus)
{
	size_t first = s->hybrid.first_candidate, n = s->plan.n - first;
	struct planned **ranked = xcalloc(n + 1, sizeof(*ranked));

	for (size_t i = 0; i < n; i++) {
		struct planned *p = s->plan.data[first + i];
		const struct profile_function *f = profile_of(s, p);

		p->calls_per_s = bpfprog_count(s->programs, first + i) / counted_s;
		p->cost_share =
			cpus > 0 ? p->calls_per_s * session_call_cost_ns(s, p) / 1e9 / cpus : 0;
		p->cpu_share = f ? share(s, f->inclusive) : NAN;
		ranked[i] = p;
	}
	qsort(ranked, n, sizeof(*ranked), by_rank);
	for (size_t i = 0; i < n; i++) {
		struct planned *p = ranked[i];

		if (!p->possible)
			continue;
		if (s->hybrid.spent + p->cost_share > s->options.overhead) {
			p->possible = false;
			p->reason = "over the overhead budget";
			continue;
		}
		s->hybrid.spent += p->cost_share;
	}
	free(ranked);
}

static int end_counting(struct session *s, struct err *err)
{
	uint64_t now = clock_now_ns();
	struct probeset *set = NULL;
	double cpus = target_cpus(s, now - s->hybrid.window_since_ns);
	int ret;

	choose(s, (now - s->hybrid.state_since_ns) / 1e9, cpus);
	probeset_release(&s->hybrid.counting);
	ret = s->options.scout ? 0 : session_build_set(s, s->hybrid.first_candidate, &set, err);
	if (!ret && set)
		ret = session_open_on_targets(s, set, err);
	if (!ret && set)
		session_write_set(s, set, true);
	if (!s->hybrid.rounds++ && !s->options.scout) {
		sampler_set_rate(&s->hybrid.sampler, LATER_HERTZ);
		session_sample_rate(s, LATER_HERTZ);
	}
	profile_begin_window(&s->hybrid.profile);
	s->hybrid.window_since_ns = s->hybrid.state_since_ns = clock_now_ns();
	s->hybrid.state = HYBRID_SAMPLING;
	return ret;
}

/* What each traced function has cost since the last look, as a share of the CPU time; returns the
 * sum. */
static double measure_costs(struct session *s, double elapsed_ns, double cpu_ns)
{
	double sum = 0;

	for (size_t i = 0; i < s->drain.n_functions; i++) {
		struct planned *p = s->plan.data[i];
		uint64_t calls = s->drain.calls_of[i] - p->calls_before;

		p->calls_before = s->drain.calls_of[i];
		if (!p->possible)
			continue;
		p->calls_per_s = calls * 1e9 / elapsed_ns;
		p->cost_share = calls * session_call_cost_ns(s, p) / cpu_ns;
		sum += p->cost_share;
	}
	return sum;
}

static struct planned *dearest(struct session *s)
{
	struct planned *most = NULL;

	for (size_t i = 0; i < s->drain.n_functions; i++) {
		struct planned *p = s->plan.data[i];

		if (p->possible && (!most || p->cost_share > most->cost_share))
			most = p;
	}
	return most;
}

/*
 * A program that changes may call a function far more often than when its calls were counted.
 * While the probes cost more than the budget, the dearest functions are taken out again.
 */
static int brake(struct session *s, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.brake_since_ns, cpu_ns = session_target_cpu_ns(s);
	uint64_t used_ns = cpu_ns > s->hybrid.brake_cpu_ns ? cpu_ns - s->hybrid.brake_cpu_ns : 0;
	bool touched[BRAKE_SETS_MAX] = { false };
	double sum;
	int ret = 0;

	if (elapsed_ns < BRAKE_INTERVAL_NS)
		return 0;
	s->hybrid.brake_since_ns = now;
	s->hybrid.brake_cpu_ns = cpu_ns;
	sum = measure_costs(s, elapsed_ns, used_ns > elapsed_ns / 20 ? used_ns : elapsed_ns / 20.);
	if (sum > BRAKE_TOLERANCE * s->options.overhead) {
		while (sum > s->options.overhead) {
			struct planned *p = dearest(s);

			if (!p || p->set >= BRAKE_SETS_MAX)
				break;
			sum -= p->cost_share;
			p->possible = false;
			p->reason = "over the overhead budget once traced";
			touched[p->set] = true;
			session_describe_left_out(s, p);
		}
		s->hybrid.spent = sum;
	}
	for (size_t k = 0; k < s->sets.n && k < BRAKE_SETS_MAX && !ret; k++)
		if (touched[k])
			ret = session_rebuild_set(s, k, err);
	return ret;
}

static bool window_over(const struct session *s, uint64_t now)
{
	uint64_t elapsed = now - s->hybrid.window_since_ns;

	if (s->options.scout)
		return elapsed >= SCOUT_WINDOW_NS;
	if (s->hybrid.rounds)
		return elapsed >= LATER_WINDOW_NS;
	return elapsed >= FIRST_WINDOW_NS ||
	       (elapsed >= FIRST_WINDOW_LEAST_NS && s->hybrid.profile.samples >= FIRST_SAMPLES);
}

static uint64_t counting_ns(const struct session *s)
{
	return s->options.scout ? SCOUT_COUNTING_NS : COUNTING_NS;
}

int session_hybrid_interval_ms(const struct session *s)
{
	return s->options.scout || s->hybrid.state == HYBRID_COUNTING ? 10 : DRAIN_INTERVAL_MS;
}

int session_hybrid_step(struct session *s, struct err *err)
{
	uint64_t now = clock_now_ns();
	int ret;

	sampler_read(&s->hybrid.sampler, on_sample, &s->hybrid.profile);
	if (!s->hybrid.window_since_ns)
		s->hybrid.window_since_ns = s->hybrid.state_since_ns;
	ret = s->options.scout ? 0 : brake(s, now, err);
	if (ret)
		return ret;
	if (s->hybrid.state == HYBRID_COUNTING)
		return now - s->hybrid.state_since_ns >= counting_ns(s) ? end_counting(s, err) : 0;
	if (!window_over(s, now))
		return 0;
	ret = begin_counting(s, err);
	if (!ret && s->hybrid.state == HYBRID_SAMPLING) { /* nothing new */
		profile_begin_window(&s->hybrid.profile);
		s->hybrid.window_since_ns = now;
	}
	return ret;
}

void session_hybrid_stop(struct session *s)
{
	bpfprog_sample(s->programs, false);
	probeset_release(&s->hybrid.counting);
	if (!s->hybrid.rounds && !s->options.scout)
		session_write_notice(
			s, "too-short",
			"the program ended before ispot had chosen functions to trace; name them "
			"with -F, or run it twice with --two-pass");
}

void session_hybrid_release(struct session *s)
{
	probeset_release(&s->hybrid.counting);
	sampler_release(&s->hybrid.sampler);
	profile_release(&s->hybrid.profile);
	vec_for_each (&s->hybrid.patterns, struct patterns *, p)
		patterns_free(*p);
	vec_release(&s->hybrid.patterns);
}

static void add_pattern(struct text *patterns, const struct dso *dso, const struct dso_function *f)
{
	text_printf(patterns, "%s:%s\n", dso_path(dso), f->symbol);
}

/* What a scout found: candidates within the budget, and what was hot but never counted. */
void session_hybrid_patterns(struct session *s, struct text *patterns)
{
	add_blocking(s, NULL);
	add_hot(s);
	for (size_t i = 0; i < s->selection.chosen.n; i++) {
		const struct selected *c = &s->selection.chosen.data[i];

		if (i >= s->plan.n || s->plan.data[i]->possible)
			add_pattern(patterns, c->dso, c->function);
	}
}
