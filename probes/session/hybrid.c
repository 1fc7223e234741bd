/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording without -F. Samples show where the time goes. The calls of hot functions, and of
 * blocking functions that the program imports, are counted for a moment (count.c). The functions
 * that fit into the overhead budget are traced as long as they do (throttle.c). Sampling continues
 * at a low rate, and functions that become hot later join.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/select/blocking.h"
#include "probes/select/marker.h"
#include "probes/select/pattern.h"
#include "probes/session/internal.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

/* The first of two passes needs no budget for later: it samples often and traces nothing. */
#define SCOUT_HERTZ	      1999
#define SCOUT_WINDOW_NS	      30000000ull
#define LATER_HERTZ	      SAMPLE_HERTZ
#define LOST_SAID	      0.5 /* of the samples: if fewer were lost, the choice is as good */
#define SHARE_OF_BUDGET	      0.2 /* of the budget, for the first samples */
#define FIRST_WINDOW_NS	      400000000ull
#define FIRST_SAMPLES	      250 /* enough to see about 1%; they end the first window early */
#define FIRST_WINDOW_LEAST_NS 100000000ull
#define LATER_WINDOW_NS	      3000000000ull
#define BETWEEN_NS	      400000000ull /* between checks for functions with a large share */
#define LARGE_SHARE	      0.05
#define ENOUGH_SAMPLES	      500
#define LOOK_MS		      20 /* between checks of the cost of tracing */
#define SCOUT_LOOK_MS	      10
#define COUNTING_LOOK_MS      2
#define UNNAMED_SHARE	      0.1 /* of the CPU time: from here on worth a notice */
#define UNNAMED_SAMPLES	      50
#define CANDIDATES_MAX	      WIRE_COUNTS_MAX

/* The first rate that the budget allows is used. None of them divides the usual periods of
 * programs. */
static const uint32_t first_rates[] = { 997, 797, 599, 397, 293, 197, LATER_HERTZ };
#define N_RATES (sizeof(first_rates) / sizeof(*first_rates))

/* Handles a sample. A chain by frame pointers ends early in code without them; the copy of the
 * stack shows more if it can be unwound. */
static void on_sample(void *ctx, const struct sample *sample)
{
	uint64_t frames[SAMPLE_FRAMES_MAX];
	struct sample unwound = *sample;
	struct session *s = ctx;

	/* Counting makes the counted functions look hotter than they are. */
	if (s->hybrid.state == HYBRID_COUNTING)
		return;
	if (sample->registers && sample->stack_bytes) {
		unwound.frames = frames;
		unwound.n_frames = session_unwind(&s->stacks, &s->r, sample->tgid,
						  sample->registers, sample->stack,
						  sample->stack_bytes, frames, SAMPLE_FRAMES_MAX);
		if (unwound.n_frames <= sample->n_frames)
			unwound = *sample;
	}
	profile_add(&s->hybrid.profile, &unwound);
}

static uint32_t hertz_now(const struct session *s)
{
	if (s->r.options->scout)
		return SCOUT_HERTZ;
	return s->hybrid.seldom ? LATER_HERTZ : s->hybrid.first_hertz;
}

void session_hybrid_rate(struct session *s)
{
	double allowed =
		SHARE_OF_BUDGET * s->r.options->overhead * 1e9 / session_sample_cost_ns(&s->costs);
	size_t i = 0;

	if (s->r.options->scout || !s->hybrid.sampler.rings.n)
		return;
	while (i + 1 < N_RATES && first_rates[i] > allowed) /* NAN: the first rate */
		i++;
	s->hybrid.first_hertz = s->r.is_hybrid ? first_rates[i] : SAMPLE_HERTZ;
	sampler_set_rate(&s->hybrid.sampler, s->r.is_hybrid ? hertz_now(s) : SAMPLE_HERTZ);
	log_detail("the first samples come %u times a second", s->hybrid.first_hertz);
}

