/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are handed over to be timed without probes (engine.h), and that come back. */
#include "probes/session/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/beside.h"
#include "probes/session/internal.h"
#include "symbol/dso/symbols.h"
#include "trace/meta/print.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define SET_OF_THEM 0x8000u /* no set of probes: those are counted from 0 */

static void hand_over(struct session *s, struct planned *p)
{
	p->is_beside = true;
	p->was_possible = p->possible;
	p->possible = p->in_turns = false;
	s->beside.n++;
}

void session_beside_offer(struct session *s, size_t first)
{
	const struct session_beside *b = s->r.options->beside;

	if (!b || s->r.is_hybrid || s->r.open_ns) /* what joins later is in no process of theirs */
		return;
	for (size_t i = first; i < s->r.plan.n; i++)
		if (b->wants(b->ctx, (uint32_t)i, s->r.plan.data[i]))
			hand_over(s, s->r.plan.data[i]);
}

size_t session_beside_offer_dear(struct session *s, struct planned **all, size_t n)
{
	const struct session_beside *b = s->r.options->beside;
	size_t kept = 0;

	if (!b || s->beside.tried)
		return n;
	for (size_t i = s->hybrid.first_candidate; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];

		if (!p->possible && p->reason == session_over_budget && p->cost_share > 0 &&
		    b->takes(b->ctx, (uint32_t)i, p, session_call_cost_ns(&s->costs, p)))
			hand_over(s, p);
	}
	for (size_t i = 0; i < n; i++)
		if (!all[i]->is_beside)
			all[kept++] = all[i];
	return kept;
}

void session_beside_begin(struct session *s)
{
	const struct session_beside *b = s->r.options->beside;

	if (b)
		b->begin(b->ctx, s->r.writer, s->r.cpus.n_possible);
}

/* ---- afterwards: who times which ---- */

static void describe(struct session *s, const struct planned *p, uint32_t id)
{
	struct meta_function f = { .id = id,
				   .set = SET_OF_THEM,
				   .object = session_object_id(&s->r.objects, p->what.dso) };
	struct text line = { 0 };

	planned_describe(p, &f);
	f.class = CLASS_UNKNOWN;
	f.exit = EXIT_RET_SITES;
	f.only_jumps = false;
	f.probe_offset = 0;
	f.n_arguments = 0;
	f.arguments = false;
	f.in_process = true;
	f.chosen = !s->r.is_hybrid;
	meta_print_function(&f, &line);
	session_write_line(&s->r, &line);
}

static void write_on(struct session *s, uint64_t since_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { SET_OF_THEM, 0 };
	const struct record r = { .kind = REC_SET_ON,
				  .cpu = s->r.cpus.n_possible,
				  .time_ns = since_ns,
				  .n_values = 2,
				  .values = values };

	trace_writer_record(s->r.writer, &r);
}

static void give_back(struct session *s, struct planned *p, const char *why)
{
	log_detail("%s gets kernel probes: not timed in process: %s",
		   dso_function_name(p->what.dso, p->what.function), why);
	p->is_beside = false;
	/* what was too dear is that again, and may have its turn */
	p->possible = p->was_possible;
	s->beside.n--;
}

/* Probes for those that have come back. */
static int build_again(struct session *s, struct err *err)
{
	struct probeset *set = NULL;
	int ret = session_build_set(s, 0, &set, err);

	if (!ret && set)
		ret = session_open_on_targets(&s->attach, &s->r, set, err);
	if (!ret && set)
		session_write_set(&s->r, set, true);
	return ret;
}

