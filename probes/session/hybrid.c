/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/hybrid.h"

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
#include "probes/recording/costs.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/recording/stacks.h"
#include "probes/select/blocking.h"
#include "probes/select/marker.h"
#include "probes/select/pattern.h"
#include "probes/session/again.h"
#include "probes/session/attach.h"
#include "probes/session/beside.h"
#include "probes/session/budget.h"
#include "probes/session/choose.h"
#include "probes/session/count.h"
#include "probes/session/sample.h"
#include "probes/session/select.h"
#include "probes/session/set.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/package.h"

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

struct reading {
	struct hybrid *h;
	struct recording *r;
};

/* Handles a sample. A chain by frame pointers ends early in code without them; the copy of the
 * stack shows more if it can be unwound. */
static void on_sample(void *ctx, const struct sample *sample)
{
	uint64_t frames[SAMPLE_FRAMES_MAX];
	struct sample unwound = *sample;
	const struct reading *x = ctx;
	struct hybrid *h = x->h;

	/* Counting makes the counted functions look hotter than they are. */
	if (h->is_counting)
		return;
	if (sample->registers && sample->stack_bytes) {
		unwound.frames = frames;
		unwound.n_frames = stacks_unwind(h->stacks, x->r, sample->tgid, sample->registers,
						 sample->stack, sample->stack_bytes, frames,
						 SAMPLE_FRAMES_MAX);
		if (unwound.n_frames <= sample->n_frames)
			unwound = *sample;
	}
	profile_add(&h->profile, &unwound);
}

static uint32_t hertz_now(const struct hybrid *h, const struct recording *r)
{
	if (r->options->scout)
		return SCOUT_HERTZ;
	return h->seldom ? LATER_HERTZ : h->first_hertz;
}

static void read_samples(struct hybrid *h, struct recording *r)
{
	struct reading x = { h, r };

	h->profile.period_ns = 1e9 / hertz_now(h, r);
	session_sample_read(h->sampling, on_sample, &x);
}

void session_hybrid_rate(struct hybrid *h, const struct recording *r)
{
	double allowed = SHARE_OF_BUDGET * recording_budget(r) * 1e9 / costs_sample_ns(h->costs);
	size_t i = 0;

	if (r->options->scout || !session_takes_samples(h->sampling))
		return;
	while (i + 1 < N_RATES && first_rates[i] > allowed) /* NAN: the first rate */
		i++;
	h->first_hertz = first_rates[i];
	session_sample_set_rate(h->sampling, hertz_now(h, r));
	log_detail("the first samples come %u times a second", h->first_hertz);
}

int session_hybrid_open(struct hybrid *h, struct recording *r, struct err *err)
{
	profile_init(&h->profile, &r->spaces);
	h->first_hertz = first_rates[0];
	return session_sample_open_at(
		h->sampling, r, hertz_now(h, r),
		r->options->call_graph == CALL_GRAPH_DWARF ? STACK_COPY_BYTES : 0, err);
}

