/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/calls/paircost.h"
#include "analysis/result/notice.h"
#include "analysis/result/result.h"
#include "analysis/cause/judge.h"
#include "analysis/result/time.h"
#include "analysis/score/marker.h"
#include "analysis/threads/setclock.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"

#define PROGRESS_BATCHES 512
#define AT_ONCE		 32 /* records between two checks for Ctrl-C */

static uint64_t recording_start(const struct trace_reader *r)
{
	const struct meta_session *s = &trace_reader_meta(r)->session;
	uint64_t first = trace_reader_first_ns(r);

	return s->start_ns && s->start_ns != META_UNKNOWN && (!first || s->start_ns <= first)
		       ? s->start_ns
		       : first;
}

static uint64_t recording_end(const struct trace_reader *r)
{
	const struct meta_end *e = &trace_reader_meta(r)->end;
	uint64_t last = trace_reader_last_ns(r);

	return e->present && e->end_ns != META_UNKNOWN && e->end_ns > last ? e->end_ns : last;
}

void result_span(const struct trace_reader *r, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = recording_start(r);
	*end_ns = recording_end(r);
}

static int set_window(struct result *res, const struct trace_reader *r,
		      const struct result_options *o, struct err *err)
{
	uint64_t start = recording_start(r), end = recording_end(r);
	uint64_t whole = end > start ? end - start : 0;

	res->windowed = o->from_ns || o->to_ns < whole;
	if (res->windowed && o->from_ns >= whole)
		return err_set(err, -EINVAL,
			       "--time starts at %.3f s, but the recording lasts %.3f s; "
			       "give times inside it",
			       (double)o->from_ns / 1e9, (double)whole / 1e9);
	res->window_from_ns = o->from_ns;
	res->window_to_ns = o->to_ns < whole ? o->to_ns : whole;
	res->start_ns = start + res->window_from_ns;
	res->end_ns = start + res->window_to_ns;
	res->duration_ns = res->end_ns - res->start_ns;
	return 0;
}

/*
 * Before the window, records only update which threads exist and what they do. Returns false, and
 * starts the measurement, at the first record inside the window.
 */
static bool skip_to_window(const struct result *res, struct calls *calls, const struct record *r)
{
	if (record_due_ns(r) < res->start_ns) {
		calls_skip(calls, r);
		return true;
	}
	calls_restart(calls, res->start_ns);
	return false;
}

static void end_at(struct result *res, uint64_t end_ns)
{
	res->window_to_ns -= res->end_ns - end_ns;
	res->end_ns = end_ns;
	res->duration_ns = end_ns - res->start_ns;
	res->windowed = true;
}

/*
 * Returns how many of the n records are due by end_ns. They are in order of time unless the file is
 * damaged.
 */
static size_t due_until(const struct record *records, size_t n, uint64_t end_ns)
{
	size_t i = 0;

	if (n && record_due_ns(&records[n - 1]) <= end_ns)
		return n;
	while (i < n && record_due_ns(&records[i]) <= end_ns)
		i++;
	return i;
}

/*
 * Reads the records of the window. After Ctrl-C the recording is treated as if it had ended there.
 * Returns whether Ctrl-C cut the reading short.
 */
static bool pass(struct result *res, struct calls *calls, struct trace_reader *r)
{
	bool cut = false;
	uint64_t last_ns = 0;
	struct progress progress;
	const struct record *records;
	bool before = res->window_from_ns, after = false;
	size_t n, batches = 0;

	progress_init(&progress, "reading the recording");
	interrupt_begin();
	while (!after && !cut && (n = trace_reader_batch(r, &records))) {
		size_t at = 0, end = due_until(records, n, res->end_ns);

		after = end < n;
		while (before && at < end && (before = skip_to_window(res, calls, &records[at])))
			at++;
		while (at < end && !cut) {
			size_t some = end - at < AT_ONCE ? end - at : AT_ONCE;

			calls_records(calls, records + at, some);
			at += some;
			cut = interrupt_noted();
		}
		if (at)
			last_ns = record_due_ns(&records[at - 1]);
		if (++batches % PROGRESS_BATCHES == 0)
			progress_share(&progress, trace_reader_position(r));
	}
	if (before)
		calls_restart(calls, res->start_ns);
	progress_end(&progress);
	interrupt_end();
	cut = cut && last_ns < res->end_ns;
	if (cut && last_ns > res->start_ns)
		end_at(res, last_ns);
	calls_end(calls, res->end_ns);
	return cut;
}

/*
 * Returns the duration without the time before the first probes, without the pauses between bursts,
 * and without the time in which switches had no records.
 */
