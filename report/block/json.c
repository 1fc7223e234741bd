/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/json.h"

#include <math.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/cause/work.h"
#include "analysis/lock/holding.h"
#include "analysis/lock/section.h"
#include "analysis/evidence/untold.h"
#include "analysis/result/result.h"
#include "analysis/sequence/sequence.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/coactive.h"
#include "report/block/column.h"
#include "report/block/counters.h"
#include "report/block/stacks.h"
#include "report/block/transitions.h"
#include "report/block/view.h"
#include "trace/meta/meta.h"

void report_set_known(struct json *obj, const char *key, uint64_t v)
{
	if (v == BLOCK_NONE)
		json_set_null(obj, key);
	else
		json_set_u64(obj, key, v);
}

void report_set_name(struct json *obj, const char *key, const char *s)
{
	char *printable = s ? text_printable_new(s) : NULL;

	json_set_string(obj, key, printable);
	free(printable);
}

static const char *const taker_kinds[] = {
	[TAKER_UNKNOWN] = "unknown",   [TAKER_IDLE] = "idle CPU", [TAKER_PROGRAM] = "program",
	[TAKER_RECORDER] = "recorder", [TAKER_OTHER] = "other",
};

/*
 * Returns the programs that ran on the CPUs that the threads waited for. Time from before the
 * probes were inserted counts, too.
 */
static struct json *takers_json(const struct result *res)
{
	struct json *list = json_new_array();

	vec_for_each (&res->calls.threads.takers, const struct taker, t) {
		struct json *one = json_new_object();

		json_set_string(one, "who", taker_kinds[t->kind]);
		report_set_known(one, "pid", t->pid ? t->pid : BLOCK_NONE);
		report_set_name(one, "name",
				t->kind == TAKER_OTHER ? meta_process_comm(res->meta, t->pid)
						       : NULL);
		json_set_u64(one, "ns", t->ns);
		json_add_take(list, one);
	}
	return list;
}

/* Returns how cycles are computed, or, if they are not known, why not. */
static struct json *cycles_json(const struct result *res)
{
	struct json *j = json_new_object();
	const char *why;

	json_set_f64(j, "per_ns", meta_cycles_per_ns(res->meta, &why));
	report_set_name(j, "source", *why ? NULL : res->counters.stamp ? "tsc" : "converted");
	report_set_name(j, "why", *why ? why : NULL);
	return j;
}

/* Returns the sums over the windows of record --solo. */
static struct json *solo_json(const struct meta *meta)
{
	struct json *j = json_new_object();
	uint64_t ns = 0, waited_ns = 0;

	vec_for_each (&meta->solos, const struct meta_solo, w) {
		ns += w->end_ns > w->begin_ns ? w->end_ns - w->begin_ns : 0;
		waited_ns += w->waited_ns;
	}
	json_set_u64(j, "windows", meta->solos.n);
	json_set_u64(j, "ns", ns);
	json_set_u64(j, "waited_ns", waited_ns);
	return j;
}

static struct json *trace_json(const struct view *v)
{
	const struct result *res = v->result;
	const struct meta_session *s = &res->meta->session;
	struct json *j = json_new_object();

