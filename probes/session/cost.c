/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of the probes while the target is recorded, and a warning if it is too high. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/cost/known.h"
#include "probes/drain/keep.h"
#include "probes/kernel/bpfprog.h"
#include "probes/select/pattern.h"
#include "probes/session/internal.h"
#include "trace/meta/print.h"

#define WARN_AFTER_NS	  1000000000ull
#define WARN_EVERY_NS	  5000000000ull
#define WARN_TOLERANCE	  1.2	      /* the estimate is no more precise */
#define COST_LEAST	  0.01	      /* of a CPU: a smaller cost is not reported */
#define DEAREST_CALL_NS	  6000	      /* of a class never measured: the highest of any */
#define CPU_TIME_LEAST_NS 10000000ull /* below it, the kernel's own figure is too coarse */

void session_calibrate(struct session *s, const char *when, uint32_t threads)
{
	struct meta_calibration rows[SELFCOST_ROWS_MAX];
	struct err err = { 0 };
	size_t n;

	if (!s->r.sets.calibrated || !s->r.sets.n)
		return;
	if (selfcost_measure(&s->r.sets.data[s->r.sets.empties], s->r.programs, &s->r.rings,
			     threads, when, rows, &n, &err))
		log_notice("the probes' cost is unknown, so floors are n/a: %s", err.text);
	for (size_t i = 0; i < n; i++) {
		struct text line = { 0 };

		*vec_add(&s->costs.calibrations) = rows[i];
		meta_print_calibration(&rows[i], &line);
		session_write_line(&s->r, &line);
	}
}

/* Computes the mean costs of the function's class and exit. Returns false if none was measured. */
static bool measured(const struct session *s, const struct planned *p, double *inner_ns,
		     double *full_ns)
{
	unsigned n = 0;

	*inner_ns = *full_ns = 0;
	vec_for_each (&s->costs.calibrations, const struct meta_calibration, c)
		if (planned_is_priced_by(p, c)) {
			*inner_ns += (double)c->inner_p50_ns;
			*full_ns += c->full_p50_ns;
			n++;
		}
	*inner_ns /= n ? n : 1;
	*full_ns /= n ? n : 1;
	return n;
}

double session_call_cost_ns(const struct session *s, const struct planned *p)
{
	double inner_ns, full_ns;

	return measured(s, p, &inner_ns, &full_ns) ? full_ns : DEAREST_CALL_NS;
}

void session_report_costs(struct session *s, size_t first)
{
	double inner_ns, full_ns;

	for (size_t i = first; s->r.drain.keep && i < s->r.plan.n && i < s->r.drain.n_functions;
	     i++)
		if (measured(s, s->r.plan.data[i], &inner_ns, &full_ns) && full_ns > inner_ns)
			s->r.drain.costs[i] = (struct keep_cost){ (uint32_t)inner_ns,
								  (uint32_t)(full_ns - inner_ns) };
}

/* Returns the cost of the entry's trap: half of a call with a return probe, whatever the exit of
 * this function is. */
double session_count_cost_ns(const struct session *s, const struct planned *p)
{
	struct planned with_return = *p;

	if (p->exit.mech == EXIT_RET_SITES && !p->what.marker)
		with_return.exit.mech = EXIT_RETURN;
	return COST_OF_COUNTING * session_call_cost_ns(s, &with_return);
}

static double births_cost_ns(const struct session *s, const struct wire_totals *now)
{
	const struct switchcost *cost = s->follow.carried ? &s->costs.carried : &s->costs.watched;

	return cost->birth_ns * (double)(now->births - s->r.totals_at_start.births);
}

static struct wire_totals totals_now(const struct session *s)
{
	struct wire_totals now = s->r.totals_at_stop;

	if (!s->r.stopped)
		bpfprog_totals(s->r.programs, &now);
	return now;
}

uint64_t session_scheduling_cost_ns(const struct session *s)
{
	const struct wire_totals *from = &s->r.totals_at_start, now = totals_now(s);
	uint64_t carried = session_follow_switches(s, &now);
	double more_ns =
		s->costs.carried.switch_ns * (double)carried +
		s->costs.watched.switch_ns * (double)(now.switches - from->switches - carried) +
		births_cost_ns(s, &now);

	return now.scheduling_ns - from->scheduling_ns + (uint64_t)more_ns;
}

uint64_t session_sampling_cost_ns(const struct session *s)
{
	uint64_t samples = totals_now(s).samples - s->r.totals_at_start.samples;

	return isnan(s->costs.sample_ns) ? 0 : (uint64_t)(s->costs.sample_ns * (double)samples);
}

static void forget(void *ctx, uint32_t cpu, const void *record)
{
	(void)ctx, (void)cpu, (void)record;
}

