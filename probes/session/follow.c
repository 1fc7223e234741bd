/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/costs.h"
#include "probes/recording/cputime.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/attach.h"
#include "probes/session/hold.h"

#define LOOK_NS 50000000ull
/* CPU time of the target before it can count as forking seldom */
#define SEEN_LEAST_NS 100000000ull
/* time without a fork after which it counts as forking seldom */
#define FORKS_NS      1000000000ull
#define FORKS_MANY    10	/* forks in such a time that count as often */
#define SWITCHES_MOST 0.5	/* share of the budget that context switches may take */
#define DEBT_MAX_NS   4000000.0 /* time of the target; a larger debt is noticed too late */
#define CREDIT_MAX_NS 100000000.0

bool session_inherits(const struct follow *f, const struct recording *r)
{
	return r->options->inherit && !f->late;
}

void session_follow_carried(struct follow *f, const struct recording *r)
{
	struct wire_totals now;

	if (f->carried)
		return;
	bpfprog_totals(r->programs, &now);
	f->carried = true;
	f->switches_from = now.switches;
	f->births_from = now.births;
}

void session_follow_begin(struct follow *f, const struct recording *r, uint64_t cpu_ns)
{
	struct wire_totals now;

	bpfprog_totals(r->programs, &now);
	f->look_ns = r->start_ns;
	f->cpu_ns = cpu_ns;
	f->scheduling_ns = now.scheduling_ns;
	f->switches = now.switches;
	f->births = now.births;
}

static bool is_attached(const struct recording *r, pid_t pid)
{
	for (size_t i = 0; i < r->options->n_pids; i++)
		if (r->options->pids[i] == pid)
			return true;
	return false;
}

/*
 * Counts the children that were not attached to. A shell that was attached to may have started
 * ispot, or sudo for ispot, so these two do not count.
 */
static size_t left_out_children(const struct recording *r, pid_t parent)
{
	struct pids children = { 0 };
	size_t n = 0;

	target_children(parent, &children);
	vec_for_each (&children, pid_t, pid)
		n += !is_attached(r, *pid) && *pid != getpid() && *pid != getppid() &&
		     target_has_program(*pid);
	vec_release(&children);
	return n;
}

void session_follow_report_born_before(struct recording *r)
{
	struct text all = { 0 }, parents = { 0 }, words = { 0 };
	size_t n = 0;

	for (size_t i = 0; r->options->inherit && i < r->options->n_pids; i++) {
		size_t more = left_out_children(r, r->options->pids[i]);

		text_printf(&all, "%s%d", i ? "," : "", r->options->pids[i]);
		if (more)
			text_printf(&parents, "%s%d", n ? "," : "", r->options->pids[i]);
		n += more;
	}
	if (n) {
		text_printf(&words,
			    "%zu child process%s had begun before ispot did, and %s not recorded; "
			    "to record %s, too: -p %s,$(pgrep -d, -P %s)",
			    n, n > 1 ? "es" : "", n > 1 ? "are" : "is", n > 1 ? "them" : "it",
			    all.s, parents.s);
		recording_write_notice(r, "earlier-children", words.s);
	}
	text_release(&all);
	text_release(&parents);
	text_release(&words);
}

static void no_more_carried(struct follow *f, const struct recording *r)
{
	struct wire_totals now;

	if (!f->carried)
		return;
	bpfprog_totals(r->programs, &now);
	f->carried = false;
	f->carried_switches += now.switches - f->switches_from;
	f->carried_births += now.births - f->births_from;
}

uint64_t session_follow_switches(const struct follow *f, const struct wire_totals *now)
{
	return f->carried_switches + (f->carried ? now->switches - f->switches_from : 0);
}

double session_births_cost_ns(const struct follow *f, const struct recording *r,
			      const struct wire_totals *now)
{
	uint64_t carried = f->carried_births + (f->carried ? now->births - f->births_from : 0);
	uint64_t all = now->births - r->totals_at_start.births;

	return costs_birth_ns(f->costs, true) * (double)carried +
	       costs_birth_ns(f->costs, false) * (double)(all - carried);
}

uint64_t session_scheduling_cost_ns(const struct follow *f, const struct recording *r)
{
	const struct wire_totals *from = &r->totals_at_start, now = recording_totals(r);
	uint64_t carried = session_follow_switches(f, &now);
	double more_ns = costs_switch_ns(f->costs, true) * (double)carried +
			 costs_switch_ns(f->costs, false) *
				 (double)(now.switches - from->switches - carried) +
			 session_births_cost_ns(f, r, &now);

	return now.scheduling_ns - from->scheduling_ns + (uint64_t)more_ns;
}

bool session_is_carried(const struct follow *f)
{
	return f->carried;
}

