/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/newcomers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/beside.h"
#include "probes/session/engine.h"
#include "symbol/dso/dso.h"

#define QUIET_NS   2000000ull	/* without a new mapping: the loader has mapped the libraries */
#define LOADING_NS 100000000ull /* but no longer than that is waited for it */
#define AGAIN_NS   20000000ull	/* between two tries of a process that cannot be stopped now */
#define TRYING_NS  1000000000ull
#define TURN_NS	   10000000ull /* of patching, before the kernel's rings are read again */
#define MOST	   256	       /* processes: each has a region of its own in ispot */
#define MOST_NEW   1024	       /* that are to be patched next */
/* Time in which processes may be patched. After that, a share of the time is added. There must be a
 * limit, because a program can execute others without end. */
#define FIRST_NS 1000000000ull
#define ONE_IN	 20

static bool is_of(const struct dso *dso, const struct drain_mapping *m)
{
	return dso_inode(dso) == m->inode &&
	       dso_device(dso) == makedev(m->device_major, m->device_minor);
}

/* Whether the file has functions that are timed in process. */
static bool has_functions(const struct recording *r, const struct drain_mapping *m)
{
	const struct dso *last = NULL;

	for (size_t i = 0; i < r->plan.n; i++) {
		const struct planned *p = r->plan.data[i];

		if (!p->is_beside || p->what.dso == last)
			continue;
		last = p->what.dso;
		if (is_of(last, m))
			return true;
	}
	return false;
}

static struct newcomer *find(struct newcomers *all, pid_t pid)
{
	vec_for_each (&all->next, struct newcomer, n)
		if (n->pid == pid)
			return n;
	return NULL;
}

static struct patched_newcomer *find_patched(struct newcomers *all, pid_t pid)
{
	vec_for_each (&all->patched, struct patched_newcomer, n)
		if (n->pid == pid)
			return n;
	return NULL;
}

static void add_patched(struct newcomers *all, pid_t pid, uint64_t now_ns)
{
	struct patched_newcomer *n = find_patched(all, pid);

	*(n ? n : vec_add(&all->patched)) = (struct patched_newcomer){ pid, now_ns };
}

/* A process with patches has mapped a file: what was patched before has none of its functions. */
static void count_loaded(struct newcomers *all, const struct newcomer *n)
{
	const struct patched_newcomer *patched = find_patched(all, n->pid);

	if (n->has_file && !n->may_be_patched && (!patched || n->since_ns > patched->time_ns))
		all->n_loaded++;
}

/* Counts a process that ended or executed another program before it could be patched. */
static void count_ended(struct newcomers *all, const struct newcomer *n)
{
	if (find_patched(all, n->pid))
		count_loaded(all, n);
	else if (n->has_file && !n->may_be_patched)
		all->n_ended++;
}

static void refuse(struct newcomers *all, const struct err *why)
{
	if (!all->n_refused++)
		all->refused = *why;
}

static struct newcomer *add_newcomer(struct newcomers *all, pid_t pid, uint64_t time_ns)
{
	struct newcomer *n;
	struct err why = { 0 };

	if (all->next.n == MOST_NEW) {
		err_set(&why, -EAGAIN,
			"too many processes execute a program; record with --engine kernel");
		refuse(all, &why);
		return NULL;
	}
	n = vec_add(&all->next);
	*n = (struct newcomer){ .pid = pid, .since_ns = time_ns };
	return n;
}

/* has_file: the process has mapped a file of those functions, or is_guess: it may have. Otherwise
 * the mapping only says that its loader is still at work. */
static void note(struct newcomers *all, const struct recording *r, pid_t pid, uint64_t time_ns,
		 bool has_file, bool is_guess)
{
	struct newcomer *n = find(all, pid);

	if (!n && (has_file || is_guess))
		n = add_newcomer(all, pid, time_ns);
	if (!n)
		return;
	if (time_ns < n->since_ns + LOADING_NS)
		n->ready_ns = time_ns + QUIET_NS;
	/* Its other mappings do not take the patches away. */
	if (has_file || !n->has_file)
		n->may_be_patched = (pid == r->launch.pid || pid == r->launch.program) &&
				    session_beside_may_have(all->beside, time_ns);
	n->has_file |= has_file;
}

/* Notes all processes, because it is unknown which of them have mapped something. */
static void note_all(struct newcomers *all, const struct recording *r)
{
	struct pids pids = { 0 };

	bpfprog_targets(r->programs, &pids);
	vec_for_each (&pids, const pid_t, pid)
		note(all, r, *pid, clock_now_ns(), false, true);
	vec_release(&pids);
}

void session_newcomers_note(struct newcomers *all, const struct recording *r)
{
	const struct drain *d = &r->drain;

	if (!session_beside_times(all->beside))
		return;
	for (size_t i = 0; i < d->n_mappings; i++) {
		const struct drain_mapping *m = &d->mappings[i];

		if (session_beside_is_later(all->beside, m->time_ns))
			note(all, r, m->pid, m->time_ns, has_functions(r, m), false);
	}
	if (d->mappings_overflowed && !session_beside_is_stopped(all->beside))
		note_all(all, r);
}

