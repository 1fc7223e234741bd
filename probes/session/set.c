/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/set.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/cost/selfcost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/costs.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/select/marker.h"
#include "probes/select/pattern.h"
#include "probes/session/attach.h"
#include "probes/session/choose.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

const char session_over_budget[] = "over the overhead budget";
const char session_over_budget_traced[] = "over the overhead budget once traced";

void session_point_refused(void *ctx, uint32_t id, int errnum)
{
	struct recording *r = ctx;
	struct planned *p;

	id &= WIRE_ID_MASK;
	if (id >= SELFCOST_ID_FIRST) {
		log_detail("a calibration probe is refused: %s", strerror(errnum));
		return;
	}
	p = r->plan.data[id];
	p->possible = false;
	p->reason = "the kernel refuses a probe there";
	log_detail("%s: the kernel refuses a probe there: %s",
		   dso_function_name(p->what.dso, p->what.function), strerror(errnum));
}

static void describe_function(struct recording *r, const struct planned *p, uint32_t id,
			      uint32_t set)
{
	struct meta_function f = { .id = id,
				   .set = set,
				   .object = objects_id(&r->objects, p->what.dso) };
	struct text line = { 0 };

	planned_describe(p, &f);
	f.chosen = !r->is_hybrid;
	meta_print_function(&f, &line);
	recording_write_line(r, &line);
}

struct meta_not_traced session_left_out(const struct planned *p)
{
	return (struct meta_not_traced){
		.name = dso_function_name(p->what.dso, p->what.function),
		.object = dso_path(p->what.dso),
		.reason = p->reason,
		.address = p->what.function->address,
		.cpu_share = p->cpu_share,
		.calls_per_s = p->calls_per_s,
		.cost_share = p->cost_share,
	};
}

void session_write_left_out(struct recording *r)
{
	for (size_t i = 0; i < r->options->n_left_out; i++) {
		struct text line = { 0 };

		meta_print_not_traced(&r->options->left_out[i], &line);
		recording_write_line(r, &line);
	}
}

void session_describe_left_out(struct recording *r, const struct planned *p,
			       uint64_t traced_until_ns)
{
	struct meta_not_traced n = session_left_out(p);
	struct text line = { 0 };

	n.traced_until_ns = traced_until_ns;
	if (!r->is_hybrid && !r->options->keep_budget)
		log_notice("%s in %s is not traced: %s", n.name, n.object, n.reason);
	meta_print_not_traced(&n, &line);
	recording_write_line(r, &line);
}

void session_describe_again(struct recording *r, const struct planned *p, uint64_t traced_until_ns,
			    uint64_t traced_again_ns)
{
	struct meta_not_traced n = session_left_out(p);
	struct text line = { 0 };

	n.reason = session_over_budget_traced;
	n.traced_until_ns = traced_until_ns;
	n.traced_again_ns = traced_again_ns;
	meta_print_not_traced(&n, &line);
	recording_write_line(r, &line);
}

/* Reports chosen markers that cannot be timed, because one of their ends is missing. */
static void report_half(const struct recording *r, size_t first)
{
	for (size_t i = first; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (p->possible && p->set == PLANNED_NO_SET && p->what.marker &&
		    marker_is_endless(p->what.marker))
			log_notice("marker %s has no end in %s: its begins are counted, not timed; "
				   "put ISPOT_END(%s) where it ends",
				   p->what.function->name, dso_path(p->what.dso),
				   p->what.function->name);
	}
}

/* Reports functions that a glob chose and that lack the wanted arguments. */
static void report_without(struct recording *r, size_t first)
{
	const struct planned *one = NULL;
	char functions[TEXT_COUNTED], *words;
	uint64_t n = 0;

	for (size_t i = first; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (!p->possible || !p->wrong_arguments.code)
			continue;
		one = one ? one : p;
		n++;
	}
	if (!n)
		return;
	words = xasprintf("%s of -F %s recorded without an argument named behind @: %s%s",
			  text_counted(functions, n, "function"), n == 1 ? "is" : "are",
			  one->wrong_arguments.text, n == 1 ? "" : "; and others (ispot check)");
	recording_write_notice(r, "arguments", words);
	free(words);
}

static int add_empties(const struct recording *r, struct probeset *set)
{
	return selfcost_add(set, costs_needs_markers(r));
}

/*
 * The first set also carries what calibration needs, and the hybrid's first set has nothing else.
 * Of the hybrid's others, the first one has it for the calibration afterwards.
 */