static uint64_t without_pauses_ns(struct result *res)
{
	struct threads *th = &res->calls.threads;
	uint64_t paused = th->n_sets ? UINT64_MAX : 0;

	for (uint32_t set = 0; set < th->n_sets; set++) {
		uint64_t ns = setclock_paused_ns(th, set, res->end_ns);
		uint64_t first = setclock_first_on_ns(th, set);

		ns += first > res->start_ns ? first - res->start_ns : 0;
		ns += th->unwatched.of_set ? th->unwatched.of_set[set] : 0;
		paused = ns < paused ? ns : paused;
	}
	if (!th->n_sets)
		paused = th->unwatched.ns;
	return paused < res->duration_ns ? res->duration_ns - paused : res->duration_ns;
}

/*
 * Estimates the calls that sampling left out, and the part of the threads' time that they would
 * have covered.
 */
static void scale_sampled(struct result *res)
{
	uint64_t seen = 0;

	vec_for_each (&res->blocks, const struct block, b) {
		seen += b->calls;
		res->estimated_calls +=
			b->estimated_calls == BLOCK_NONE ? b->calls : b->estimated_calls;
	}
	res->recorded_part = 1;
	if (!seen || meta_period(res->meta) <= 1)
		return;
	res->recorded_part = (double)seen / (double)res->estimated_calls;
	res->coverage = fmin(1, res->coverage / res->recorded_part);
}

static void set_overhead(struct result *res, double cpu_ns, double cost_ns, double span_ns)
{
	res->overhead = meta_overhead(cpu_ns, cost_ns);
	res->overhead_is_least = res->overhead >= META_OVERHEAD_MOST;
	res->overhead_cpus = span_ns > 0 ? cost_ns / span_ns : NAN;
	res->hardly_runs = meta_hardly_runs(cpu_ns, cost_ns, span_ns);
}

/*
 * Uses the recorder's estimate, which includes what was spent before the functions were chosen, and
 * on context switches. Returns false if there is none.
 */
static bool use_recorders_estimate(struct result *res)
{
	double cpu_ns, cost_ns;

	if (!meta_recorders_estimate(res->meta, &cpu_ns, &cost_ns))
		return false;
	set_overhead(res, cpu_ns, cost_ns, (double)res->duration_ns);
	return true;
}

/*
 * Returns whether most calls were dropped that are timed in process. What such calls cost is not
 * known: the kernel counts the calls that meet its probes, but no one counts these.
 */
static bool lost_most_in_process(const struct result *res)
{
	if (res->lost_records <= res->records + 2 * res->calls.brief)
		return false;
	vec_for_each (&res->meta->functions, const struct meta_function, f)
		if (f->in_process)
			return true;
	return false;
}

static void self_cost(struct result *res)
{
	uint64_t most = 0;
	double cost = 0, asleep, cpu;

	res->pair_min_ns = res->pair_p50_ns = res->pair_p99_ns = BLOCK_NONE;
	res->overhead = res->overhead_cpus = NAN;
	vec_for_each (&res->blocks, const struct block, b) {
		uint64_t calls = b->estimated_calls == BLOCK_NONE ? b->calls : b->estimated_calls;

		if (!b->cost->known)
			continue;
		/*
		 * An iteration that a loop marker skips meets no probe, while a call that sampling
		 * skips does.
		 */
		if (b->function && b->function->period > 1 && calls != b->calls)
			calls /= b->function->period;
		cost += (double)calls * (double)b->cost->full_ns;
		if (calls <= most)
			continue;
		most = calls;
		res->pair_min_ns = b->cost->inner_min_ns;
		res->pair_p50_ns = b->cost->inner_ns;
		res->pair_p99_ns = b->cost->inner_p99_ns;
	}
	/* The recorder's estimate comes first, because switches are recorded even if no call is. */
	if (!res->windowed && use_recorders_estimate(res))
		return;
	res->lost_most_in_process = lost_most_in_process(res);
	if (res->lost_most_in_process)
		return;
	if (!most || !res->calls.threads.have_switch)
		return;
	cpu = (double)res->threads_ns - result_off_ns(res, &asleep);
	set_overhead(res, cpu, cost, (double)res->probed_ns);
	res->overhead *= (double)res->probed_ns / (double)res->duration_ns;
	res->overhead_cpus *= (double)res->probed_ns / (double)res->duration_ns;
}

uint64_t result_records_read(const struct result *res)
{
	return res->records + res->calls.unknown_ids + res->calls.unwatched + 2 * res->calls.brief;
}

