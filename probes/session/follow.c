/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the children of the target get their probes. With a carrier on each thread (design fact 3),
 * the kernel gives a child its probes before its first instruction. But for a thread with a carrier
 * the kernel switches perf contexts whenever the thread gets or leaves a CPU, which takes about a
 * microsecond each time: a program that does little else is twice as slow. A held process (hold.c)
 * has an event on only two of its threads, which seldom switch. The switches of the others cost
 * nothing more, and a child is held as soon as ispot hears of it, a moment after its start.
 *
 * So a target that switches so often that the budget is exceeded, and that has not forked for a
 * while, is held instead; the carriers come back when it forks often.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"

#define LOOK_NS 50000000ull
/* CPU time of the target before it can count as forking seldom */
#define SEEN_LEAST_NS 100000000ull
/* time without a fork after which it counts as forking seldom */
#define FORKS_NS      1000000000ull
#define FORKS_MANY    10	/* forks in such a time that count as often */
#define SWITCHES_MOST 0.5	/* share of the budget that context switches may take */
#define DEBT_MAX_NS   4000000.0 /* time of the target; a larger debt is noticed too late */
#define CREDIT_MAX_NS 100000000.0

bool session_inherits(const struct session *s)
{
	return s->r.options->inherit && !s->follow.late;
}

void session_follow_carried(struct session *s)
{
	struct wire_totals now;

	if (s->follow.carried)
		return;
	bpfprog_totals(s->r.programs, &now);
	s->follow.carried = true;
	s->follow.carried_from = now.switches;
}

void session_follow_begin(struct session *s)
{
	struct wire_totals now;

	bpfprog_totals(s->r.programs, &now);
	s->follow.look_ns = s->r.start_ns;
	s->follow.cpu_ns = session_begin_cpu_ns(&s->cputime);
	s->follow.scheduling_ns = now.scheduling_ns;
	s->follow.switches = now.switches;
}

static bool is_attached(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->r.options->n_pids; i++)
		if (s->r.options->pids[i] == pid)
			return true;
	return false;
}

/*
 * Counts the children that were not attached to. A shell that was attached to may have started
 * ispot, or sudo for ispot, so these two do not count.
 */
static size_t left_out_children(const struct session *s, pid_t parent)
{
	struct pids children = { 0 };
	size_t n = 0;

	target_children(parent, &children);
	vec_for_each (&children, pid_t, pid)
		n += !is_attached(s, *pid) && *pid != getpid() && *pid != getppid() &&
		     target_has_program(*pid);
	vec_release(&children);
	return n;
}

void session_follow_report_born_before(struct session *s)
{
	struct text all = { 0 }, parents = { 0 }, words = { 0 };
	size_t n = 0;

	for (size_t i = 0; s->r.options->inherit && i < s->r.options->n_pids; i++) {
		size_t more = left_out_children(s, s->r.options->pids[i]);

		text_printf(&all, "%s%d", i ? "," : "", s->r.options->pids[i]);
		if (more)
			text_printf(&parents, "%s%d", n ? "," : "", s->r.options->pids[i]);
		n += more;
	}
	if (n) {
		text_printf(&words,
			    "%zu child process%s had begun before ispot did, and %s not recorded; "
			    "to record %s, too: -p %s,$(pgrep -d, -P %s)",
			    n, n > 1 ? "es" : "", n > 1 ? "are" : "is", n > 1 ? "them" : "it",
			    all.s, parents.s);
		session_write_notice(&s->r, "earlier-children", words.s);
	}
	text_release(&all);
	text_release(&parents);
	text_release(&words);
}

static void no_more_carried(struct session *s)
{
	struct wire_totals now;

	if (!s->follow.carried)
		return;
	bpfprog_totals(s->r.programs, &now);
	s->follow.carried = false;
	s->follow.carried_switches += now.switches - s->follow.carried_from;
}

uint64_t session_follow_switches(const struct session *s, const struct wire_totals *now)
{
	const struct follow *f = &s->follow;

	return f->carried_switches + (f->carried ? now->switches - f->carried_from : 0);
}

static int open_sets(struct session *s, struct err *err)
{
	int ret = 0;

	for (size_t k = 0; k < s->r.sets.n && !ret; k++)
		if (s->r.sets.data[k].attached && session_is_on_targets(&s->r, k))
			ret = session_open_on_targets(s, &s->r.sets.data[k], err);
	return ret;
}

/*
 * Holds all processes, and then removes the carriers: a process keeps its breakpoints while it has
 * either of them.
 */
static int hold_all(struct session *s, struct err *err)
{
	int ret;

	s->follow.late = true;
	bpfprog_hold_children(s->r.programs, true);
	ret = open_sets(s, err);
	vec_for_each (&s->r.sets, struct probeset, set)
		probeset_unfollow(set);
	no_more_carried(s);
	log_detail("context switches take more than %.0f%% of the budget: processes are held one "
		   "by one instead of by events that their children inherit",
		   100 * SWITCHES_MOST);
	return ret;
}