static bool wants_empties(const struct recording *r, const struct costs *costs,
			  const struct probeset *set, size_t n)
{
	if (!costs_calibrates(costs))
		return false;
	return !set->id || (r->is_hybrid && r->sets.calibrated && !r->sets.empties && n);
}

int session_build_set(struct recording *r, const struct costs *costs, size_t first,
		      struct probeset **out, struct err *err)
{
	struct probeset set;
	bool empties = false;
	size_t n = 0;
	int ret;

	*out = NULL;
	report_half(r, first);
	report_without(r, first);
	probeset_init(&set, r->dynevents, r->sets.n);
	if (recording_has_uprobe_sessions(r))
		probeset_use_sessions(&set);
	for (size_t i = first; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (!p->possible || p->set != PLANNED_NO_SET)
			continue;
		probeset_add(&set, p, objects_path(&r->objects, p->what.dso), i);
		n++;
	}
	if (wants_empties(r, costs, &set, n))
		empties = !add_empties(r, &set);
	n += empties;
	ret = n ? probeset_create(&set, session_point_refused, r, err) : 0;
	if (!ret)
		ret = bpfprog_operands(r->programs, r->plan.operands.data, r->plan.operands.n, err);
	for (size_t i = first; i < r->plan.n && !ret; i++) {
		struct planned *p = r->plan.data[i];

		if (p->set != PLANNED_NO_SET)
			continue;
		if (p->possible) {
			describe_function(r, p, i, set.id);
			p->set = set.id;
			r->sets.n_probed++;
		} else if (!p->is_beside && !p->what.is_dropped && !p->told &&
			   (!r->is_hybrid || p->what.marker || p->cost_share > 0 ||
			    p->cpu_share >= HYBRID_HOT_SHARE)) {
			session_describe_left_out(r, p, 0);
			p->told = true;
		}
	}
	if (!n || ret) {
		probeset_release(&set);
		return ret;
	}
	drain_count_functions(&r->drain, r->plan.n);
	costs_report(costs, r, first);
	for (size_t i = first; i < r->plan.n; i++)
		if (r->plan.data[i]->arguments.n)
			r->drain.arguments[i] = &r->plan.data[i]->arguments;
	if (empties)
		r->sets.empties = set.id;
	r->sets.calibrated |= empties;
	*vec_add(&r->sets) = set;
	*out = vec_last(&r->sets);
	return 0;
}

static int rebuild_set(struct attach *attach, struct recording *r, size_t k, struct err *err)
{
	struct probeset *set = &r->sets.data[k];
	uint32_t id = set->id;
	size_t n = 0;
	int ret;

	session_retire_set(attach, set);
	probeset_init(set, r->dynevents, id);
	if (recording_has_uprobe_sessions(r))
		probeset_use_sessions(set);
	for (size_t i = 0; i < r->drain.n_functions; i++) {
		const struct planned *p = r->plan.data[i];

		if (!planned_is_traced(p) || p->set != id)
			continue;
		probeset_add(set, p, objects_path(&r->objects, p->what.dso), i);
		n++;
	}
	/* The calibration afterwards finds its functions in the same set again, or in the next set
	 * if this one is not to be on the target any more. */
	if (r->is_hybrid && id == r->sets.empties && !n)
		r->sets.empties = 0;
	else if (id == r->sets.empties && r->sets.calibrated && !add_empties(r, set))
		n++;
	ret = n ? probeset_create(set, session_point_refused, r, err) : 0;
	if (!ret && n)
		ret = session_open_on_targets(attach, r, set, err);
	if (!n || ret)
		probeset_release(set);
	else
		recording_write_set(r, set, true);
	return ret;
}

void session_quiet_sets(struct recording *r, const bool *touched)
{
	for (size_t k = 0; k < r->sets.n; k++)
		if (touched[k]) {
			/* They leave one by one, entries first, which may take the kernel long:
			 * from here on calls may be missing. */
			recording_write_set(r, &r->sets.data[k], false);
			probeset_quiet(&r->sets.data[k]);
		}
}

int session_rebuild_sets(struct attach *attach, struct recording *r, const bool *touched,
			 struct err *err)
{
	int ret = 0;

	for (size_t k = 0; k < r->sets.n && !ret; k++)
		if (touched[k])
			ret = rebuild_set(attach, r, k, err);
	return ret;
}

int session_add_set(struct attach *attach, struct recording *r, const struct costs *costs,
		    size_t first, bool *added, struct err *err)
{
	struct probeset *set;
	int ret = session_build_set(r, costs, first, &set, err);

	*added = !ret && set;
	if (*added)
		ret = session_open_on_targets(attach, r, set, err);
	if (*added && !ret)
		recording_write_set(r, set, true);
	return ret;
}