/*
 * Limits the number of dropped events. The unreadable part of a file holds scheduler records as
 * well, but the number of entries and exits that were made is known, so no more than the difference
 * can be missing.
 */
static void bound_losses(struct result *res, uint64_t made)
{
	uint64_t read = result_records_read(res);

	if (made != META_UNKNOWN && read < made && made - read < res->lost_records)
		res->lost_records = made - read;
}

static void count_losses(struct result *res)
{
	const struct meta_end *e = &res->meta->end;

	res->records = res->calls.entries + res->calls.exits;
	res->lost_records = res->calls.lost_records;
	if (!res->windowed && e->present && e->lost_records != META_UNKNOWN &&
	    e->lost_records > res->lost_records)
		res->lost_records = e->lost_records;
	if (!res->windowed && e->present)
		bound_losses(res, e->made_records);
	vec_for_each (&res->blocks, const struct block, b)
		res->untimed_calls += b->untimed_calls;
}

static void add_visitors(struct result *res, const struct result_options *o)
{
	struct call_visitor sci, sites, keyed, counting, coactivity, samples, untold, callstacks;

	sci_init(&res->sci, &res->calls, res->meta);
	sci = sci_visitor(&res->sci);
	calls_add_visitor(&res->calls, &sci);
	sites_init(&res->site_sums, &res->calls);
	sites = sites_visitor(&res->site_sums);
	calls_add_visitor(&res->calls, &sites);
	if (o->rule) {
		keyed_init(&res->keyed, o->rule, &res->calls, res->meta);
		keyed = keyed_visitor(&res->keyed);
	}
	if (o->rule && o->rule->key)
		calls_add_visitor(&res->calls, &keyed);
	counters_init(&res->counters, res->meta);
	counting = counters_visitor(&res->counters);
	if (o->rule && o->rule->key)
		counters_group_by(&res->counters, &res->keyed.latest);
	if (res->counters.mask)
		calls_add_visitor(&res->calls, &counting);
	callstacks_init(&res->callstacks, res->meta);
	callstacks = callstacks_visitor(&res->callstacks);
	calls_add_visitor(&res->calls, &callstacks);
	coactivity_init(&res->coactivity, &res->calls);
	coactivity = coactivity_visitor(&res->coactivity);
	if (o->rule && o->rule->key)
		coactivity_group_by(&res->coactivity, &res->keyed.latest);
	calls_add_visitor(&res->calls, &coactivity);
	samples_init(&res->samples, &res->calls);
	samples = samples_visitor(&res->samples);
	calls_add_visitor(&res->calls, &samples);
	untold_init(&res->untold, &res->calls, res->meta);
	untold = untold_visitor(&res->untold);
	calls_add_visitor(&res->calls, &untold);
	for (unsigned i = 0; i < RESULT_VISITORS; i++)
		if (o->visitors[i].self)
			calls_add_visitor(&res->calls, &o->visitors[i]);
}

/*
 * Builds the groups. The baseline is not used, because it has functions but no groups. Coactivity
 * is used only if a key makes the groups, because it saw the calls of no other groups.
 */
static void build_groups(struct result *res, const struct block_options *o)
{
	struct block_options without = *o;

	without.baseline = NULL;
	if (!res->keyed.rule.name)
		return;
	keyed_build(&res->keyed, &res->sci, &without, &res->groups);
	blocks_judge(
		&res->groups,
		&(struct evidence){ .meta = res->meta,
				    .duration_ns = o->duration_ns,
				    .coactivity = res->keyed.rule.key ? &res->coactivity : NULL,
				    .whole = &res->blocks });
}

static void count_cycles(struct result *res)
{
	blocks_count_cycles(&res->blocks, res->counters.cycles_per_ns);
	blocks_count_cycles(&res->sites, res->counters.cycles_per_ns);
	blocks_count_cycles(&res->groups, res->counters.cycles_per_ns);
}

static void conclude(struct result *res, const struct block_options *o)
{
	const struct evidence e = { .meta = res->meta,
				    .duration_ns = o->duration_ns,
				    .coactivity = &res->coactivity,
				    .samples = &res->samples };

	res->options = *o;
	res->waits_lost_ns = xcalloc(res->calls.threads.all.n + 1, sizeof(*res->waits_lost_ns));
	markers_scale_loops(&res->sci);
	blocks_build(&res->blocks, &res->sci, o);
	blocks_judge(&res->blocks, &e);
	/* the blocks hold its results, and the next steps need the memory */
	if (!res->keyed.rule.key)
		coactivity_release(&res->coactivity);
	vec_for_each (&res->blocks, struct block, b)
		b->in_lost = block_counts(b);
	sites_leave_out(&res->site_sums, &res->blocks);
	sites_build(&res->site_sums, o, &res->sites, res->waits_lost_ns);
	result_add_threads(res);
	scale_sampled(res);
	result_split_time(res);
	count_losses(res);
	self_cost(res);
	build_groups(res, o);
	if (res->coactivity.calls)
		coactivity_release(&res->coactivity);
	count_cycles(res);
	result_find_notices(res);
}

