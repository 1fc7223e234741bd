/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that execute a program, or load a library, once functions are timed in process
 * (beside.c): their memory has no patches, and no kernel probes either. They are patched as soon as
 * they have mapped what they map at their start, and it is said of how many calls are missing
 * before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/beside.h"
#include "probes/session/engine.h"
#include "probes/session/internal.h"
#include "symbol/dso/dso.h"

#define QUIET_NS   2000000ull	/* without a new mapping: the loader has mapped the libraries */
#define LOADING_NS 100000000ull /* but no longer than that is waited for it */
#define AGAIN_NS   20000000ull	/* between two tries of a process that cannot be stopped now */
#define TRYING_NS  1000000000ull
#define TURN_NS	   10000000ull /* of patching, before the kernel's rings are read again */
#define MOST	   256	       /* processes: each has a region of its own in ispot */
#define MOST_NEW   1024	       /* that are to be patched next */
/* For so long processes may be patched in all; later, also a share of the time: a program that
 * executes others without end decides how many there are. */
#define FIRST_NS 1000000000ull
#define ONE_IN	 20

static bool is_of(const struct dso *dso, const struct drain_mapping *m)
{
	return dso_inode(dso) == m->inode &&
	       dso_device(dso) == makedev(m->device_major, m->device_minor);
}

/* Whether the file has functions that are timed in process. */
static bool has_functions(const struct session *s, const struct drain_mapping *m)
{
	const struct dso *last = NULL;

	for (size_t i = 0; i < s->r.plan.n; i++) {
		const struct planned *p = s->r.plan.data[i];

		if (!p->is_beside || p->what.dso == last)
			continue;
		last = p->what.dso;
		if (is_of(last, m))
			return true;
	}
	return false;
}

static struct newcomer *find(struct session *s, pid_t pid)
{
	vec_for_each (&s->beside.newcomers, struct newcomer, n)
		if (n->pid == pid)
			return n;
	return NULL;
}

static struct patched_newcomer *find_patched(struct beside *b, pid_t pid)
{
	vec_for_each (&b->patched, struct patched_newcomer, n)
		if (n->pid == pid)
			return n;
	return NULL;
}

static void add_patched(struct beside *b, pid_t pid, uint64_t now_ns)
{
	struct patched_newcomer *n = find_patched(b, pid);

	*(n ? n : vec_add(&b->patched)) = (struct patched_newcomer){ pid, now_ns };
}

/* A process with patches has mapped a file: what was patched before has none of its functions. */
static void count_loaded(struct beside *b, const struct newcomer *n)
{
	const struct patched_newcomer *patched = find_patched(b, n->pid);

	if (n->has_file && !n->may_be_patched && (!patched || n->since_ns > patched->time_ns))
		b->n_loaded++;
}

/* It has ended, or executed another program, before it could be patched, or patched once more. */
static void count_ended(struct beside *b, const struct newcomer *n)
{
	if (find_patched(b, n->pid))
		count_loaded(b, n);
	else if (n->has_file && !n->may_be_patched)
		b->n_ended++;
}

static void refuse(struct beside *b, const struct err *why)
{
	if (!b->n_refused++)
		b->refused = *why;
}

static struct newcomer *add_newcomer(struct beside *b, pid_t pid, uint64_t time_ns)
{
	struct newcomer *n;
	struct err why = { 0 };

	if (b->newcomers.n == MOST_NEW) {
		err_set(&why, -EAGAIN,
			"too many processes execute a program; record with --engine kernel");
		refuse(b, &why);
		return NULL;
	}
	n = vec_add(&b->newcomers);
	*n = (struct newcomer){ .pid = pid, .since_ns = time_ns };
	return n;
}

/* has_file: the process has mapped a file of those functions, or is_guess: it may have. Otherwise
 * the mapping only says that its loader is still at work. */
static void note(struct session *s, pid_t pid, uint64_t time_ns, bool has_file, bool is_guess)
{
	struct newcomer *n = find(s, pid);

	if (!n && (has_file || is_guess))
		n = add_newcomer(&s->beside, pid, time_ns);
	if (!n)
		return;
	n->has_file |= has_file;
	if (time_ns < n->since_ns + LOADING_NS)
		n->ready_ns = time_ns + QUIET_NS;
	n->may_be_patched = pid == s->r.launch.pid && time_ns <= s->beside.launched_ns;
}

/* Which of them have mapped something is not known. */
static void note_all(struct session *s)
{
	struct pids pids = { 0 };

	bpfprog_targets(s->r.programs, &pids);
	vec_for_each (&pids, const pid_t, pid)
		note(s, *pid, clock_now_ns(), false, true);
	vec_release(&pids);
}