int session_hybrid_open(struct session *s, struct err *err)
{
	profile_init(&s->hybrid.profile, &s->r.spaces);
	s->hybrid.first_hertz = first_rates[0];
	return sampler_open(&s->hybrid.sampler, s->r.programs, &s->r.cpus, hertz_now(s),
			    s->r.options->call_graph == CALL_GRAPH_DWARF ? STACK_COPY_BYTES : 0,
			    err);
}

void session_hybrid_start(struct session *s)
{
	s->hybrid.state_since_ns = clock_now_ns();
	session_sample_rate(s, hertz_now(s));
	bpfprog_sample(s->r.programs, true);
}

struct names {
	VEC(const char *)
};

static void add_name(struct names *names, const char *name)
{
	vec_for_each (names, const char *, known)
		if (!strcmp(*known, name))
			return;
	*vec_add(names) = name;
}

/* Adds the blocking functions that the object imports: all for the program, only locks for its
 * libraries, and those once threads wait for them. */
static void add_imports(const struct session *s, const struct session_object *o,
			struct names *names)
{
	const char *const *imports;
	size_t n = dso_imports(o->dso, &imports);

	for (size_t i = 0; i < n; i++) {
		bool locks = session_contends(s) && blocking_on_threads(imports[i]);
		const char *release = blocking_release(imports[i]);

		if (!locks && (!o->executable || !blocking_kind(imports[i])))
			continue;
		add_name(names, imports[i]);
		if (locks && release)
			add_name(names, release);
	}
}

static int add_named(struct session *s, const struct names *names, struct err *err)
{
	struct patterns *patterns = NULL;
	struct dso **dsos = xcalloc(s->r.objects.n + 1, sizeof(*dsos));
	int ret = 0;

	for (size_t i = 0; i < s->r.objects.n; i++)
		dsos[i] = s->r.objects.data[i].dso;
	if (names->n)
		ret = patterns_parse(&patterns, names->data, names->n, err);
	if (!ret && names->n)
		ret = selection_add(&s->selection, patterns, dsos, s->r.objects.n, 0, err);
	/* The selection keeps pointers to the words of its patterns. */
	if (patterns)
		*vec_add(&s->hybrid.patterns) = patterns;
	free(dsos);
	return ret;
}

/* Adds imported blocking functions: threads that wait for each other wait in one of these. */
static int add_blocking(struct session *s, struct err *err)
{
	struct names names = { 0 };
	int ret;

	vec_for_each (&s->r.objects, struct session_object, o)
		add_imports(s, o, &names);
	ret = add_named(s, &names, err);
	s->hybrid.locks_added = session_contends(s);
	vec_release(&names);
	return ret;
}

static bool imports_region(const struct session *s)
{
	vec_for_each (&s->r.objects, struct session_object, o) {
		const char *const *imports;
		size_t n = dso_imports(o->dso, &imports);

		for (size_t i = 0; i < n; i++)
			if (session_is_region(s, imports[i]))
				return true;
	}
	return false;
}

/* Adds the bodies of parallel regions. They may take hardly any time, but only they show which
 * thread is slowest. */
static int add_regions(struct session *s, struct err *err)
{
	struct names names = { 0 };
	int ret;

	if (!imports_region(s))
		return 0;
	for (const char *const *glob = s->r.options->regions; *glob; glob++)
		add_name(&names, *glob);
	ret = add_named(s, &names, err);
	vec_release(&names);
	return ret;
}

/* Adds markers. Whoever put them into the program wants them measured, however little time they
 * take. */
static int add_markers(struct session *s, struct err *err)
{
	size_t first = s->hybrid.marked_objects;
	struct names names = { 0 };
	int ret = 0;

	s->hybrid.marked_objects = s->r.objects.n;
	if (!session_has_markers(&s->r.objects, first))
		return 0;
	add_name(&names, "marker:*");
	ret = add_named(s, &names, err);
	vec_release(&names);
	return ret;
}

/* Returns whether the object is only a loader of programs and libraries. That of musl is also its
 * libc. */
static bool is_loader(const struct session *s, struct dso *dso)
{
	const uint32_t *indices;
	struct dso *loader;

	vec_for_each (&s->r.objects, struct session_object, o)
		if (dso_interp(o->dso) &&
		    !dso_get(s->r.objects.dsos, dso_interp(o->dso), &loader, NULL) && loader == dso)
			return !dso_find(dso, "pthread_mutex_lock", &indices);
	return false;
}

