/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the children of the target get their probes. With a carrier on each thread (design fact 3),
 * the kernel gives a child its probes before its first instruction. But for a thread with a carrier
 * the kernel switches perf contexts whenever the thread gets or leaves a CPU, which takes about a
 * microsecond each time: a program that does little else is twice as slow. A held process (hold.c)
 * has an event on only two of its threads, which seldom switch. The switches of the others cost
 * nothing more, and a child is held as soon as ispot hears of it, a moment after its start. A
 * thread that is born inherits the carriers, too, which takes three times as long as to make the
 * thread.
 *
 * So a target that switches, or starts threads, so often that the budget is exceeded, and that has
 * not forked for a while, is held instead; the carriers come back when it forks often.
 */
#ifndef ISPOT_PROBES_SESSION_FOLLOW_H
#define ISPOT_PROBES_SESSION_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach;
struct costs;
struct err;
struct recording;
struct wire_totals;

struct follow {
	/* parts that it asks */
	const struct costs *costs;
	struct attach *attach;
	bool late;    /* processes are held one by one instead of by inheritance */
	bool carried; /* threads have carriers */
	/* switches and births of the target when the carriers came, and in earlier times with
	 * carriers */
	uint64_t switches_from, births_from, carried_switches, carried_births;
	uint64_t look_ns, cpu_ns, scheduling_ns, switches, births; /* at the last check */
	double debt_ns;
	uint64_t last_fork_ns, forks_since_ns, forks; /* forks of processes since that time */
	uint64_t n_late, late_most_ns; /* children that were held late, and the longest delay */
	uint64_t n_children;	       /* all children so far */
};

/* Returns whether children inherit their parents' probes. */
bool session_inherits(const struct follow *f, const struct recording *r);
/* cpu_ns: the target's CPU time at the beginning */
void session_follow_begin(struct follow *f, const struct recording *r, uint64_t cpu_ns);
/* Writes a notice on children that are not recorded. */
void session_follow_report_born_before(struct recording *r);
/* Notes that threads have carriers from now on. */
void session_follow_carried(struct follow *f, const struct recording *r);
/* Returns the switches of the target's threads that had carriers. */
uint64_t session_follow_switches(const struct follow *f, const struct wire_totals *now);
/* Returns whether threads have carriers. */
bool session_is_carried(const struct follow *f);
/* Return the costs so far of recording context switches, and the part of births and ends of
 * threads. */
uint64_t session_scheduling_cost_ns(const struct follow *f, const struct recording *r);
double session_births_cost_ns(const struct follow *f, const struct recording *r,
			      const struct wire_totals *now);
/* Counts the forks of the last drain. */
void session_follow_forks(struct follow *f, const struct recording *r);
/* Counts a child that was born at born_ns and is held from now on. */
void session_follow_fork(struct follow *f, uint64_t born_ns);
/* Looks in each turn of the loop whether switches or forks are too many for the way in which
 * children get their probes. counting: candidates are being counted. */
int session_follow_look(struct follow *f, struct recording *r, uint64_t now, bool counting,
			struct err *err);
/* Writes a notice on missing calls of children. */
void session_follow_end(const struct follow *f, struct recording *r);

#endif