static int open_sets(struct follow *f, struct recording *r, struct err *err)
{
	int ret = 0;

	for (size_t k = 0; k < r->sets.n && !ret; k++)
		if (r->sets.data[k].attached && recording_is_on_targets(r, k))
			ret = session_open_on_targets(f->attach, r, &r->sets.data[k], err);
	return ret;
}

/*
 * Holds all processes, and then removes the carriers: a process keeps its breakpoints while it has
 * either of them.
 */
static int hold_all(struct follow *f, struct recording *r, struct err *err)
{
	int ret;

	f->late = true;
	bpfprog_hold_children(r->programs, true);
	ret = open_sets(f, r, err);
	vec_for_each (&r->sets, struct probeset, set)
		probeset_unfollow(set);
	no_more_carried(f, r);
	log_detail(
		"context switches and thread starts take more than %.0f%% of the budget: processes are held one "
		"by one instead of by events that their children inherit",
		100 * SWITCHES_MOST);
	return ret;
}

static int carry(struct follow *f, struct recording *r, struct err *err)
{
	int ret;

	f->late = false;
	f->debt_ns = 0;
	bpfprog_hold_children(r->programs, session_events_are_swapped(r));
	ret = open_sets(f, r, err);
	if (!session_events_are_swapped(r))
		vec_for_each (&r->sets, struct probeset, set)
			probeset_unhold(set);
	log_detail("processes are forked often: children inherit their probes again");
	return ret;
}

void session_follow_fork(struct follow *f, uint64_t born_ns)
{
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

/* Returns what the switches and births since the last look cost beside their timed time. */
static double more_ns(const struct follow *f, const struct wire_totals *now, bool carried)
{
	return costs_switch_ns(f->costs, carried) * (double)(now->switches - f->switches) +
	       costs_birth_ns(f->costs, carried) * (double)(now->births - f->births);
}

/*
 * Returns what switches and births have cost since the last look, or would have cost with carriers,
 * beyond what they may cost.
 */
static double excess_ns(struct follow *f, const struct recording *r, uint64_t elapsed_ns)
{
	uint64_t cpu_ns = cputime_target_ns(r), used_ns = cpu_ns - f->cpu_ns;
	struct wire_totals now;
	double cost_ns, paid_ns, work_ns;

	bpfprog_totals(r->programs, &now);
	paid_ns = now.scheduling_ns - f->scheduling_ns;
	cost_ns = paid_ns + more_ns(f, &now, true);
	paid_ns += more_ns(f, &now, f->carried);
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
	f->births = now.births;
	return cost_ns - SWITCHES_MOST * recording_budget(r) * work_ns;
}

void session_follow_forks(struct follow *f, const struct recording *r)
{
	count_forks(f, &r->drain, clock_now_ns());
}

int session_follow_look(struct follow *f, struct recording *r, uint64_t now, bool counting,
			struct err *err)
{
	uint64_t elapsed_ns = now - f->look_ns;

	if (!r->options->inherit || !r->begun || r->options->scout)
		return 0;
	if (f->late)
		return f->forks >= FORKS_MANY ? carry(f, r, err) : 0;
	if (elapsed_ns < LOOK_NS)
		return 0;
	f->debt_ns += excess_ns(f, r, elapsed_ns);
	f->look_ns = now;
	if (f->debt_ns < -CREDIT_MAX_NS * recording_budget(r))
		f->debt_ns = -CREDIT_MAX_NS * recording_budget(r);
	/* a set that only counts is not opened again by hold_all() */
	if (f->debt_ns < DEBT_MAX_NS || counting || now - r->start_ns < SEEN_LEAST_NS ||
	    (f->last_fork_ns && now - f->last_fork_ns < FORKS_NS))
		return 0;
	return hold_all(f, r, err);
}

/* Reports child processes without probes, if the program had seemed not to fork. */
static void report_unfollowed(const struct follow *f, struct recording *r)
{
	char text[200], forks[TEXT_COUNTED];

	if (!recording_has_uprobe_sessions(r) || !r->options->inherit || !f->n_children)
		return;
	snprintf(text, sizeof(text),
		 "%s of child processes: their calls are not recorded, as -c took uprobe "
		 "sessions for a program that seemed not to fork; record without -c",
		 text_counted(forks, f->n_children, "birth"));
	recording_write_notice(r, "unfollowed-children", text);
}

void session_follow_end(const struct follow *f, struct recording *r)
{
	char text[320], late[TEXT_NUMBER];

	report_unfollowed(f, r);
	if (!f->n_late)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " child processes have no calls of their first moment (up to %s): probes "
		 "that children inherit would cost more than the budget at so many context "
		 "switches; give a larger --overhead to keep them",
		 f->n_late, text_time(late, f->late_most_ns));
	recording_write_notice(r, "late-children", text);
}