/* why: none of them is timed; NULL: those that are not left out are. */
static int settle(struct session *s, uint64_t since_ns, const char *why, struct err *err)
{
	const struct session_beside *b = s->r.options->beside;
	const size_t n = s->beside.n;

	for (size_t i = 0; i < s->r.plan.n; i++) {
		struct planned *p = s->r.plan.data[i];
		const char *left = !p->is_beside ? NULL : why ? why : b->left(b->ctx, (uint32_t)i);

		if (left)
			give_back(s, p, left);
		else if (p->is_beside)
			describe(s, p, (uint32_t)i);
	}
	if (s->beside.n)
		write_on(s, since_ns);
	return s->beside.n < n ? build_again(s, err) : 0;
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

static int settle_failed(struct session *s, const struct err *why, struct err *err)
{
	char words[sizeof(why->text) + 64];

	session_beside_refusal(why, words, sizeof(words));
	session_write_notice(&s->r, "kernel-probes", words);
	return settle(s, 0, why->text, err);
}

int session_beside_launch(struct session *s, struct err *err)
{
	const struct session_beside *b = s->r.options->beside;
	const uint64_t since_ns = clock_now_ns();
	struct err why = { 0 };
	int ret;

	if (!s->beside.n)
		return launch_exec(&s->r.launch, s->r.options->argv, err);
	s->beside.tried = true;
	s->beside.patched_ns = since_ns;
	ret = b->launch(b->ctx, &s->r.launch, s->r.options->argv, &why);
	s->beside.launched_ns = clock_now_ns();
	if (!ret)
		return settle(s, since_ns, NULL, err);
	if (s->r.launch.ended && ret == -ESRCH)
		return settle(s, 0, why.text, err);
	if (s->r.launch.ended) {
		*err = why;
		return ret;
	}
	ret = settle_failed(s, &why, err);
	return ret || s->r.launch.went ? ret : launch_exec(&s->r.launch, s->r.options->argv, err);
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
static void report_unpatched(struct session *s, const struct unpatched *u)
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
	session_write_notice(&s->r, "in-process-partly", words);
}

/* Returns how many are patched. */
static size_t patch_all(struct session *s, const struct pids *pids, struct err *why)
{
	const struct session_beside *b = s->r.options->beside;
	struct unpatched left = { 0 };
	size_t patched = 0;

	vec_for_each (pids, const pid_t, pid) {
		if (b->attach(b->ctx, *pid, true, why))
			note_unpatched(&left, *pid, why);
		else
			patched++;
	}
	if (patched)
		report_unpatched(s, &left);
	return patched;
}

int session_beside_attach(struct session *s, struct err *err)
{
	const uint64_t since_ns = clock_now_ns();
	struct pids pids = { 0 };
	struct err why = { 0 };
	size_t patched;

	if (!s->beside.n || s->beside.tried)
		return 0;
	s->beside.tried = true;
	s->beside.patched_ns = since_ns;
	bpfprog_targets(s->r.programs, &pids);
	patched = patch_all(s, &pids, &why);
	vec_release(&pids);
	if (!patched && !why.code)
		err_set(&why, -ESRCH, "no process is there any more; record what runs for longer");
	return patched ? settle(s, since_ns, NULL, err) : settle_failed(s, &why, err);
}

/* ---- while they are timed ---- */

uint64_t session_beside_drain(struct session *s)
{
	const struct session_beside *b = s->r.options->beside;

	return b && s->beside.tried && !s->beside.is_stopped ? b->drain(b->ctx) : UINT64_MAX;
}

void session_beside_let_go(const struct session *s)
{
	const struct session_beside *b = s->r.options->beside;

	if (b && s->beside.tried)
		b->let_go(b->ctx);
}

void session_beside_stop(struct session *s)
{
	const struct session_beside *b = s->r.options->beside;

	if (b && s->beside.tried && !s->beside.is_stopped)
		b->stop(b->ctx);
	s->beside.is_stopped = true;
}

void session_beside_sums(const struct session *s, struct session_beside_sums *sums)
{
	const struct session_beside *b = s->r.options->beside;

	*sums = (struct session_beside_sums){ 0 };
	if (b && s->beside.tried)
		b->sums(b->ctx, sums);
}
