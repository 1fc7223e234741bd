/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/owned.h"
#include "analysis/lock/table.h"
#include "analysis/result/grouping.h"
#include "analysis/result/notice.h"
#include "analysis/result/result.h"
#include "analysis/result/time.h"
#include "analysis/score/pools.h"
#include "analysis/sequence/owner.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

static int begin_locks(struct grouping *g, struct trace_reader *r, struct result *result,
		       struct result_options *o, struct err *err)
{
	int rc = sections_init(&g->sections, trace_reader_meta(r), &result->calls, &result->keyed,
			       err);

	o->visitors[RESULT_VISITORS - 1] = sections_visitor(&g->sections);
	g->rule = sections_rule(&g->sections);
	return rc;
}

static void release_locks(struct grouping *g)
{
	sections_release(&g->sections);
}

/* Begins to sum up what the holders of locks do, if functions that take locks were recorded. */
static void watch_holders(struct grouping *g, struct trace_reader *r, struct result *result,
			  struct result_options *o)
{
	const struct meta *meta = trace_reader_meta(r);
	struct err none = { 0 };
	struct keyed_rule rule;

	g->has_locks = !sections_init(&g->sections, meta, &result->calls, &g->lock_waits, &none);
	if (!g->has_locks) {
		sections_release(&g->sections);
		return;
	}
	g->sections.only_holding = true;
	rule = sections_rule(&g->sections);
	keyed_init(&g->lock_waits, &rule, &result->calls, meta);
	o->visitors[RESULT_VISITORS - 1] = sections_visitor(&g->sections);
}

static int begin_keys(struct grouping *g, struct trace_reader *r, struct result *result,
		      struct result_options *o, struct err *err)
{
	int rc = argkeys_init(&g->argkeys, trace_reader_meta(r), g->keys, g->n_keys, g->no_keys,
			      g->n_no_keys, err);

	if (!rc && g->argkeys.n_split)
		g->rule = argkeys_rule(&g->argkeys);
	if (!rc)
		watch_holders(g, r, result, o);
	return rc;
}

/* Sets what the holders of each lock do while others wait for it. */
static void set_holding(const struct grouping *g, struct blocks *blocks)
{
	vec_for_each (blocks, struct block, b)
		if (block_is_call(b) && b->function && lock_function_of(b->function) &&
		    (!b->grouped || (b->key && !strchr(b->key, '='))))
			b->holding = sections_holding(&g->sections, b->function->id,
						      b->grouped ? b->key : NULL);
}

static void end_holders(struct grouping *g, struct result *res)
{
	if (!g->has_locks)
		return;
	sections_sum_holding(&g->sections);
	set_holding(g, &res->blocks);
	set_holding(g, &res->groups);
}

static void end_keys(struct grouping *g, struct result *res)
{
	if (g->argkeys.n_split)
		argkeys_finish(&g->argkeys, &res->keyed, &res->blocks, &res->groups);
	end_holders(g, res);
}

static void release_keys(struct grouping *g)
{
	argkeys_release(&g->argkeys);
	if (!g->has_locks)
		return;
	sections_release(&g->sections);
	keyed_release(&g->lock_waits);
}

static int begin_sites(struct grouping *g, struct trace_reader *r, struct result *result,
		       struct result_options *o, struct err *err)
{
	(void)result, (void)o, (void)err;
	callsites_init(&g->callsites, trace_reader_meta(r));
	g->rule = callsites_rule(&g->callsites);
	return 0;
}

static void end_sites(struct grouping *g, struct result *res)
{
	callsites_place(&g->callsites, &res->keyed, &res->groups);
}

static void release_sites(struct grouping *g)
{
	callsites_release(&g->callsites);
}

static int learn(struct grouping *g, enum sequence_stage stage, struct trace_reader *r,
		 struct result_options *o, struct err *err)
{
	struct call_visitor v;
	struct calls calls = { 0 };
	int rc;

	sequences_begin(&g->sequences, stage, &calls, NULL);
	v = sequences_visitor(&g->sequences);
	rc = result_scan(&calls, r, o, &v, err);
	trace_reader_rewind(r);
	return rc;
}

static int learn_sequences(struct grouping *g, struct trace_reader *r, struct result_options *o,
			   struct err *err)
{
	int rc = learn(g, SEQUENCE_LOOPS, r, o, err);

	return rc ? rc : learn(g, SEQUENCE_PAIRS, r, o, err);
}