/* Makes the child like a thread of the target: recorded, … */
static int watch_child(void *ctx, pid_t child)
{
	struct session *s = ctx;

	bpfprog_record(s->r.programs, true);
	return bpfprog_add_target(s->r.programs, child, 0);
}

/* Whether threads of the target have carriers of the set; at first there may be no such sets. */
static bool has_carriers(const struct session *s, size_t k)
{
	bool none = s->r.sets.n && !session_is_on_targets(&s->r, s->r.sets.n - 1);

	return s->r.sets.data[k].attached && (none || session_is_on_targets(&s->r, k));
}

/* … and with carriers. */
static int carry_child(void *ctx, pid_t child)
{
	struct session *s = ctx;

	for (size_t k = 0; k < s->r.sets.n; k++)
		if (has_carriers(s, k) && probeset_follow(&s->r.sets.data[k], child, true, NULL))
			return -1;
	return watch_child(ctx, child);
}

static uint32_t carriers_of_thread(const struct session *s)
{
	uint32_t n = 0;

	for (size_t k = 0; k < s->r.sets.n; k++)
		if (has_carriers(s, k))
			n += probeset_n_events(&s->r.sets.data[k]);
	return n;
}

bool session_carries_more(const struct session *s)
{
	return s->costs.calibrates && s->r.options->inherit && s->follow.carried &&
	       carriers_of_thread(s) > s->costs.carriers;
}

static double more_ns(double ns, double alone_ns)
{
	return ns > alone_ns ? ns - alone_ns : 0; /* NAN, not measured: 0 */
}

static struct switchcost cost_beyond_alone(struct session *s,
					   int (*prepare)(void *ctx, pid_t child))
{
	struct wire_totals from, to;
	struct switchcost cost;
	double timed_ns = 0;

	bpfprog_totals(s->r.programs, &from);
	cost = switchcost_measure(prepare, s);
	bpfprog_record(s->r.programs, false);
	bpfprog_totals(s->r.programs, &to);
	for (uint32_t i = 0; i < s->r.rings.n; i++)
		ringbuf_drain(&s->r.rings.rings[i], forget, NULL);
	if (to.switches > from.switches)
		timed_ns = (double)(to.scheduling_ns - from.scheduling_ns) /
			   (double)(to.switches - from.switches);
	cost.switch_ns = more_ns(cost.switch_ns - timed_ns, s->costs.alone.switch_ns);
	cost.birth_ns =
		more_ns(cost.birth_ns - 2 * (timed_ns + cost.switch_ns), s->costs.alone.birth_ns);
	return cost;
}

void session_calibrate_switches(struct session *s, enum switches how)
{
	if (!s->costs.calibrates)
		return;
	switch (how) {
	case SWITCHES_ALONE:
		s->costs.alone = switchcost_measure(NULL, NULL);
		break;
	case SWITCHES_WATCHED:
		s->costs.watched = cost_beyond_alone(s, watch_child);
		break;
	case SWITCHES_CARRIED:
		if (!s->r.options->inherit || (s->r.stopped && !s->follow.carried))
			return;
		s->costs.carried = cost_beyond_alone(s, carry_child);
		s->costs.carriers = carriers_of_thread(s);
		log_detail(
			"a context switch takes %.0f ns, watched %.0f ns more beside its record, "
			"of threads with events to be inherited %.0f ns more",
			s->costs.alone.switch_ns, s->costs.watched.switch_ns,
			s->costs.carried.switch_ns);
		log_detail("a thread's birth and end take %.0f ns, watched %.0f ns more, "
			   "with events to be inherited %.0f ns more",
			   s->costs.alone.birth_ns, s->costs.watched.birth_ns,
			   s->costs.carried.birth_ns);
		break;
	}
}

struct trapped {
	const struct session *session;
	uint64_t calls;
	double cost_ns;
};

static void add_trapped(void *ctx, uint32_t tid, uint32_t id, const struct wire_sampling *row)
{
	struct trapped *all = ctx;
	const struct session *s = all->session;

	(void)tid;
	if (id >= s->r.plan.n)
		return;
	all->calls += row->calls;
	all->cost_ns += (double)row->calls * session_call_cost_ns(s, s->r.plan.data[id]);
}

double session_dropped_cost_ns(double read_cost_ns, uint64_t read, uint64_t dropped)
{
	double each_ns = read ? read_cost_ns / (double)read : DEAREST_CALL_NS / 2.0;

	return (double)dropped * each_ns;
}

/* Returns how many records of entries and exits the kernel made, or dropped, that were not read. */
static uint64_t unread_records(const struct session *s)
{
	uint64_t made = totals_now(s).calls - s->r.totals_at_start.calls;

	return made > s->r.drain.calls ? made - s->r.drain.calls : 0;
}