static int carry(struct session *s, struct err *err)
{
	int ret;

	s->follow.late = false;
	s->follow.debt_ns = 0;
	bpfprog_hold_children(s->r.programs, session_events_are_swapped(s));
	ret = open_sets(s, err);
	if (!session_events_are_swapped(s))
		vec_for_each (&s->r.sets, struct probeset, set)
			probeset_unhold(set);
	log_detail("processes are forked often: children inherit their probes again");
	return ret;
}

void session_follow_fork(struct session *s, uint64_t born_ns)
{
	struct follow *f = &s->follow;
	uint64_t now = clock_now_ns(), late_ns = now > born_ns ? now - born_ns : 0;

	if (!f->late)
		return;
	f->n_late++;
	if (late_ns > f->late_most_ns)
		f->late_most_ns = late_ns;
}

static void count_forks(struct follow *f, const struct drain *d, uint64_t now)
{
	if (now - f->forks_since_ns >= FORKS_NS) {
		f->forks_since_ns = now;
		f->forks = 0;
	}
	for (size_t i = 0; i < d->n_forks; i++)
		f->last_fork_ns = d->forks[i].time_ns;
	f->forks += d->n_forks;
	f->n_children += d->n_forks;
}

/*
 * Returns what switches have cost since the last look, or would have cost with carriers, beyond
 * what they may cost.
 */
static double excess_ns(struct session *s, uint64_t elapsed_ns)
{
	struct follow *f = &s->follow;
	uint64_t cpu_ns = session_target_cpu_ns(&s->r), used_ns = cpu_ns - f->cpu_ns;
	struct wire_totals now;
	double cost_ns, paid_ns, work_ns;

	bpfprog_totals(s->r.programs, &now);
	paid_ns = now.scheduling_ns - f->scheduling_ns;
	cost_ns = paid_ns + session_switch_cost_ns(&s->costs, true) * (now.switches - f->switches);
	paid_ns += session_switch_cost_ns(&s->costs, f->carried) * (now.switches - f->switches);
	if (cpu_ns < f->cpu_ns)
		used_ns = 0;
	if (used_ns < META_BUSY_LEAST * elapsed_ns)
		used_ns = META_BUSY_LEAST * elapsed_ns;
	work_ns = used_ns - paid_ns;
	if (work_ns < used_ns / 10)
		work_ns = used_ns / 10;
	f->cpu_ns = cpu_ns;
	f->scheduling_ns = now.scheduling_ns;
	f->switches = now.switches;
	return cost_ns - SWITCHES_MOST * s->r.options->overhead * work_ns;
}

void session_follow_forks(struct session *s)
{
	count_forks(&s->follow, &s->r.drain, clock_now_ns());
}

int session_follow_look(struct session *s, uint64_t now, struct err *err)
{
	struct follow *f = &s->follow;
	uint64_t elapsed_ns = now - f->look_ns;
	bool counting = s->r.is_hybrid && s->hybrid.state == HYBRID_COUNTING;

	if (!s->r.options->inherit || !s->r.begun || s->r.options->scout)
		return 0;
	if (f->late)
		return f->forks >= FORKS_MANY ? carry(s, err) : 0;
	if (elapsed_ns < LOOK_NS)
		return 0;
	f->debt_ns += excess_ns(s, elapsed_ns);
	f->look_ns = now;
	if (f->debt_ns < -CREDIT_MAX_NS * s->r.options->overhead)
		f->debt_ns = -CREDIT_MAX_NS * s->r.options->overhead;
	/* a set that only counts is not opened again by hold_all() */
	if (f->debt_ns < DEBT_MAX_NS || counting || now - s->r.start_ns < SEEN_LEAST_NS ||
	    (f->last_fork_ns && now - f->last_fork_ns < FORKS_NS))
		return 0;
	return hold_all(s, err);
}

/* Reports child processes without probes, if the program had seemed not to fork. */
static void report_unfollowed(struct session *s)
{
	char text[200], forks[TEXT_COUNTED];

	if (!session_has_sessions(&s->r) || !s->r.options->inherit || !s->follow.n_children)
		return;
	snprintf(text, sizeof(text),
		 "%s of child processes: their calls are not recorded, as -c took uprobe "
		 "sessions for a program that seemed not to fork; record without -c",
		 text_counted(forks, s->follow.n_children, "birth"));
	session_write_notice(&s->r, "unfollowed-children", text);
}

void session_follow_end(struct session *s)
{
	char text[320], late[TEXT_NUMBER];

	report_unfollowed(s);
	if (!s->follow.n_late)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " child processes have no calls of their first moment (up to %s): probes "
		 "that children inherit would cost more than the budget at so many context "
		 "switches; a larger --overhead keeps them",
		 s->follow.n_late, text_time(late, s->follow.late_most_ns));
	session_write_notice(&s->r, "late-children", text);
}