/* Sets how much each function loses, be it as a whole or by its per-argument rows. */
static void set_losses(struct grouping *g, const struct result *totals)
{
	double *of_groups = xcalloc(totals->meta->functions.n + 1, sizeof(*of_groups));

	vec_for_each (&totals->groups, const struct block, group)
		if (group->in_lost && group->function)
			of_groups[group->function->id] += group->lost_threads;
	vec_for_each (&totals->blocks, const struct block, b) {
		struct sequence_loss loss = { .min_ns = b->self_min_ns };
		double lost = (b->in_lost ? b->lost_threads : 0) + of_groups[b->id];

		/* of the recorded calls alone */
		if (lost > 0 && b->self_excess_ns && b->self_excess_ns != BLOCK_NONE)
			loss.share = lost * (double)totals->probed_ns * block_weight_calls(b) /
				     (double)b->self_excess_ns;
		sequences_set_loss(&g->sequences, b->id, loss);
	}
	free(of_groups);
}

static int begin_sequences(struct grouping *g, struct trace_reader *r, struct result *result,
			   struct result_options *o, struct err *err)
{
	int rc;

	sequences_init(&g->sequences, trace_reader_meta(r));
	rc = learn_sequences(g, r, o, err);
	set_losses(g, g->totals);
	sequences_begin(&g->sequences, SEQUENCE_MEASURE, &result->calls, &result->keyed);
	o->visitors[RESULT_VISITORS - 1] = sequences_visitor(&g->sequences);
	g->rule = sequences_rule(&g->sequences);
	return rc;
}

static int begin_transitions(struct grouping *g, struct trace_reader *r, struct result *result,
			     struct result_options *o, struct err *err)
{
	int rc = 0;

	sequences_init(&g->sequences, trace_reader_meta(r));
	if (g->of_sequences)
		rc = learn_sequences(g, r, o, err);
	sequences_begin(&g->sequences, SEQUENCE_MEASURE, &result->calls, NULL);
	g->transitions.of_sequences = g->of_sequences;
	g->sequences.transitions = &g->transitions;
	o->visitors[RESULT_VISITORS - 1] = sequences_visitor(&g->sequences);
	return rc;
}

#define UNSEEN_RELEASE \
	"a lock was taken while another thread seemed to have it: its release was not recorded"
#define AS_OF_WAITS ", as that of pthread_cond_wait; record " SECTION_WAIT_PATTERNS " too"

static void unseen_releases_notice(const struct sections *s, struct result *res)
{
	if (sections_see_waits(s))
		result_count_notice(res, s->unclear, "time " UNSEEN_RELEASE,
				    "times " UNSEEN_RELEASE);
	else
		result_count_notice(res, s->unclear, "time " UNSEEN_RELEASE AS_OF_WAITS,
				    "times " UNSEEN_RELEASE AS_OF_WAITS);
}

static void end_locks(struct grouping *g, struct result *res)
{
	struct block_options o = { .duration_ns = res->duration_ns,
				   .period = meta_period(res->meta) };

	sections_finish(&g->sections, &o, &res->groups);
	result_count_notice(res, g->sections.beyond,
			    "call is on a lock beyond the 65536 told apart",
			    "calls are on locks beyond the 65536 told apart");
	if (g->sections.partial)
		result_notice(res, meta_period(res->meta) > 1
					   ? "one call in several was recorded: which release is "
					     "of which lock is not known, so hold times and "
					     "holders are n/a"
					   : "short calls were not written: which of them released "
					     "a lock is not known, so hold times and holders are "
					     "n/a");
	unseen_releases_notice(&g->sections, res);
	result_count_notice(
		res, g->sections.no_result,
		"try to take a lock is without its result: what it held is not known; "
		"record it with @ret",
		"tries to take a lock are without their result: what they held is not known; "
		"record it with @ret");
}

static void refused_notice(const struct sequences *s, struct result *res)
{
	result_count_notice(
		res, s->patterns.refused,
		"repetition found no room among the sequences kept: these are not all",
		"repetitions found no room among the sequences kept: these are not all");
}

/* Gives each sequence the causes of the lost time that it owns. */
static void judge_owned(const struct sequences *s, struct result *res)
{
	vec_for_each (&res->groups, struct block, b) {
		double *owned_ns = sequence_owned_ns(s, b, res->probed_ns);

		if (owned_ns)
			causes_take_owned(b, &res->blocks, owned_ns);
		free(owned_ns);
	}
}

static void end_sequences(struct grouping *g, struct result *res)
{
	const struct sequences *s = &g->sequences;

	sequences_finish(&g->sequences, &res->groups, res->probed_ns);
	judge_owned(s, res);
	res->sequences = s;
	refused_notice(s, res);
	result_count_notice(
		res, s->not_kept,
		"call contains too many different calls to list: its sequence is FUNCTION { … }",
		"calls contain too many different calls to list: their sequences are FUNCTION { … "
		"}");
	if (meta_period(res->meta) > 1)
		result_notice(res,
			      "calls were sampled: sequences contain the recorded calls alone");
}