/*
 * Returns the calls that trapped. Calls that sampling leaves out write no records, but trap, and
 * the kernel counts them. So do calls whose records were dropped.
 */
static struct trapped trapped_calls(const struct session *s)
{
	struct trapped all = { .session = s };

	if (s->r.options->period > 1) {
		bpfprog_sampled(s->r.programs, add_trapped, &all);
		return all;
	}
	for (uint32_t id = 0; id < s->r.drain.n_functions && id < s->r.plan.n; id++)
		all.cost_ns += (double)s->r.drain.calls_of[id] *
			       session_call_cost_ns(s, s->r.plan.data[id]);
	all.cost_ns += session_dropped_cost_ns(all.cost_ns, s->r.drain.calls, unread_records(s));
	all.calls = s->r.drain.entries;
	return all;
}

uint64_t session_trapped_calls(const struct session *s)
{
	return trapped_calls(s).calls;
}

static uint64_t beside_cost_ns(const struct session *s)
{
	const struct session_beside *b = s->r.options->beside;
	struct session_beside_sums sums = { 0 };

	if (b && s->beside.tried)
		b->sums(b->ctx, &sums);
	return sums.cost_ns;
}

uint64_t session_probes_cost_ns(const struct session *s)
{
	return (uint64_t)(trapped_calls(s).cost_ns + s->after.cost_ns +
			  s->hybrid.counting_cost_ns) +
	       beside_cost_ns(s) + session_solo_cost_ns(&s->solo) + session_scheduling_cost_ns(s) +
	       session_sampling_cost_ns(s);
}

static const char *scheduling_advice(const struct session *s)
{
	const struct wire_totals now = totals_now(s);

	if (births_cost_ns(s, &now) > (double)session_scheduling_cost_ns(s) / 2)
		return "most of it is the births and ends of its threads, which are very many; "
		       "--no-inherit, without child processes, takes far less";
	return s->follow.carried
		       ? "most of it is the record of its context switches, which are very many; "
			 "--no-inherit, without child processes, takes far less"
		       : "most of it is the record of its context switches, which are very many";
}

/* The costs of the target and its probes in a stretch of time. */
struct stretch {
	double cpu_ns, cost_ns, span_ns;
};

/* Returns the whole budget that the user set. */
static double whole_budget(const struct session *s)
{
	return s->r.options->overhead + s->r.options->overhead_beside;
}

/* Returns whether the cost exceeds the budget in a stretch that is long enough to judge. */
static bool is_over_budget(const struct session *s, const struct stretch *x)
{
	double own_ns = fmax(x->cpu_ns - x->cost_ns, META_BUSY_LEAST * x->span_ns);
	double share = meta_overhead(own_ns + x->cost_ns, x->cost_ns);

	if (x->cpu_ns < CPU_TIME_LEAST_NS || x->cost_ns < COST_LEAST * x->span_ns)
		return false;
	return share > WARN_TOLERANCE * whole_budget(s);
}

static void what_probes_did(const struct stretch *x, struct text *out)
{
	double share = meta_overhead(x->cpu_ns, x->cost_ns);
	bool most = share >= META_OVERHEAD_MOST;
	char number[TEXT_NUMBER];

	if (meta_hardly_runs(x->cpu_ns, x->cost_ns, x->span_ns))
		text_printf(out, "the probes took about %s",
			    text_of_cpu(number, x->cost_ns / x->span_ns));
	else
		text_printf(out, "the probes slowed the target by %s%s", most ? "" : "about ",
			    text_overhead(number, share, most));
}

static void add_advice(const struct session *s, struct text *out)
{
	bool scheduling =
		(double)session_scheduling_cost_ns(s) > (double)session_probes_cost_ns(s) / 2;

	text_add(out, "; ");
	text_add(out, scheduling
			      ? scheduling_advice(s)
			      : "trace fewer functions, or functions that are called less often");
}

/*
 * Warns once, and early, so that the user can stop. The last line has the total: a second figure,
 * of the first seconds, would be confused with it.
 */
static void warn(struct session *s, const struct stretch *x, bool at_end)
{
	const char *now = at_end ? "" : " at the moment", *past = at_end ? "ed" : "";
	double budget = 100 * whole_budget(s);
	struct text words = { 0 };

	if (s->costs.look.warned)
		return;
	s->costs.look.warned = true;
	if (meta_hardly_runs(x->cpu_ns, x->cost_ns, x->span_ns))
		text_printf(&words, "the probes %s more CPU time than the budget of %.3g%%%s",
			    at_end ? "took" : "take", budget, now);
	else
		text_printf(&words, "the probes slow%s the target by more than %.3g%%%s", past,
			    budget, now);
	add_advice(s, &words);
	log_notice("%s", words.s);
	text_release(&words);
}

