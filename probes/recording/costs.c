/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/costs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/cost/known.h"
#include "probes/drain/keep.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/select/pattern.h"
#include "trace/meta/print.h"

void costs_init(struct costs *costs, const struct session_options *o)
{
	costs->calibrates = o->calibrate;
	costs->sample_ns = NAN;
}

bool costs_calibrates(const struct costs *costs)
{
	return costs->calibrates;
}

void costs_calibrate(struct costs *costs, struct recording *r, const char *when, uint32_t threads)
{
	struct meta_calibration rows[SELFCOST_ROWS_MAX];
	struct err err = { 0 };
	size_t n;

	if (!r->sets.calibrated || !r->sets.n)
		return;
	if (selfcost_measure(&r->sets.data[r->sets.empties], r->programs, &r->rings, threads, when,
			     rows, &n, &err))
		log_failure("the probes' cost is unknown, so floors are n/a", &err);
	for (size_t i = 0; i < n; i++) {
		struct text line = { 0 };

		*vec_add(&costs->calibrations) = rows[i];
		meta_print_calibration(&rows[i], &line);
		recording_write_line(r, &line);
	}
}

/* Computes the mean costs of the function's class and exit. Returns false if none was measured. */
static bool measured(const struct costs *costs, const struct planned *p, double *inner_ns,
		     double *full_ns)
{
	unsigned n = 0;

	*inner_ns = *full_ns = 0;
	vec_for_each (&costs->calibrations, const struct meta_calibration, c)
		if (planned_is_priced_by(p, c)) {
			*inner_ns += (double)c->inner_p50_ns;
			*full_ns += c->full_p50_ns;
			n++;
		}
	*inner_ns /= n ? n : 1;
	*full_ns /= n ? n : 1;
	return n;
}

double costs_call_ns(const struct costs *costs, const struct planned *p)
{
	double inner_ns, full_ns;

	return measured(costs, p, &inner_ns, &full_ns) ? full_ns : COSTLIEST_CALL_NS;
}

void costs_report(const struct costs *costs, struct recording *r, size_t first)
{
	double inner_ns, full_ns;

	for (size_t i = first; r->drain.keep && i < r->plan.n && i < r->drain.n_functions; i++)
		if (measured(costs, r->plan.data[i], &inner_ns, &full_ns) && full_ns > inner_ns)
			r->drain.costs[i] = (struct keep_cost){ (uint32_t)inner_ns,
								(uint32_t)(full_ns - inner_ns) };
}

/* Returns the cost of the entry's trap: half of a call with a return probe, whatever the exit of
 * this function is. */
double costs_count_ns(const struct costs *costs, const struct planned *p)
{
	struct planned with_return = *p;

	if (p->exit.mech == EXIT_RET_SITES && !p->what.marker)
		with_return.exit.mech = EXIT_RETURN;
	return COST_OF_COUNTING * costs_call_ns(costs, &with_return);
}

void costs_calibrate_after(struct costs *costs, struct recording *r)
{
	const struct aftermath *a = &costs->aftermath;
	struct err err = { 0 };

	if (!r->sets.calibrated || !r->sets.n || r->options->scout)
		return;
	if (aftermath_measure(&r->sets.data[0], r->programs, &r->rings, &costs->aftermath, &err)) {
		log_detail("what calls cost beyond empty ones is not known: %s", err.text);
		return;
	}
	for (int k = 0; k < AFTERMATH_MEMORIES; k++)
		for (int i = 0; i < AFTERMATH_POINTS; i++)
			log_detail("a traced call costs %.0f ns more where the program works for "
				   "%.0f ns in %s memory from one to the next",
				   a->at[k][i].after_ns, a->at[k][i].work_ns,
				   k == AFTERMATH_MUCH ? "much" : "little");
}

double costs_aftermath_ns(const struct costs *costs, double work_ns, double memory_bytes)
{
	return aftermath_ns(&costs->aftermath, work_ns, memory_bytes);
}

/* ---- what context switches, births and samples cost ---- */

static void forget(void *ctx, uint32_t cpu, const void *record)
{
	(void)ctx, (void)cpu, (void)record;
}

/* Makes the child like a thread of the target: recorded, … */
static int watch_child(void *ctx, pid_t child)
{
	struct recording *r = ctx;

	bpfprog_record(r->programs, true);
	return bpfprog_add_target(r->programs, child, 0);
}

/* Whether threads of the target have carriers of the set; at first there may be no such sets. */
static bool has_carriers(const struct recording *r, size_t k)
{
	bool none = r->sets.n && !recording_is_on_targets(r, r->sets.n - 1);

	return r->sets.data[k].attached && (none || recording_is_on_targets(r, k));
}

/* … and with carriers. */
static int carry_child(void *ctx, pid_t child)
{
	struct recording *r = ctx;

	for (size_t k = 0; k < r->sets.n; k++)
		if (has_carriers(r, k) && probeset_follow(&r->sets.data[k], child, true, NULL))
			return -1;
	return watch_child(ctx, child);
}

static uint32_t carriers_of_thread(const struct recording *r)
{
	uint32_t n = 0;

	for (size_t k = 0; k < r->sets.n; k++)
		if (has_carriers(r, k))
			n += probeset_n_events(&r->sets.data[k]);
	return n;
}

bool costs_carries_more(const struct costs *costs, const struct recording *r, bool carried)
{
	return costs->calibrates && r->options->inherit && carried &&
	       carriers_of_thread(r) > costs->carriers;
}

static double more_ns(double ns, double alone_ns)
{
	return ns > alone_ns ? ns - alone_ns : 0; /* NAN, not measured: 0 */
}