void session_newcomers_note(struct session *s)
{
	const struct drain *d = &s->r.drain;

	if (!s->beside.n || !s->beside.tried)
		return;
	for (size_t i = 0; i < d->n_mappings; i++) {
		const struct drain_mapping *m = &d->mappings[i];

		if (m->time_ns > s->beside.patched_ns)
			note(s, m->pid, m->time_ns, has_functions(s, m), false);
	}
	if (d->mappings_overflowed && !s->beside.is_stopped)
		note_all(s);
}

static bool may_patch(const struct session *s, uint64_t now_ns)
{
	return s->beside.n_later < MOST &&
	       s->beside.later_ns <= FIRST_NS + (now_ns - s->r.open_ns) / ONE_IN;
}

static int patch(struct session *s, pid_t pid, struct err *why)
{
	const struct session_beside *b = s->r.options->beside;
	const uint64_t began_ns = clock_now_ns();
	int ret;

	if (!bpfprog_is_target(s->r.programs, (uint32_t)pid))
		return err_set(why, -ESRCH, "it has ended; record it while it runs");
	if (!may_patch(s, began_ns))
		return err_set(why, -EAGAIN,
			       "too many processes execute a program; record with --engine kernel");
	ret = b->attach(b->ctx, pid, false, why);
	s->beside.later_ns += clock_now_ns() - began_ns;
	return ret;
}

/* Another tracer has it, or it shares its memory with a child of vfork(): not for long, often. */
static bool may_try_again(const struct newcomer *n, int ret, uint64_t now_ns)
{
	return (ret == -EBUSY || ret == -ETIMEDOUT) && now_ns < n->since_ns + TRYING_NS;
}

/* Returns whether it is to be tried again. */
static bool take_in(struct session *s, struct newcomer *n)
{
	struct beside *b = &s->beside;
	struct err why = { 0 };
	const int ret = patch(s, n->pid, &why);
	const uint64_t now_ns = clock_now_ns();

	if (may_try_again(n, ret, now_ns)) {
		n->ready_ns = now_ns + AGAIN_NS;
		return true;
	}
	if (ret == -EALREADY)
		count_loaded(b, n);
	if (ret == -EALREADY || (ret == -ENOENT && !n->has_file) ||
	    (ret == -ESRCH && n->may_be_patched))
		return false;
	if (ret)
		log_detail("process %d is not patched: %s", n->pid, why.text);
	if (ret == -ESRCH || ret == -ENOENT) {
		count_ended(b, n);
	} else if (ret) {
		refuse(b, &why);
	} else {
		b->n_later++;
		add_patched(b, n->pid, now_ns);
		if (now_ns - n->since_ns > b->late_most_ns)
			b->late_most_ns = now_ns - n->since_ns;
	}
	return false;
}

static bool is_ready(const struct newcomer *n, uint64_t now_ns)
{
	return now_ns >= n->ready_ns;
}

void session_newcomers_patch(struct session *s)
{
	struct beside *b = &s->beside;
	const uint64_t now_ns = clock_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < b->newcomers.n; i++) {
		struct newcomer n = b->newcomers.data[i];
		const bool is_next = is_ready(&n, now_ns) && clock_now_ns() < now_ns + TURN_NS;

		if (!is_next || take_in(s, &n))
			b->newcomers.data[kept++] = n;
		if (is_next)
			session_beside_drain(s); /* the rings of patched processes fill meanwhile */
	}
	b->newcomers.n = kept;
}

uint64_t session_newcomers_wait_ns(const struct session *s)
{
	return s->beside.newcomers.n ? QUIET_NS : UINT64_MAX;
}

/* Those that have come just before the recording ends have no calls either. */
static void count_rest(struct session *s)
{
	session_newcomers_note(s);
	vec_for_each (&s->beside.newcomers, const struct newcomer, n)
		count_ended(&s->beside, n);
	s->beside.newcomers.n = 0;
}

/* n of them, and why. */
static void add(struct text *words, uint64_t n, const char *why)
{
	if (n)
		text_printf(words, "%s of %" PRIu64 " %s", words->n ? "," : "", n, why);
}

void session_newcomers_report(struct session *s)
{
	const struct beside *b = &s->beside;
	char late[TEXT_NUMBER], why[sizeof(b->refused.text) + 64], words[2048];
	struct text parts = { 0 };

	count_rest(s);
	snprintf(why, sizeof(why), "in the first %s", text_time(late, b->late_most_ns));
	add(&parts, b->n_later, why);
	add(&parts, b->n_ended, "all, as they ended or executed another program too soon");
	add(&parts, b->n_loaded, "those of a library that they loaded after they were patched");
	snprintf(why, sizeof(why), "all: %.*s", session_beside_problem(&b->refused),
		 b->refused.text);
	add(&parts, b->n_refused, why);
	if (parts.n) {
		snprintf(words, sizeof(words),
			 "processes that execute a program or load a library later do not have all "
			 "calls of functions that are timed in process:%s; record with --engine "
			 "kernel",
			 parts.s);
		session_write_notice(&s->r, "in-process-late", words);
	}
	text_release(&parts);
	vec_release(&s->beside.patched);
}