	report_set_name(j, "file", v->file);
	report_set_name(j, "command", s->command);
	report_set_name(j, "program", s->program && *s->program ? s->program : NULL);
	report_set_known(j, "pid", s->pid);
	json_set_u64(j, "duration_ns", res->duration_ns);
	report_set_name(j, "clock", s->clock);
	json_set_take(j, "cycles", cycles_json(res));
	report_set_known(j, "cpus", s->cpus ? s->cpus : BLOCK_NONE);
	json_set_u64(j, "threads", threads_count(&res->calls.threads));
	json_set_u64(j, "calls", res->calls.entries);
	json_set_u64(j, "records", res->records);
	json_set_u64(j, "lost_records", res->lost_records);
	json_set_u64(j, "untimed_calls", res->untimed_calls);
	json_set_f64(j, "coverage", res->coverage);
	report_set_known(j, "cpu_ns",
			 res->meta->end.present ? res->meta->end.target_cpu_ns : BLOCK_NONE);
	report_set_known(j, "working_ns", res->working_ns);
	report_set_known(j, "lost_ns", res->lost_ns);
	report_set_known(j, "unexplained_ns", res->unexplained_ns);
	report_set_known(j, "idle_ns", res->idle_ns);
	report_set_known(j, "runnable_ns", res->runnable_ns);
	report_set_known(j, "ready_ns", res->ready_ns);
	json_set_take(j, "ready_behind", takers_json(res));
	json_set_f64(j, "busy_cpus", res->working_ns == BLOCK_NONE ? NAN : res->busy_cpus);
	if (res->usable_cpus < (double)s->cpus)
		json_set_f64(j, "usable_cpus", res->usable_cpus);
	json_set_u64(j, "probed_ns", res->probed_ns);
	if (res->calls.threads.unwatched.n) {
		json_set_u64(j, "switches_unrecorded_ns", res->calls.threads.unwatched.ns);
		json_set_u64(j, "switches_unrecorded", res->calls.threads.unwatched.switches);
	}
	if (res->meta->solos.n)
		json_set_take(j, "solo", solo_json(res->meta));
	json_set_u64(j, "threads_ns", res->threads_ns);
	report_set_name(j, "kernel", s->kernel);
	report_set_name(j, "pmu", s->pmu);
	report_set_name(j, "producer",
			meta_has_both_engines(res->meta) ? "bpf in-process" : s->producer);
	json_set_bool(j, "uprobe_sessions", s->uprobe_sessions);
	json_set_u64(j, "from_ns", res->window_from_ns);
	json_set_u64(j, "to_ns", res->window_to_ns);
	return j;
}

static struct json *cost_json(const struct result *res)
{
	const struct meta_end *e = &res->meta->end;
	struct json *j = json_new_object();

	report_set_known(j, "pair_min_ns", res->pair_min_ns);
	report_set_known(j, "pair_p50_ns", res->pair_p50_ns);
	report_set_known(j, "pair_p99_ns", res->pair_p99_ns);
	json_set_f64(j, "overhead", res->overhead);
	if (isnan(res->overhead))
		json_set_null(j, "overhead_is_least");
	else
		json_set_bool(j, "overhead_is_least", res->overhead_is_least);
	json_set_f64(j, "overhead_cpus", res->overhead_cpus);
	report_set_known(j, "sample_ns", e->sample_ns);
	report_set_known(j, "sampling_cost_ns", e->sampling_cost_ns);
	report_set_known(j, "scheduling_cost_ns", e->scheduling_cost_ns);
	report_set_known(j, "counting_cost_ns", e->counting_cost_ns);
	report_set_known(j, "after_cost_ns", e->after_cost_ns);
	report_set_known(j, "probes_cost_ns", e->probes_cost_ns);
	return j;
}

static struct json *notices_json(const struct result *res)
{
	struct json *j = json_new_array();

	if (res->damage)
		json_add_string(j, res->damage);
	vec_for_each (&res->notices, const struct notice, n)
		json_add_string(j, n->text);
	return j;
}

static struct json *threads_json(const struct result *res)
{
	const struct threads *th = &res->calls.threads;
	struct json *j = json_new_array();

	vec_for_each (&res->threads, const struct result_thread, t) {
		bool rest = t->thread == th->rest;
		const struct meta_frame *begin;
		struct json *row;

		if (t->thread->vacant)
			continue;
		row = json_new_object();
		report_set_known(row, "tid", rest ? BLOCK_NONE : t->thread->tid);
		report_set_known(row, "pid", rest ? BLOCK_NONE : t->thread->tgid);
		report_set_name(row, "comm", t->thread->comm[0] ? t->thread->comm : NULL);
		begin = untold_begin(&res->untold, t->thread->index);
		report_set_name(row, "start", begin ? begin->symbol : NULL);
		json_set_u64(row, "observed_ns", t->observed_ns);
		json_set_f64(row, "sci", t->sci);
		if (rest)
			json_set_u64(row, "threads", th->n_rest);
		json_add_take(j, row);
	}
	return j;
}

static struct json *not_traced_json(const struct result *res)
{
	struct json *j = json_new_array();

