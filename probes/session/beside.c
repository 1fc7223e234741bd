/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/costs.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/select/blocking.h"
#include "probes/session/attach.h"
#include "probes/session/engine.h"
#include "probes/session/set.h"
#include "symbol/dso/symbols.h"
#include "trace/meta/print.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define SET_OF_THEM 0x8000u /* no set of probes: those are counted from 0 */

#define DRAIN_EVERY 16 /* functions that are described between two reads of the rings */

static void hand_over(struct beside *beside, struct planned *p)
{
	p->is_beside = true;
	p->possible = p->in_turns = false;
	beside->n++;
}

void session_beside_choose(const struct recording *r, struct selection *s,
			   struct dso *const *objects, size_t n, size_t n_programs)
{
	const struct session_beside *b = r->options->beside;

	if (b && r->is_hybrid && !r->open_ns && !r->options->n_pids && !r->options->scout)
		b->choose(b->ctx, s, objects, n, n_programs);
}

void session_beside_offer(struct beside *beside, struct recording *r, size_t first)
{
	const struct session_beside *b = r->options->beside;

	if (!b || r->open_ns) /* what joins later is in no process of theirs */
		return;
	for (size_t i = first; i < r->plan.n; i++)
		if (b->add_chosen(b->ctx, (uint32_t)i, r->plan.data[i]))
			hand_over(beside, r->plan.data[i]);
}

size_t session_beside_offer_costly(struct beside *beside, struct recording *r, size_t first,
				   struct planned **all, size_t n)
{
	const struct session_beside *b = r->options->beside;
	size_t kept = 0;

	if (!b || beside->tried)
		return n;
	for (size_t i = first; i < r->plan.n; i++) {
		struct planned *p = r->plan.data[i];

		if (!p->possible && p->reason == session_over_budget && p->cost_share > 0 &&
		    b->add_costly(b->ctx, (uint32_t)i, p, costs_call_ns(beside->costs, p)))
			hand_over(beside, p);
	}
	for (size_t i = 0; i < n; i++)
		if (!all[i]->is_beside)
			all[kept++] = all[i];
	return kept;
}

void session_beside_begin(struct recording *r)
{
	const struct session_beside *b = r->options->beside;

	if (b)
		b->begin(b->ctx, r->writer, r->cpus.n_possible, &r->drain.addresses,
			 &r->drain.stacks);
}

/* ---- afterwards: who times which ---- */

static void describe(struct recording *r, const struct planned *p, uint32_t id)
{
	struct meta_function f = { .id = id,
				   .set = SET_OF_THEM,
				   .object = objects_id(&r->objects, p->what.dso) };
	const struct session_beside *b = r->options->beside;
	const struct arguments *a = b->arguments(b->ctx, id);
	struct text line = { 0 };

	planned_describe(p, &f);
	f.class = CLASS_UNKNOWN;
	f.exit = EXIT_RET_SITES;
	f.only_jumps = false;
	f.probe_offset = 0;
	f.n_arguments = a ? a->n : 0;
	f.arguments = a ? a->all : NULL;
	f.in_process = true;
	f.chosen = !r->is_hybrid;
	meta_print_function(&f, &line);
	recording_write_line(r, &line);
}

static void write_on(const struct recording *r, uint64_t since_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { SET_OF_THEM, 0 };
	const struct record record = { .kind = REC_SET_ON,
				       .cpu = r->cpus.n_possible,
				       .time_ns = since_ns,
				       .n_values = 2,
				       .values = values };

	trace_writer_record(r->writer, &record);
}

static void give_back(struct beside *beside, const struct recording *r, struct planned *p,
		      const char *why)
{
	log_detail("%s is left to kernel probes: not timed in process: %s",
		   dso_function_name(p->what.dso, p->what.function), why);
	p->is_beside = false;
	/* choose() selected it before anything was known of the program. Kernel probes are for hot
	 * functions, so it is selected again only if samples find it hot. */
	p->what.is_dropped = r->is_hybrid && p->reason != session_over_budget &&
			     !blocking_on_threads(p->what.function->symbol);
	/* A function that was over the budget is so again, and may have its turn. */
	p->possible = !*p->reason && !p->what.is_dropped;
	beside->n--;
}

/* Probes for those that have come back. */
static int build_again(struct beside *beside, struct recording *r, struct err *err)
{
	bool added;

	return session_add_set(beside->attach, r, beside->costs, 0, &added, err);
}

/* why: none of them is timed; NULL: those that are not left out are. */
static int settle(struct beside *beside, struct recording *r, uint64_t since_ns, const char *why,
		  struct err *err)
{
	const struct session_beside *b = r->options->beside;
	const size_t n = beside->n;

	for (size_t i = 0; i < r->plan.n; i++) {
		struct planned *p = r->plan.data[i];
		const char *left = !p->is_beside ? NULL
				   : why	 ? why
						 : b->drop_untimed(b->ctx, (uint32_t)i);

		/* Rings fill up while the names and lines of many functions are looked up. */
		if (!why && i % DRAIN_EVERY == DRAIN_EVERY - 1)
			b->drain(b->ctx);
		if (left)
			give_back(beside, r, p, left);
		else if (p->is_beside)
			describe(r, p, (uint32_t)i);
	}
	r->has_whole_budget = !beside->n;
	if (beside->n)
		write_on(r, since_ns);
	return beside->n < n ? build_again(beside, r, err) : 0;
}

/* Errors say what to do instead, which is what is done, or does not help. */
int session_beside_problem(const struct err *why)
{
	return (int)(why->hint ? why->hint - 2 : strlen(why->text));
}

void session_beside_refusal(const struct err *why, char *words, size_t n)
{
	snprintf(words, n, "all calls are timed by kernel probes: %.*s",
		 session_beside_problem(why), why->text);
}