static bool may_patch(const struct newcomers *all, const struct recording *r, uint64_t now_ns)
{
	return all->n_later < MOST && all->later_ns <= FIRST_NS + (now_ns - r->open_ns) / ONE_IN;
}

static int patch(struct newcomers *all, struct recording *r, pid_t pid, struct err *why)
{
	const struct session_beside *engine = r->options->beside;
	const uint64_t began_ns = clock_now_ns();
	int ret;

	if (!bpfprog_is_target(r->programs, (uint32_t)pid))
		return err_set(why, -ESRCH, "it has ended; record it while it runs");
	if (!may_patch(all, r, began_ns))
		return err_set(why, -EAGAIN,
			       "too many processes execute a program; record with --engine kernel");
	ret = engine->attach(engine->ctx, pid, false, why);
	all->later_ns += clock_now_ns() - began_ns;
	return ret;
}

/* Another tracer has it, or it shares its memory with a child of vfork(): not for long, often. */
static bool may_try_again(const struct newcomer *n, int ret, uint64_t now_ns)
{
	return (ret == -EBUSY || ret == -ETIMEDOUT) && now_ns < n->since_ns + TRYING_NS;
}

/* Returns whether it is to be tried again. */
static bool take_in(struct newcomers *all, struct recording *r, struct newcomer *n)
{
	struct err why = { 0 };
	const int ret = patch(all, r, n->pid, &why);
	const uint64_t now_ns = clock_now_ns();

	if (may_try_again(n, ret, now_ns)) {
		n->ready_ns = now_ns + AGAIN_NS;
		return true;
	}
	if (ret == -EALREADY)
		count_loaded(all, n);
	if (ret == -EALREADY || (ret == -ENOENT && !n->has_file) ||
	    (ret == -ESRCH && n->may_be_patched))
		return false;
	if (ret)
		log_detail("process %d is not patched: %s", n->pid, why.text);
	if (ret == -ESRCH || ret == -ENOENT) {
		count_ended(all, n);
	} else if (ret) {
		refuse(all, &why);
	} else {
		all->n_later++;
		add_patched(all, n->pid, now_ns);
		if (now_ns - n->since_ns > all->late_most_ns)
			all->late_most_ns = now_ns - n->since_ns;
	}
	return false;
}

static bool is_ready(const struct newcomer *n, uint64_t now_ns)
{
	return now_ns >= n->ready_ns;
}

void session_newcomers_patch(struct newcomers *all, struct recording *r)
{
	const uint64_t now_ns = clock_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < all->next.n; i++) {
		struct newcomer n = all->next.data[i];
		const bool is_next = is_ready(&n, now_ns) && clock_now_ns() < now_ns + TURN_NS;

		if (!is_next || take_in(all, r, &n))
			all->next.data[kept++] = n;
		if (is_next)
			session_beside_drain(all->beside,
					     r); /* the rings of patched processes fill meanwhile */
	}
	all->next.n = kept;
}

uint64_t session_newcomers_wait_ns(const struct newcomers *all)
{
	return all->next.n ? QUIET_NS : UINT64_MAX;
}

/* Counts the processes that came just before the recording's end, of which no calls are recorded
 * either. */
static void count_rest(struct newcomers *all, const struct recording *r)
{
	session_newcomers_note(all, r);
	vec_for_each (&all->next, const struct newcomer, n)
		count_ended(all, n);
	all->next.n = 0;
}

/* n of them, and why. */
static void add(struct text *words, uint64_t n, const char *why)
{
	if (n)
		text_printf(words, "%s %" PRIu64 " of them %s", words->n ? "," : "", n, why);
}

void session_newcomers_report(struct newcomers *all, struct recording *r)
{
	char late[TEXT_NUMBER], why[sizeof(all->refused.text) + 64], words[2048];
	struct text parts = { 0 };

	count_rest(all, r);
	snprintf(why, sizeof(why), "those of the first %s", text_time(late, all->late_most_ns));
	add(&parts, all->n_later, why);
	add(&parts, all->n_ended, "all, as they ended or executed another program too soon");
	add(&parts, all->n_loaded, "those of a library that they loaded after they were patched");
	snprintf(why, sizeof(why), "all: %.*s", session_beside_problem(&all->refused),
		 all->refused.text);
	add(&parts, all->n_refused, why);
	if (parts.n) {
		snprintf(words, sizeof(words),
			 "processes that execute a program or load a library later lack calls of "
			 "functions that are timed in process:%s; record with --engine kernel",
			 parts.s);
		recording_write_notice(r, "in-process-late", words);
	}
	text_release(&parts);
}

void session_newcomers_release(struct newcomers *all)
{
	vec_release(&all->next);
	vec_release(&all->patched);
}