/* Starts the result; the options do not change while records come in. */
static int begin(struct result *res, uint64_t start_ns, const struct result_options *o,
		 struct err *err)
{
	int rc = o->baseline ? baseline_read(&res->baseline, o->baseline, err) : 0;

	if (rc)
		return rc;
	res->has_baseline = o->baseline != NULL;
	calls_init(&res->calls, res->meta, start_ns);
	add_visitors(res, o);
	return 0;
}

static void end(struct result *res)
{
	struct block_options bo = {
		.counters = &res->counters,
		.period = meta_period(res->meta),
	};

	sites_end(&res->site_sums);
	bo.duration_ns = res->probed_ns = without_pauses_ns(res);
	if (res->has_baseline) {
		bo.baseline = baseline_min;
		bo.baseline_off = baseline_off;
		bo.baseline_ctx = &res->baseline;
	}
	conclude(res, &bo);
}

int result_begin(struct result *res, const struct meta *meta, uint64_t start_ns,
		 const struct result_options *o, struct err *err)
{
	*res = (struct result){ .meta = meta, .start_ns = start_ns };
	return begin(res, start_ns, o, err);
}

void result_end(struct result *res, uint64_t end_ns)
{
	res->end_ns = end_ns;
	res->duration_ns = res->window_to_ns = end_ns - res->start_ns;
	calls_end(&res->calls, end_ns);
	end(res);
}

int result_read(struct result *res, struct trace_reader *r, const struct result_options *o,
		struct err *err)
{
	int rc;

	*res = (struct result){ .meta = trace_reader_meta(r) };
	rc = set_window(res, r, o, err);
	if (!rc)
		rc = begin(res, recording_start(r), o, err);
	if (rc)
		return rc;
	res->interrupted = pass(res, &res->calls, r) || o->interrupted;
	if (res->interrupted)
		result_notice(res, result_interrupted);
	res->damage = trace_reader_damage(r); /* includes damage found while reading */
	end(res);
	return 0;
}

const char result_interrupted[] =
	"interrupted: this is what was read until then, not the whole recording";

int result_scan(struct calls *calls, struct trace_reader *r, struct result_options *o,
		const struct call_visitor *v, struct err *err)
{
	struct result res = { .meta = trace_reader_meta(r) };
	int rc = set_window(&res, r, o, err);

	if (rc)
		return rc;
	calls_init(calls, res.meta, recording_start(r));
	calls_add_visitor(calls, v);
	if (pass(&res, calls, r)) {
		o->to_ns = res.window_to_ns;
		o->interrupted = true;
	}
	calls_release(calls);
	return 0;
}

/* Whether the function had enough calls for a verdict. */
static bool judged(const void *ctx, uint32_t id)
{
	const struct result *res = ctx;

	vec_for_each (&res->blocks, const struct block, b)
		if (b->id == id)
			return b->verdict != VERDICT_TOO_FEW_CALLS;
	return false;
}

void result_untold(const struct result *res, struct untold_functions *out)
{
	untold_find(&res->untold, judged, res, out);
}

#define CPUS_FULL 0.9 /* of the CPUs that the program may use */

bool result_fills_cpus(const struct result *res)
{
	return res->busy_cpus >= CPUS_FULL * res->usable_cpus;
}

void result_release(struct result *res)
{
	vec_for_each (&res->notices, struct notice, n)
		free(n->text);
	vec_release(&res->notices);
	vec_release(&res->threads);
	free(res->waits_lost_ns);
	blocks_release(&res->blocks);
	blocks_release(&res->sites);
	sites_release(&res->site_sums);
	callstacks_release(&res->callstacks);
	blocks_release(&res->groups);
	if (res->keyed.rule.name)
		keyed_release(&res->keyed);
	if (res->coactivity.calls)
		coactivity_release(&res->coactivity);
	if (res->samples.calls)
		samples_release(&res->samples);
	if (res->meta)
		sci_release(&res->sci);
	untold_release(&res->untold);
	counters_release(&res->counters);
	calls_release(&res->calls);
	baseline_release(&res->baseline);
}