void session_hybrid_start(struct hybrid *h, struct recording *r)
{
	h->since_ns = clock_now_ns();
	session_sample_rate(r, hertz_now(h, r));
	bpfprog_sample(r->programs, true);
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
static void add_imports(const struct recording *r, const struct traced_object *o,
			struct names *names)
{
	const char *const *imports;
	size_t n = dso_imports(o->dso, &imports);

	for (size_t i = 0; i < n; i++) {
		bool locks = session_contends(r) && blocking_on_threads(imports[i]);
		const char *release = blocking_release(imports[i]);

		if (!locks && (!o->executable || !blocking_kind(imports[i])))
			continue;
		add_name(names, imports[i]);
		if (locks && release)
			add_name(names, release);
	}
}

static int add_named(struct hybrid *h, const struct recording *r, const struct names *names,
		     struct err *err)
{
	struct patterns *patterns;
	int ret;

	if (!names->n)
		return 0;
	ret = patterns_parse(&patterns, names->data, names->n, err);
	if (ret)
		return ret;
	/* The selection keeps pointers to the words of its patterns. */
	*vec_add(&h->patterns) = patterns;
	return session_select_matching(h->select, r, patterns, err);
}

/* Adds imported blocking functions: threads that wait for each other wait in one of these. */
static int add_blocking(struct hybrid *h, struct recording *r, struct err *err)
{
	struct names names = { 0 };
	int ret;

	vec_for_each (&r->objects, struct traced_object, o)
		add_imports(r, o, &names);
	ret = add_named(h, r, &names, err);
	h->locks_added = session_contends(r);
	vec_release(&names);
	return ret;
}

static void add_imported_waits(const struct traced_object *o, struct names *names)
{
	const char *const *imports;
	const size_t n = dso_imports(o->dso, &imports);

	for (size_t i = 0; o->executable && i < n; i++)
		if (blocking_on_threads(imports[i]))
			add_name(names, imports[i]);
}

/*
 * Before a command runs, only its imports are known. The functions in which its threads wait for
 * each other are traced from its first instruction on, so that a short recording has their calls,
 * too. If they are called too often, the budget removes them, and the first round counts them.
 */
int session_hybrid_trace_waits(struct hybrid *h, struct recording *r, struct err *err)
{
	const size_t first = r->plan.n, chosen = session_n_selected(h->select);
	struct names names = { 0 };
	struct probeset *set;
	int ret;

	if (r->options->n_pids || r->options->scout)
		return 0;
	vec_for_each (&r->objects, struct traced_object, o)
		add_imported_waits(o, &names);
	ret = add_named(h, r, &names, err);
	vec_release(&names);
	if (ret)
		return ret;
	session_plan_selected(h->select, r, chosen);
	ret = session_build_set(r, h->costs, first, &set, err);
	return ret || !set ? ret : session_open_on_targets(h->attach, r, set, err);
}

static bool imports_region(const struct recording *r)
{
	vec_for_each (&r->objects, struct traced_object, o) {
		const char *const *imports;
		size_t n = dso_imports(o->dso, &imports);

		for (size_t i = 0; i < n; i++)
			if (session_is_region(r, imports[i]))
				return true;
	}
	return false;
}

/* Adds the bodies of parallel regions. They may take hardly any time, but only they show which
 * thread is slowest. */
static int add_regions(struct hybrid *h, const struct recording *r, struct err *err)
{
	struct names names = { 0 };
	int ret;

	if (!imports_region(r))
		return 0;
	for (const char *const *glob = r->options->regions; *glob; glob++)
		add_name(&names, *glob);
	ret = add_named(h, r, &names, err);
	vec_release(&names);
	return ret;
}

/* Adds markers. Whoever put them into the program wants them measured, however little time they
 * take. */
static int add_markers(struct hybrid *h, const struct recording *r, struct err *err)
{
	size_t first = h->marked_objects;
	struct names names = { 0 };
	int ret = 0;

	h->marked_objects = r->objects.n;
	if (!objects_have_markers(&r->objects, first))
		return 0;
	add_name(&names, "marker:*");
	ret = add_named(h, r, &names, err);
	vec_release(&names);
	return ret;
}

/* Returns whether the object is only a loader of programs and libraries. That of musl is also its
 * libc. */
static bool is_loader(const struct recording *r, struct dso *dso)
{
	const uint32_t *indices;
	struct dso *loader;

	vec_for_each (&r->objects, struct traced_object, o)
		if (dso_interp(o->dso) &&
		    !dso_get(r->objects.dsos, dso_interp(o->dso), &loader, NULL) && loader == dso)
			return !dso_find(dso, "pthread_mutex_lock", &indices);
	return false;
}

static bool is_candidate(const struct hybrid *h, const struct recording *r,
			 const struct profile_function *f, double share)
{
	return profile_is_hot(&h->profile, f, share) && !blocking_part(f->function->symbol) &&
	       !dso_is_go(f->dso) && !is_loader(r, f->dso);
}

static void add_hot(struct hybrid *h, struct recording *r, double least)
{
	vec_for_each (&h->profile.functions, struct profile_function, f) {
		if (!is_candidate(h, r, f, least))
			continue;
		objects_add(&r->objects, f->dso, f->path, false);
		session_select_function(h->select, f->dso, f->function);
	}
}

/* Adds the functions that are hot now to the plan. */
static int add_candidates(struct hybrid *h, struct recording *r, double least, struct err *err)
{
	size_t objects = r->objects.n, chosen = session_n_selected(h->select);
	bool locks = session_contends(r) && !h->locks_added;
	bool first = !h->has_looked;
	int ret;

	if (first)
		session_select_dropped_again(h->select, r);
	ret = first || locks ? add_blocking(h, r, err) : 0;

	if (!ret)
		ret = add_markers(h, r, err);
	if (ret)
		return ret;
	add_hot(h, r, least);
	/* Regions come last, because a library may have more of them than can be counted. */
	ret = first ? add_regions(h, r, err) : 0;
	if (ret)
		return ret;
	if (r->writer)
		objects_write(r, objects);
	if (session_n_selected(h->select) > chosen + CANDIDATES_MAX) {
		session_select_keep(h->select, chosen + CANDIDATES_MAX);
		h->marked_objects = 0; /* the next round finds the others */
	}
	h->first_candidate = r->plan.n;
	session_plan_selected(h->select, r, chosen);
	for (size_t i = h->first_candidate; i < r->plan.n; i++) {
		struct planned *p = r->plan.data[i];

		session_count_ask(h->count, i);
		if (p->possible && p->what.marker && marker_is_endless(p->what.marker)) {
			p->possible = false;
			p->reason = "it has no end";
		}
		p->region = session_is_region(r, p->what.function->symbol);
	}
	for (size_t i = 0; i < r->plan.n; i++)
		r->plan.data[i]->cpu_share =
			profile_share(&h->profile, r->plan.data[i]->what.function);
	return 0;
}

static void begin_window(struct hybrid *h, uint64_t now)
{
	profile_begin_window(&h->profile);
	h->window_since_ns = now;
	h->is_counting = false;
}

static int trace_round(struct hybrid *h, struct recording *r, struct err *err)
{
	bool added;
	int ret = session_rejoin(h->attach, r, err);

	if (ret)
		return ret;
	session_report_unselected(h->select, r);
	return session_add_set(h->attach, r, h->costs, h->first_candidate, &added, err);
}

/* Traces the functions that were counted and fit into the budget from here on. */
static int end_round(struct hybrid *h, struct recording *r, struct err *err)
{
	int ret = 0;

	if (!r->options->scout)
		ret = trace_round(h, r, err);
	if (!ret)
		ret = session_beside_attach(h->beside, r, err);
	h->rounds++;
	begin_window(h, clock_now_ns());
	return ret;
}

static int begin_round(struct hybrid *h, struct recording *r, bool window_over, struct err *err)
{
	int ret = add_candidates(h, r, window_over ? HYBRID_HOT_SHARE : LARGE_SHARE, err);

	h->has_looked = true;
	/* The costs that were measured while the program started do not hold for the rest of it. */
	if (!h->rounds)
		session_forget_costs(h->budget);
	if (!ret && window_over && !r->options->scout)
		h->first_candidate =
			session_ask_again(h->budget, h->count, r, &h->profile, h->first_candidate);
	if (ret || r->plan.n == h->first_candidate)
		return ret;
	h->is_counting = true;
	return session_count_begin(h->count, r, h->first_candidate, err);
}

static bool first_window_over(const struct hybrid *h, const struct recording *r,
			      uint64_t elapsed_ns)
{
	if (r->options->scout)
		return elapsed_ns >= SCOUT_WINDOW_NS;
	return elapsed_ns >= FIRST_WINDOW_NS ||
	       (elapsed_ns >= FIRST_WINDOW_LEAST_NS && h->profile.samples >= FIRST_SAMPLES);
}

/* Lowers the sampling rate once the choice does not depend on chance. */
static void sample_seldom(struct hybrid *h, struct recording *r, uint64_t now)
{
	if (r->options->scout || h->seldom || !h->rounds ||
	    (h->profile.total_samples < ENOUGH_SAMPLES && now - r->open_ns < LATER_WINDOW_NS))
		return;
	h->seldom = true;
	session_sample_set_rate(h->sampling, hertz_now(h, r));
	session_sample_rate(r, hertz_now(h, r));
}

/*
 * Checks what is hot. Windows are long, so that few samples per second reveal a share of one
 * percent. A larger share shows sooner, so it need not wait for the end of a window.
 */
static int check_hot(struct hybrid *h, struct recording *r, uint64_t now, struct err *err)
{
	uint64_t elapsed_ns = now - h->window_since_ns;
	bool over = h->rounds && !r->options->scout ? elapsed_ns >= LATER_WINDOW_NS
						    : first_window_over(h, r, elapsed_ns);
	int ret;

	if (r->options->choose_ns && h->rounds && now - r->open_ns > r->options->choose_ns)
		return 0;
	if (!over && (!h->rounds || now - h->looked_ns < BETWEEN_NS))
		return 0;
	h->looked_ns = now;
	ret = begin_round(h, r, over, err);
	if (over && !h->is_counting)
		begin_window(h, clock_now_ns());
	return ret;
}

int session_hybrid_interval_ms(const struct hybrid *h, const struct recording *r)
{
	if (h->is_counting)
		return COUNTING_LOOK_MS;
	return r->options->scout ? SCOUT_LOOK_MS : LOOK_MS;
}

int session_hybrid_step(struct hybrid *h, struct recording *r, struct err *err)
{
	uint64_t now = clock_now_ns();
	bool counted;
	int ret;

	read_samples(h, r);
	if (!h->window_since_ns)
		h->window_since_ns = h->since_ns;
	if (h->is_counting) {
		ret = session_count_look(h->count, r, now, &counted, err);
		return !ret && counted ? end_round(h, r, err) : ret;
	}
	sample_seldom(h, r, now);
	return check_hot(h, r, now, err);
}

/* Reports where the time goes if its code has no names, because such code cannot be chosen. */
static void report_unnamed(const struct hybrid *h, struct recording *r)
{
	const struct profile_object *o = profile_most_unnamed(&h->profile);
	struct text words = { 0 };

	if (!o || o->time_ns < UNNAMED_SHARE * h->profile.total_ns ||
	    h->profile.total_samples < UNNAMED_SAMPLES)
		return;
	text_printf(&words, "%s (%.0f%% of the CPU time) has no symbols; ",
		    text_base_name(dso_path(o->dso)), 100 * o->time_ns / h->profile.total_ns);
	package_symbols_from(PACKAGE_LISTS, dso_path(o->dso), &words);
	recording_write_notice(r, "no-symbols", words.s);
	text_release(&words);
}

static void report_lost(const struct hybrid *h, struct recording *r)
{
	uint64_t lost = session_samples_lost(h->sampling), kept = h->profile.total_samples;
	bool many = (double)lost > LOST_SAID * (double)(lost + kept);
	char samples[TEXT_NUMBER], words[256];

	if (!lost || (!h->rounds && !r->options->scout))
		return;
	snprintf(words, sizeof(words),
		 "ispot dropped %s, and chose the functions by the other %" PRIu64,
		 text_counted(samples, lost, "CPU sample"), kept);
	if (many)
		log_notice("%s", words);
	recording_note(r, many ? "lost-samples" : "few-lost-samples", words);
}

/* Updates the shares of the functions, and reports those that were left out with what is known at
 * the end. When they were chosen, there were few samples or none. */
static void report_shares(struct hybrid *h, struct recording *r)
{
	vec_for_each (&r->plan, struct planned *, each) {
		struct planned *p = *each;
		double share = profile_share(&h->profile, p->what.function);
		bool out = !p->possible && !p->is_beside && !p->what.is_dropped && *p->reason &&
			   p->set == PLANNED_NO_SET;

		if (isnan(share))
			continue;
		p->cpu_share = share;
		if (out && (p->told || share >= HYBRID_HOT_SHARE))
			session_describe_left_out(r, p, 0);
	}
}

static void report_no_choice(const struct hybrid *h, struct recording *r)
{
	uint64_t lost = session_samples_lost(h->sampling), kept = h->profile.total_samples;
	char samples[TEXT_NUMBER], words[256];

	if (lost <= kept) {
		snprintf(words, sizeof(words),
			 "the recording ended before ispot had chosen functions to trace; let it "
			 "last longer, %s",
			 r->options->n_pids ? "or name them with -F"
					    : "name them with -F, or give --two-pass");
		recording_write_notice(r, "too-short", words);
		return;
	}
	snprintf(
		words, sizeof(words),
		"the machine was too busy for ispot to choose functions: it dropped %s of the CPUs "
		"and kept %" PRIu64 "; name functions with -F, or record when less else runs",
		text_counted(samples, lost, "sample"), kept);
	recording_write_notice(r, "too-short", words);
}

void session_hybrid_stop(struct hybrid *h, struct recording *r, bool began_at_end)
{
	bpfprog_sample(r->programs, false);
	read_samples(h, r);
	report_lost(h, r);
	if (h->is_counting)
		session_count_stop(h->count, r);
	session_count_release(h->count);
	if (!r->options->scout) {
		report_shares(h, r);
		report_unnamed(h, r);
	}
	if (!h->has_looked && !r->options->scout && !began_at_end &&
	    !session_beside_times(h->beside))
		report_no_choice(h, r);
}

void session_hybrid_release(struct hybrid *h)
{
	session_count_release(h->count);
	profile_release(&h->profile);
	vec_for_each (&h->patterns, struct patterns *, p)
		patterns_free(*p);
	vec_release(&h->patterns);
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
void session_hybrid_pick(struct hybrid *h, struct recording *r, double room)
{
	struct planned **all = xcalloc(r->plan.n + 1, sizeof(struct planned *));

	for (size_t i = 0; i < r->plan.n; i++) {
		struct planned *p = all[i] = r->plan.data[i];

		if (!p->possible || *p->what.pattern ||
		    profile_is_hot_overall(&h->profile, p->what.function, HYBRID_HOT_SHARE))
			continue;
		p->possible = false;
		p->reason = "hot for a moment only";
	}
	session_choose(&r->plan, all, r->plan.n, session_contends(r), room, session_over_budget);
	session_give_turns(all, r->plan.n);
	session_drop_releases(r, all, r->plan.n, session_over_budget);
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

void session_hybrid_choice(struct hybrid *h, struct recording *r, struct session_choice *choice)
{
	if (add_candidates(h, r, HYBRID_HOT_SHARE, NULL))
		return;
	session_hybrid_pick(h, r, session_choice_room(h->budget, r));
	for (size_t i = 0; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (p->possible)
			add_choice(choice, &p->what, p->cpu_share);
		else if (p->what.marker ||
			 profile_is_hot_overall(&h->profile, p->what.function, HYBRID_HOT_SHARE))
			add_left_out(choice, p);
	}
}

bool session_is_counting(const struct hybrid *h)
{
	return h->is_counting;
}