static int settle_failed(struct beside *beside, struct recording *r, const struct err *why,
			 struct err *err)
{
	char words[sizeof(why->text) + 64];

	session_beside_refusal(why, words, sizeof(words));
	if (r->options->beside_is_asked)
		recording_write_notice(r, "kernel-probes", words);
	else
		log_detail("%s", words);
	return settle(beside, r, 0, why->text, err);
}

/* For fall_back(), which gives the functions kernel probes while the command is stopped. */
struct fallback {
	struct beside *beside;
	struct recording *r;
	struct err *err;
	int ret;
	bool is_done;
};

static void fall_back(void *ctx, const struct err *why)
{
	struct fallback *f = ctx;

	f->is_done = true;
	f->ret = settle_failed(f->beside, f->r, why, f->err);
}

int session_beside_launch(struct beside *beside, struct recording *r, struct err *err)
{
	const struct session_beside *b = r->options->beside;
	const uint64_t since_ns = clock_now_ns();
	struct fallback fallback = { .beside = beside, .r = r, .err = err };
	const struct session_unpatched unpatched = { fall_back, &fallback };
	struct err why = { 0 };
	int ret;

	if (!beside->n)
		return launch_exec(&r->launch, r->options->argv, err);
	beside->tried = true;
	beside->patched_ns = since_ns;
	ret = b->launch(b->ctx, &r->launch, r->options->argv, &unpatched, &why);
	beside->launched_ns = clock_now_ns();
	if (!ret)
		return settle(beside, r, since_ns, NULL, err);
	if (fallback.is_done)
		return fallback.ret;
	if (r->launch.ended && ret == -ESRCH)
		return settle(beside, r, 0, why.text, err);
	if (r->launch.ended) {
		*err = why;
		return ret;
	}
	ret = settle_failed(beside, r, &why, err);
	return ret || r->launch.went ? ret : launch_exec(&r->launch, r->options->argv, err);
}

/* Processes that are not patched, while others are. */
struct unpatched {
	size_t n;
	pid_t first;
	struct err why;
};

static void note_unpatched(struct unpatched *u, pid_t pid, const struct err *why)
{
	/* it has ended, or has no file of those functions */
	if (why->code == -ESRCH || why->code == -ENOENT || u->n++)
		return;
	u->first = pid;
	u->why = *why;
}

/* Each function is timed in one way: those of these processes are not timed at all. */
static void report_unpatched(struct recording *r, const struct unpatched *u)
{
	char words[sizeof(u->why.text) + 160], others[TEXT_COUNTED] = "";

	if (!u->n)
		return;
	if (u->n > 1)
		text_counted(others, u->n - 1, "other");
	snprintf(
		words, sizeof(words),
		"process %d%s%s %s no records of functions that are timed in process: %.*s; record "
		"with --engine kernel",
		u->first, u->n > 1 ? " and " : "", others, u->n > 1 ? "have" : "has",
		session_beside_problem(&u->why), u->why.text);
	recording_write_notice(r, "in-process-partly", words);
}

/* Returns how many are patched. */
static size_t patch_all(struct recording *r, const struct pids *pids, struct err *why)
{
	const struct session_beside *b = r->options->beside;
	struct unpatched left = { 0 };
	size_t patched = 0;

	vec_for_each (pids, const pid_t, pid) {
		if (b->attach(b->ctx, *pid, true, why))
			note_unpatched(&left, *pid, why);
		else
			patched++;
	}
	if (patched)
		report_unpatched(r, &left);
	return patched;
}

int session_beside_attach(struct beside *beside, struct recording *r, struct err *err)
{
	const uint64_t since_ns = clock_now_ns();
	struct pids pids = { 0 };
	struct err why = { 0 };
	size_t patched;

	if (!beside->n || beside->tried)
		return 0;
	beside->tried = true;
	beside->patched_ns = since_ns;
	bpfprog_targets(r->programs, &pids);
	patched = patch_all(r, &pids, &why);
	vec_release(&pids);
	if (!patched && !why.code)
		err_set(&why, -ESRCH, "no process is there any more; record what runs for longer");
	return patched ? settle(beside, r, since_ns, NULL, err)
		       : settle_failed(beside, r, &why, err);
}

/* ---- while they are timed ---- */

bool session_beside_times(const struct beside *beside)
{
	return beside->n && beside->tried;
}

bool session_beside_is_stopped(const struct beside *beside)
{
	return beside->is_stopped;
}

bool session_beside_is_later(const struct beside *beside, uint64_t time_ns)
{
	return time_ns > beside->patched_ns;
}

bool session_beside_may_have(const struct beside *beside, uint64_t time_ns)
{
	return time_ns <= beside->launched_ns;
}

uint64_t session_beside_drain(const struct beside *beside, const struct recording *r)
{
	const struct session_beside *b = r->options->beside;

	return b && beside->tried && !beside->is_stopped ? b->drain(b->ctx) : UINT64_MAX;
}

void session_beside_detach_late(const struct beside *beside, const struct recording *r)
{
	const struct session_beside *b = r->options->beside;

	if (b && beside->tried)
		b->detach_late(b->ctx);
}

void session_beside_stop(struct beside *beside, const struct recording *r)
{
	const struct session_beside *b = r->options->beside;

	if (b && beside->tried && !beside->is_stopped)
		b->stop(b->ctx);
	beside->is_stopped = true;
}

void session_beside_sums(const struct beside *beside, const struct recording *r,
			 struct session_beside_sums *sums)
{
	const struct session_beside *b = r->options->beside;

	*sums = (struct session_beside_sums){ 0 };
	if (b && beside->tried)
		b->sums(b->ctx, sums);
}