static void release_sequences(struct grouping *g)
{
	sequences_release(&g->sequences);
}

static void end_transitions(struct grouping *g, struct result *res)
{
	transitions_finish(&g->transitions, res->meta, &g->sequences.patterns);
	res->transitions = &g->transitions;
	refused_notice(&g->sequences, res);
	result_count_notice(res, g->transitions.beyond,
			    "step leads from or to a state beyond those told apart",
			    "steps lead from or to states beyond those told apart");
	if (meta_period(res->meta) > 1 || res->calls.brief)
		result_notice(res, "not every call was recorded: transitions are between those "
				   "that were");
}

static void release_transitions(struct grouping *g)
{
	sequences_release(&g->sequences);
	transitions_release(&g->transitions);
}

static const struct grouping_by bys[] = {
	{ "function", false, begin_keys, end_keys, release_keys },
	{ "lock", true, begin_locks, end_locks, release_locks },
	{ "sequence", true, begin_sequences, end_sequences, release_sequences },
	{ "site", true, begin_sites, end_sites, release_sites },
	/* the lost time of a thread includes that of per-argument rows, as on the first screen */
	{ "thread", false, begin_keys, end_keys, release_keys },
	{ "transition", true, begin_transitions, end_transitions, release_transitions },
};
#define BYS_N (sizeof(bys) / sizeof(bys[0]))

int grouping_find(const char *name, const struct grouping_by **by, struct err *err)
{
	struct text all = { 0 };

	for (size_t i = 0; i < BYS_N; i++) {
		*by = &bys[i];
		if (!strcmp(bys[i].name, name ? name : "function"))
			return 0;
	}
	for (size_t i = 0; i < BYS_N; i++)
		text_printf(&all, "%s%s", !i ? "" : i + 1 < BYS_N ? ", " : " or ", bys[i].name);
	err_set(err, -EINVAL, "--by %s is not available; use %s", name, all.s);
	err->exit_status = 2;
	text_release(&all);
	return -EINVAL;
}

static int read_grouped(struct grouping *g, struct trace_reader *r, struct result_options *o,
			struct result *result, struct err *err)
{
	int rc = 0;

	if (g->by->begin) {
		rc = g->by->begin(g, r, result, o, err);
		o->rule = g->rule.name ? &g->rule : NULL;
	}
	if (!rc)
		rc = result_read(result, r, o, err);
	if (!rc && g->by->end)
		g->by->end(g, result);
	if (!rc && result->groups.n)
		result_count_notice(
			result, result->calls.brief,
			"call left no more than its sums in the file (record --keep-slower): it "
			"is in no group, and the fastest of a group is that of the others",
			"calls left no more than their sums in the file (record --keep-slower): "
			"they are in no group, and the fastest of a group is that of the others");
	if (!rc)
		result_count_groups(result);
	return rc;
}

/*
 * Reads how thread time divides, which must be the same for every kind of row: the division by
 * functions and their per-argument rows. Groups that overlap, or that another rule makes, would
 * divide it differently.
 */
static int read_totals(const struct grouping *g, struct trace_reader *r,
		       const struct result_options *o, struct result *totals, struct err *err)
{
	struct grouping functions = {
		.keys = g->keys,
		.n_keys = g->n_keys,
		.no_keys = g->no_keys,
		.n_no_keys = g->n_no_keys,
	};
	struct result_options all = *o;
	int rc = grouping_find(NULL, &functions.by, err);

	memset(all.visitors, 0, sizeof(all.visitors));
	if (!rc)
		rc = read_grouped(&functions, r, &all, totals, err);
	grouping_release(&functions);
	trace_reader_rewind(r);
	return rc;
}

int grouping_read(struct grouping *g, struct trace_reader *r, struct result_options *o,
		  struct result *result, struct err *err)
{
	struct result totals;
	int rc;

	if (!g->by->alone)
		return read_grouped(g, r, o, result, err);
	rc = read_totals(g, r, o, &totals, err);
	if (rc)
		return rc;
	if (totals.interrupted) {
		o->to_ns = totals.window_to_ns;
		o->interrupted = true;
	}
	g->totals = &totals;
	rc = read_grouped(g, r, o, result, err);
	g->totals = NULL;
	if (!rc)
		result_take_time(result, &totals);
	result_release(&totals);
	return rc;
}

void grouping_release(struct grouping *g)
{
	if (g->by && g->by->release)
		g->by->release(g);
}