	vec_for_each (&res->meta->not_traced, const struct meta_not_traced, n) {
		struct json *row = json_new_object();

		report_set_name(row, "name", n->name);
		report_set_name(row, "object", n->object);
		report_set_name(row, "reason", n->reason);
		report_set_known(row, "traced_until_ns",
				 n->traced_until_ns ? result_since_start(res, n->traced_until_ns)
						    : BLOCK_NONE);
		report_set_known(row, "traced_again_ns",
				 n->traced_again_ns ? result_since_start(res, n->traced_again_ns)
						    : BLOCK_NONE);
		json_set_f64(row, "cpu_share", n->cpu_share);
		json_set_f64(row, "calls_per_s", n->calls_per_s);
		json_set_f64(row, "cost_share", n->cost_share);
		json_add_take(j, row);
	}
	return j;
}

struct json *report_causes_json(const struct block *b)
{
	struct json *j = json_new_array();

	vec_for_each (&b->causes, const struct cause, c) {
		struct json *row = json_new_object();
		struct json *evidence = json_new_array();

		json_set_string(row, "kind", c->kind);
		json_set_f64(row, "share", c->share);
		json_set_f64(row, "lost", c->lost);
		json_set_f64(row, "confidence", c->confidence);
		vec_for_each (&c->evidence, char *, e)
			json_add_string(evidence, *e);
		json_set_take(row, "evidence", evidence);
		json_add_take(j, row);
	}
	return j;
}

/* Returns how much of the excess each kind of time has, or NULL if there is no excess or the kinds
 * are not known. */
static struct json *split_json(const struct block *b)
{
	static const char *const names[CAUSE_POOLS] = {
		[POOL_CALLEE] = "callee_ns",   [POOL_PREEMPTED] = "runnable_ns",
		[POOL_BLOCKED] = "blocked_ns", [POOL_IDLE] = "idle_ns",
		[POOL_RUNNING] = "running_ns",
	};
	struct json *j;

	if (!(block_pools_ns(b) > 0))
		return NULL;
	j = json_new_object();
	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		if (b->off_known || p == POOL_CALLEE)
			json_set_u64(j, names[p], (uint64_t)(b->pools[p] + 0.5));
		else
			json_set_null(j, names[p]);
	return j;
}

/* Returns the argument or the count that durations grow with because the work does, or NULL if none
 * was found. */
static struct json *work_json(const struct block *b)
{
	struct work part = b->work.by == WORK_UNPROVEN ? work_part(b) : b->work;
	struct json *j;

	if (part.by == WORK_UNPROVEN)
		return NULL;
	j = json_new_object();
	json_set_string(j, "by", work_by_name(part.by));
	if (part.by == WORK_ARGUMENT)
		json_set_u64(j, "argument", work_argument(b));
	json_set_f64(j, "share", part.share);
	return j;
}

/* Returns the block's calls within the windows of record --solo. */
static struct json *block_solo_json(const struct block *b)
{
	struct json *j = json_new_object();

	json_set_u64(j, "calls", b->solo.calls);
	json_set_bool(j, "is_fastest", b->solo.is_fastest);
	report_set_known(j, "min_without_ns", b->solo.min_without_ns);
	json_set_f64(j, "sci_without", b->solo.sci_without);
	json_set_f64(j, "own_mean_ns", b->solo.own_ns);
	return j;
}

static struct json *places_json(const struct section_places *places, const char *count)
{
	struct json *list = json_new_array();

	for (uint32_t i = 0; i < places->n; i++) {
		const struct section_place *p = &places->data[i];
		struct json *row = json_new_object();

		report_set_name(row, "site", p->name);
		json_set_u64(row, count, p->waits);
		json_set_u64(row, "wait_ns", p->wait_ns);
		json_add_take(list, row);
	}
	return list;
}

/* Returns the holders of the lock and where it is taken. The caller adds the lock's columns. */
static struct json *lock_json(const struct block *b)
{
	struct json *lock = json_new_object();

	json_set_take(lock, "holders", places_json(&b->section->holders, "waits"));
	json_set_take(lock, "takers", places_json(&b->section->takers, "calls"));
	return lock;
}