static struct switchcost cost_beyond_alone(const struct costs *costs, struct recording *r,
					   int (*prepare)(void *ctx, pid_t child))
{
	struct wire_totals from, to;
	struct switchcost cost;
	double timed_ns = 0;

	bpfprog_totals(r->programs, &from);
	cost = switchcost_measure(prepare, r);
	bpfprog_record(r->programs, false);
	bpfprog_totals(r->programs, &to);
	for (uint32_t i = 0; i < r->rings.n; i++)
		ringbuf_drain(&r->rings.rings[i], forget, NULL);
	if (to.switches > from.switches)
		timed_ns = (double)(to.scheduling_ns - from.scheduling_ns) /
			   (double)(to.switches - from.switches);
	cost.switch_ns = more_ns(cost.switch_ns - timed_ns, costs->alone.switch_ns);
	cost.birth_ns =
		more_ns(cost.birth_ns - 2 * (timed_ns + cost.switch_ns), costs->alone.birth_ns);
	return cost;
}

void costs_calibrate_switches(struct costs *costs, struct recording *r, enum switches how)
{
	if (!costs->calibrates)
		return;
	switch (how) {
	case SWITCHES_ALONE:
		costs->alone = switchcost_measure(NULL, NULL);
		break;
	case SWITCHES_WATCHED:
		costs->watched = cost_beyond_alone(costs, r, watch_child);
		break;
	case SWITCHES_CARRIED:
		if (!r->options->inherit)
			return;
		costs->carried = cost_beyond_alone(costs, r, carry_child);
		costs->carriers = carriers_of_thread(r);
		log_detail(
			"a context switch takes %.0f ns, watched %.0f ns more beside its record, "
			"of threads with events to be inherited %.0f ns more",
			costs->alone.switch_ns, costs->watched.switch_ns, costs->carried.switch_ns);
		log_detail("a thread's birth and end take %.0f ns, watched %.0f ns more, "
			   "with events to be inherited %.0f ns more",
			   costs->alone.birth_ns, costs->watched.birth_ns, costs->carried.birth_ns);
		break;
	}
}

double costs_switch_ns(const struct costs *costs, bool carried)
{
	return (carried ? &costs->carried : &costs->watched)->switch_ns;
}

double costs_birth_ns(const struct costs *costs, bool carried)
{
	return (carried ? &costs->carried : &costs->watched)->birth_ns;
}

void costs_set_sample(struct costs *costs, double ns)
{
	costs->sample_ns = ns;
}

double costs_sample_ns(const struct costs *costs)
{
	return costs->sample_ns;
}

uint64_t costs_sampling_ns(const struct costs *costs, const struct recording *r)
{
	uint64_t samples = recording_totals(r).samples - r->totals_at_start.samples;

	return isnan(costs->sample_ns) ? 0 : (uint64_t)(costs->sample_ns * (double)samples);
}

/* ---- the file that ISPOT_CALIBRATION names ---- */

bool costs_needs_markers(const struct recording *r)
{
	return r->is_hybrid ? objects_have_markers(&r->objects, 0)
			    : patterns_choose_markers(r->patterns);
}

static void use_known(struct costs *costs, struct recording *r, const struct known_costs *k,
		      const char *path)
{
	struct text words = { 0 };

	for (size_t i = 0; i < k->n; i++) {
		struct text line = { 0 };

		*vec_add(&costs->calibrations) = k->rows[i];
		meta_print_calibration(&k->rows[i], &line);
		recording_write_line(r, &line);
	}
	costs->aftermath = k->aftermath;
	costs->alone = k->alone;
	costs->watched = k->watched;
	costs->carried = k->carried;
	costs->sample_ns = k->sample_ns;
	costs->calibrates = false;
	text_printf(&words, "what probing costs is from %s, not measured in this recording", path);
	recording_note(r, "calibration", words.s);
	text_release(&words);
}

void costs_read(struct costs *costs, struct recording *r)
{
	const char *path = costs->calibrates ? known_costs_path() : NULL;
	struct known_costs k;
	int ret;

	if (!path)
		return;
	ret = known_costs_read(path, &k);
	if (!ret && (!costs_needs_markers(r) || k.has_markers))
		use_known(costs, r, &k, path);
	else if (ret && ret != -ENOENT &&
		 ret != -EACCES) /* not this user's file: measure as usual */
		log_notice("ISPOT_CALIBRATION: costs are measured instead, because of %s: %s", path,
			   ret == -EPERM    ? "others own it or may write to it"
			   : ret == -EINVAL ? "no file that ispot wrote there"
					    : strerror(-ret));
}

/* Writes the costs, but only if this recording has measured everything that another may need. */
void costs_write(const struct costs *costs, const struct recording *r)
{
	const char *path = costs->calibrates ? known_costs_path() : NULL;
	struct known_costs k = {
		.aftermath = costs->aftermath,
		.alone = costs->alone,
		.watched = costs->watched,
		.carried = costs->carried,
		.sample_ns = costs->sample_ns,
		.has_markers = costs_needs_markers(r),
		.n = costs->calibrations.n,
	};
	int ret;

	if (!path || r->options->scout || !r->options->inherit || !k.n ||
	    k.n > sizeof(k.rows) / sizeof(*k.rows))
		return;
	memcpy(k.rows, costs->calibrations.data, k.n * sizeof(*k.rows));
	ret = known_costs_write(path, &k);
	if (ret)
		log_notice("ISPOT_CALIBRATION: cannot write %s: %s", path, strerror(-ret));
}

void costs_release(struct costs *costs)
{
	vec_release(&costs->calibrations);
}