/* Writes a notice into the file, which has the final figure. */
static void note_overhead(struct session *s, const struct stretch *x)
{
	struct session_beside_sums beside;
	struct text words = { 0 };

	session_beside_sums(s, &beside);
	if (beside.lost_most)
		text_add(&words, "how much the target was slowed is n/a, as most calls that were "
				 "timed in process were dropped");
	else
		what_probes_did(x, &words);
	add_advice(s, &words);
	session_note(&s->r, "over-budget", words.s);
	text_release(&words);
}

static bool is_time_to_look(const struct session *s, uint64_t now_ns)
{
	if (!s->costs.look.at_ns)
		return now_ns - s->r.start_ns >= WARN_AFTER_NS;
	return now_ns - s->costs.look.at_ns >= WARN_EVERY_NS;
}

void session_warn_cost(struct session *s, uint64_t now_ns, bool at_end)
{
	uint64_t cpu_ns, since_ns;
	struct stretch x;
	double cost_ns;

	if (!s->r.begun || (!at_end && !is_time_to_look(s, now_ns)))
		return;
	cpu_ns = session_recorded_cpu_ns(&s->cputime, &s->r);
	if (cpu_ns < s->costs.look.cpu_ns)
		cpu_ns = s->costs.look.cpu_ns; /* for ended processes, the last known time */
	cost_ns = (double)session_probes_cost_ns(s);
	since_ns = s->costs.look.at_ns ? s->costs.look.at_ns : s->r.start_ns;
	if (at_end)
		x = (struct stretch){ (double)cpu_ns, cost_ns, (double)(now_ns - s->r.start_ns) };
	else
		x = (struct stretch){ (double)(cpu_ns - s->costs.look.cpu_ns),
				      cost_ns - s->costs.look.cost_ns,
				      (double)(now_ns - since_ns) };
	s->costs.look.at_ns = now_ns;
	s->costs.look.cpu_ns = cpu_ns;
	s->costs.look.cost_ns = cost_ns;
	if (!is_over_budget(s, &x))
		return;
	warn(s, &x, at_end);
	if (at_end)
		note_overhead(s, &x);
}

/* ---- costs from the file that ISPOT_CALIBRATION names, instead of measured in each recording ----
 */

static bool needs_markers(const struct session *s)
{
	return s->r.is_hybrid ? session_has_markers(&s->r.objects, 0)
			      : patterns_choose_markers(s->r.patterns);
}

static void use_known(struct session *s, const struct known_costs *k, const char *path)
{
	struct text words = { 0 };

	for (size_t i = 0; i < k->n; i++) {
		struct text line = { 0 };

		*vec_add(&s->costs.calibrations) = k->rows[i];
		meta_print_calibration(&k->rows[i], &line);
		session_write_line(&s->r, &line);
	}
	s->after.measured = k->aftermath;
	s->costs.alone = k->alone;
	s->costs.watched = k->watched;
	s->costs.carried = k->carried;
	s->costs.sample_ns = k->sample_ns;
	s->costs.calibrates = false;
	text_printf(&words, "what probing costs is from %s, not measured in this recording", path);
	session_note(&s->r, "calibration", words.s);
	text_release(&words);
}

void session_read_costs(struct session *s)
{
	const char *path = s->costs.calibrates ? known_costs_path() : NULL;
	struct known_costs k;
	int ret;

	if (!path)
		return;
	ret = known_costs_read(path, &k);
	if (!ret && (!needs_markers(s) || k.has_markers))
		use_known(s, &k, path);
	else if (ret && ret != -ENOENT &&
		 ret != -EACCES) /* not this user's file: measure as usual */
		log_notice("ISPOT_CALIBRATION: %s: %s; costs are measured instead", path,
			   ret == -EPERM    ? "others own it or may write to it"
			   : ret == -EINVAL ? "no file that ispot wrote there"
					    : strerror(-ret));
}

/* Writes the costs, but only if this recording has measured everything that another may need. */
void session_write_costs(struct session *s)
{
	const char *path = s->costs.calibrates ? known_costs_path() : NULL;
	struct known_costs k = {
		.aftermath = s->after.measured,
		.alone = s->costs.alone,
		.watched = s->costs.watched,
		.carried = s->costs.carried,
		.sample_ns = s->costs.sample_ns,
		.has_markers = needs_markers(s),
		.n = s->costs.calibrations.n,
	};
	int ret;

	if (!path || s->r.options->scout || !s->r.options->inherit || !k.n ||
	    k.n > sizeof(k.rows) / sizeof(*k.rows))
		return;
	memcpy(k.rows, s->costs.calibrations.data, k.n * sizeof(*k.rows));
	ret = known_costs_write(path, &k);
	if (ret)
		log_notice("ISPOT_CALIBRATION: cannot write %s: %s", path, strerror(-ret));
}