/* Returns what holders of the lock do while others wait, as shares of the time waited. */
static struct json *holding_json(const struct result *res, const struct block *b)
{
	const struct holding_sums *sums = b->holding;
	struct holding_most most = holding_most(sums);
	struct json *j = json_new_object();

	report_set_name(j, "function",
			most.function < res->meta->functions.n
				? res->meta->functions.data[most.function].name
				: NULL);
	report_set_name(j, "sampled_function", most.sampled ? most.sampled->symbol : NULL);
	json_set_f64(j, "share", most.share);
	json_set_f64(j, "running", sums->running_ns / sums->wait_ns);
	json_set_f64(j, "runnable", sums->runnable_ns / sums->wait_ns);
	json_set_f64(j, "asleep", sums->asleep_ns / sums->wait_ns);
	return j;
}

/* Sets the member to null if ns is 0, which means that the time is not known. */
static void set_known(struct json *j, const char *key, uint64_t ns)
{
	if (ns)
		json_set_u64(j, key, ns);
	else
		json_set_null(j, key);
}

struct json *report_block_json(const struct result *res, const struct block *b)
{
	struct json *j = json_new_object();
	struct json *probe = json_new_object(), *lock = b->section ? lock_json(b) : NULL;
	struct json *work = work_json(b), *split = split_json(b);
	char scratch[VALUE_SCRATCH];

	for (unsigned c = 0; c < columns_n; c++) {
		struct value value = columns[c].get(b, scratch);
		const char *group = columns[c].group;

		if (!group)
			value_set_json(j, columns[c].key, &value);
		else if (!strcmp(group, "probe"))
			value_set_json(probe, columns[c].key, &value);
		else if (!strcmp(group, "thread") && b->thread)
			value_set_json(j, columns[c].key, &value);
		else if (!strcmp(group, "lock") && b->section)
			value_set_json(lock, columns[c].key, &value);
	}
	json_set_take(j, "probe", probe);
	if (lock)
		json_set_take(j, "lock", lock);
	if (b->holding && b->holding->wait_ns > 0)
		json_set_take(j, "holding", holding_json(res, b));
	json_set_take(j, "counters", counters_json(res->meta, b));
	if (split)
		json_set_take(j, "excess_split", split);
	else
		json_set_null(j, "excess_split");
	set_known(j, "free_ns", b->free_ns);
	set_known(j, "asked_ns", b->asked_ns);
	json_set_take(j, "causes", report_causes_json(b));
	if (b->sums && b->all_threads->meta->solos.n)
		json_set_take(j, "solo", block_solo_json(b));
	if (work)
		json_set_take(j, "workload", work);
	else
		json_set_null(j, "workload");
	report_set_coactive(j, res, b);
	json_set_take(j, "stacks", report_stacks_json(res, b));
	return j;
}

static struct json *sequences_json(const struct sequences *s)
{
	struct json *j = json_new_object();

	json_set_f64(j, "calls_in_50", s->share_of_50);
	json_set_u64(j, "calls_not_told_apart", s->not_kept);
	json_set_u64(j, "repetitions_without_room", s->patterns.refused);
	return j;
}

void report_json(const struct view *v, struct text *out)
{
	struct json *j = json_new_object();
	struct json *blocks = json_new_array();

	json_set_u64(j, "version", REPORT_JSON_VERSION);
	json_set_take(j, "trace", trace_json(v));
	json_set_take(j, "self_cost", cost_json(v->result));
	json_set_take(j, "notices", notices_json(v->result));
	json_set_take(j, "threads", threads_json(v->result));
	json_set_take(j, "not_traced", not_traced_json(v->result));
	if (v->result->sequences)
		json_set_take(j, "sequences", sequences_json(v->result->sequences));
	if (v->result->transitions)
		json_set_take(j, "transitions",
			      report_transitions_json(v->result->transitions, v->top));
	for (size_t i = 0; i < v->n_rows && (!v->top || i < v->top); i++)
		json_add_take(blocks, report_block_json(v->result, v->rows[i]));
	json_set_take(j, "blocks", blocks);
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}