static bool is_candidate(struct session *s, const struct profile_function *f, double share)
{
	return profile_is_hot(&s->hybrid.profile, f, share) &&
	       !blocking_part(f->function->symbol) && !is_loader(s, f->dso);
}

static void add_hot(struct session *s, double least)
{
	vec_for_each (&s->hybrid.profile.functions, struct profile_function, f) {
		if (!is_candidate(s, f, least))
			continue;
		session_add_object(&s->r.objects, f->dso, f->path, false);
		selection_add_function(&s->selection, f->dso, f->function);
	}
}

/* Adds the functions that are hot now to the plan. */
static int add_candidates(struct session *s, double least, struct err *err)
{
	size_t objects = s->r.objects.n, chosen = s->selection.chosen.n;
	bool locks = session_contends(s) && !s->hybrid.locks_added;
	bool first = !s->hybrid.rounds && !s->r.plan.n;
	int ret = first || locks ? add_blocking(s, err) : 0;

	if (!ret)
		ret = add_markers(s, err);
	if (ret)
		return ret;
	add_hot(s, least);
	/* Regions come last, because a library may have more of them than can be counted. */
	ret = first ? add_regions(s, err) : 0;
	if (ret)
		return ret;
	if (s->r.writer)
		session_write_objects(&s->r, objects);
	if (s->selection.chosen.n > chosen + CANDIDATES_MAX) {
		selection_keep(&s->selection, chosen + CANDIDATES_MAX);
		s->hybrid.marked_objects = 0; /* the next round finds the others */
	}
	s->hybrid.first_candidate = s->r.plan.n;
	plan_add(&s->r.plan, &s->selection, chosen, &s->r.objects.traits, s->r.kernel_version);
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];

		p->asked = true;
		if (p->possible && p->what.marker && marker_is_endless(p->what.marker)) {
			p->possible = false;
			p->reason = "it has no end";
		}
		p->region = session_is_region(s, p->what.function->symbol);
	}
	for (size_t i = 0; i < s->r.plan.n; i++)
		s->r.plan.data[i]->cpu_share =
			profile_share(&s->hybrid.profile, s->r.plan.data[i]->what.function);
	return 0;
}

static void begin_window(struct session *s, uint64_t now)
{
	profile_begin_window(&s->hybrid.profile);
	s->hybrid.window_since_ns = now;
	s->hybrid.state = HYBRID_SAMPLING;
}

/* Traces the functions that were counted and fit into the budget from here on. */
static int end_round(struct session *s, struct err *err)
{
	struct probeset *set = NULL;
	int ret;

	ret = s->r.options->scout ? 0 : session_rejoin(s, err);
	if (!ret && !s->r.options->scout)
		ret = session_build_set(s, s->hybrid.first_candidate, &set, err);
	if (!ret && set)
		ret = session_open_on_targets(&s->attach, &s->r, set, err);
	if (!ret && set)
		session_write_set(&s->r, set, true);
	if (!ret)
		ret = session_beside_attach(s, err);
	s->hybrid.rounds++;
	begin_window(s, clock_now_ns());
	return ret;
}

static int begin_round(struct session *s, bool window_over, struct err *err)
{
	int ret = add_candidates(s, window_over ? HYBRID_HOT_SHARE : LARGE_SHARE, err);

	if (!ret && window_over && s->hybrid.rounds && !s->r.options->scout)
		session_ask_again(s);
	if (ret || s->r.plan.n == s->hybrid.first_candidate)
		return ret;
	s->hybrid.state = HYBRID_COUNTING;
	return session_count_begin(s, err);
}

static bool first_window_over(const struct session *s, uint64_t elapsed_ns)
{
	if (s->r.options->scout)
		return elapsed_ns >= SCOUT_WINDOW_NS;
	return elapsed_ns >= FIRST_WINDOW_NS ||
	       (elapsed_ns >= FIRST_WINDOW_LEAST_NS && s->hybrid.profile.samples >= FIRST_SAMPLES);
}

/* Lowers the sampling rate once the choice does not depend on chance. */
static void sample_seldom(struct session *s, uint64_t now)
{
	if (s->r.options->scout || s->hybrid.seldom || !s->hybrid.rounds ||
	    (s->hybrid.profile.total_samples < ENOUGH_SAMPLES &&
	     now - s->r.open_ns < LATER_WINDOW_NS))
		return;
	s->hybrid.seldom = true;
	sampler_set_rate(&s->hybrid.sampler, hertz_now(s));
	session_sample_rate(s, hertz_now(s));
}

/*
 * Checks what is hot. Windows are long, so that few samples per second reveal a share of one
 * percent. A larger share shows sooner, so it need not wait for the end of a window.
 */
static int check_hot(struct session *s, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - s->hybrid.window_since_ns;
	bool over = s->hybrid.rounds && !s->r.options->scout ? elapsed_ns >= LATER_WINDOW_NS
							     : first_window_over(s, elapsed_ns);
	int ret;

	if (s->r.options->choose_ns && s->hybrid.rounds &&
	    now - s->r.open_ns > s->r.options->choose_ns)
		return 0;
	if (!over && (!s->hybrid.rounds || now - s->hybrid.looked_ns < BETWEEN_NS))
		return 0;
	s->hybrid.looked_ns = now;
	ret = begin_round(s, over, err);
	if (over && s->hybrid.state == HYBRID_SAMPLING)
		begin_window(s, clock_now_ns());
	return ret;
}

int session_hybrid_interval_ms(const struct session *s)
{
	if (s->hybrid.state == HYBRID_COUNTING)
		return COUNTING_LOOK_MS;
	return s->r.options->scout ? SCOUT_LOOK_MS : LOOK_MS;
}

int session_hybrid_step(struct session *s, struct err *err)
{
	uint64_t now = clock_now_ns();
	bool counted;
	int ret;

	s->hybrid.profile.period_ns = 1e9 / hertz_now(s);
	sampler_read(&s->hybrid.sampler, on_sample, s);
	if (!s->hybrid.window_since_ns)
		s->hybrid.window_since_ns = s->hybrid.state_since_ns;
	if (s->hybrid.state == HYBRID_COUNTING) {
		ret = session_count_look(s, now, &counted, err);
		return !ret && counted ? end_round(s, err) : ret;
	}
	sample_seldom(s, now);
	return check_hot(s, now, err);
}

/* Reports where the time goes if its code has no names, because such code cannot be chosen. */
static void report_unnamed(struct session *s)
{
	const struct profile_object *o = profile_most_unnamed(&s->hybrid.profile);
	char words[1024];

	if (!o || o->time_ns < UNNAMED_SHARE * s->hybrid.profile.total_ns ||
	    s->hybrid.profile.total_samples < UNNAMED_SAMPLES)
		return;
	snprintf(words, sizeof(words),
		 "%.600s (%.0f%% of the CPU time) has no symbols; install its -dbgsym package",
		 text_base_name(dso_path(o->dso)), 100 * o->time_ns / s->hybrid.profile.total_ns);
	session_write_notice(&s->r, "no-symbols", words);
}

static void report_lost(struct session *s)
{
	uint64_t lost = sampler_lost(&s->hybrid.sampler), kept = s->hybrid.profile.total_samples;
	bool many = (double)lost > LOST_SAID * (double)(lost + kept);
	char samples[TEXT_NUMBER], words[256];

	if (!lost || (!s->hybrid.rounds && !s->r.options->scout))
		return;
	snprintf(words, sizeof(words),
		 "ispot dropped %s of the CPUs and chose the functions by the other %" PRIu64,
		 text_counted(samples, lost, "sample"), kept);
	if (many)
		log_notice("%s", words);
	session_note(&s->r, many ? "lost-samples" : "few-lost-samples", words);
}

/* Updates the shares of the functions. When they were chosen, there were few samples or none. */
static void report_shares(struct session *s)
{
	vec_for_each (&s->r.plan, struct planned *, each) {
		struct planned *p = *each;
		double share = profile_share(&s->hybrid.profile, p->what.function);
		bool out = !p->possible && !p->is_beside && *p->reason && p->set == PLANNED_NO_SET;

		if (isnan(share) || share == p->cpu_share)
			continue;
		p->cpu_share = share;
		if (out && (p->told || share >= HYBRID_HOT_SHARE))
			session_describe_left_out(s, p, 0);
	}
}

static void report_no_choice(struct session *s)
{
	uint64_t lost = sampler_lost(&s->hybrid.sampler), kept = s->hybrid.profile.total_samples;
	char samples[TEXT_NUMBER], words[256];

	if (lost <= kept) {
		session_write_notice(
			&s->r, "too-short",
			"the recording ended before ispot had chosen functions to trace; let it "
			"last longer, name them with -F, or run a command twice with --two-pass");
		return;
	}
	snprintf(
		words, sizeof(words),
		"the machine was too busy for ispot to choose functions: it dropped %s of the CPUs "
		"and kept %" PRIu64 "; name functions with -F, or record when less else runs",
		text_counted(samples, lost, "sample"), kept);
	session_write_notice(&s->r, "too-short", words);
}

void session_hybrid_stop(struct session *s)
{
	bpfprog_sample(s->r.programs, false);
	sampler_read(&s->hybrid.sampler, on_sample, s);
	report_lost(s);
	if (s->hybrid.state == HYBRID_COUNTING)
		session_count_stop(s);
	probeset_release(&s->hybrid.counting);
	if (!s->r.options->scout) {
		report_shares(s);
		report_unnamed(s);
	}
	if (!s->hybrid.rounds && !s->r.options->scout && !s->began_at_end)
		report_no_choice(s);
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

static void add_choice(struct session_choice *choice, const struct selected *c, double share)
{
	struct text pattern = { 0 };

	if (c->marker) /* the symbol of a marker is a pattern */
		text_add(&pattern, c->function->symbol);
	else
		text_printf(&pattern, "%s:%s", dso_path(c->dso), c->function->symbol);
	*vec_add(&choice->patterns) = pattern.s;
	*vec_add(&choice->shares) = share;
}

/*
 * Chooses what a scout found, within the budget: everything that blocks and, of the functions that
 * were hot in some window, those that are hot in the whole run. A function that was never counted
 * has no known cost: the second pass removes it if it is too costly.
 */
void session_hybrid_pick(struct session *s, double room)
{
	struct planned **all = xcalloc(s->r.plan.n + 1, sizeof(struct planned *));

	for (size_t i = 0; i < s->r.plan.n; i++) {
		struct planned *p = all[i] = s->r.plan.data[i];

		if (!p->possible || *p->what.pattern ||
		    profile_is_hot_overall(&s->hybrid.profile, p->what.function, HYBRID_HOT_SHARE))
			continue;
		p->possible = false;
		p->reason = "hot for a moment only";
	}
	session_choose(all, s->r.plan.n, session_contends(s), room, session_over_budget);
	session_give_turns(all, s->r.plan.n);
	session_drop_releases(s, all, s->r.plan.n, session_over_budget);
	free(all);
}

static void add_left_out(struct session_choice *choice, const struct planned *p)
{
	struct meta_not_traced n = session_left_out(p);

	n.name = xstrdup(n.name);
	n.object = xstrdup(n.object);
	n.reason = xstrdup(n.reason);
	*vec_add(&choice->left_out) = n;
}

void session_hybrid_choice(struct session *s, struct session_choice *choice)
{
	if (add_candidates(s, HYBRID_HOT_SHARE, NULL))
		return;
	session_hybrid_pick(s, session_choice_room(s));
	for (size_t i = 0; i < s->r.plan.n; i++) {
		const struct planned *p = s->r.plan.data[i];

		if (p->possible)
			add_choice(choice, &p->what, p->cpu_share);
		else if (p->what.marker ||
			 profile_is_hot_overall(&s->hybrid.profile, p->what.function,
						HYBRID_HOT_SHARE))
			add_left_out(choice, p);
	}
}
