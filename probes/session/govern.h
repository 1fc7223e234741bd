/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps what the records of context switches cost within the budget. Removing probes from functions
 * does not make switches cheaper (budget.h), so in programs that switch very often their records
 * alone can cost more than the budget. They are then written in turns only: for a while they are,
 * then they are left out until the program has done enough work to pay for them. The programs on
 * the scheduler's tracepoints then do no more than keep the CPU time of processes and count what
 * they leave out.
 *
 * These programs read a flag before they take the time. So no record from before the time that the
 * file has for the beginning of such a stretch is missing. At its end, programs that are under way
 * are given time to end before the file's time is taken. Readers ignore what has a record in a
 * stretch (analysis/threads/unwatched.h).
 */
#ifndef ISPOT_PROBES_SESSION_GOVERN_H
#define ISPOT_PROBES_SESSION_GOVERN_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/bpf/wire.h"

struct follow;
struct overhead;
struct recording;

/* Sums since the recording began, in ns. */
struct govern_sums {
	uint64_t time_ns;
	double cpu_ns, all_ns, switches_ns; /* of the target; cost of all, and of switches */
};

struct govern_debt {
	double debt_ns;	  /* cost of switches beyond what is allowed; less than 0: unused */
	double allowed;	  /* share of the target's own work that switches may cost */
	double work_rate; /* CPU time of the target's own work in each ns */
	double off_rate;  /* cost of switches in each ns while they have no records */
};

struct governor {
	/* parts that it asks */
	const struct follow *follow;
	const struct overhead *overhead;
	bool off;		   /* switches have no records now */
	bool counts;		   /* the records have the kernel's counts */
	uint64_t until_ns, random; /* until_ns: end of the present phase; 0: none has begun */
	struct govern_sums at;	   /* when the phase began */
	struct govern_debt debt;
	double on_rate, off_of_on; /* cost in each ns with records; without, as a part of that */
	struct wire_totals totals; /* just before the records stopped */
};

/* Returns the share of the target's work that switches may cost, beside the share of all others. */
double govern_allowed(double budget, double others);
/*
 * Adds what the phase that ends now has cost to the debt, and learns from it what switches cost
 * with or without records.
 */
void govern_settle(struct governor *g, const struct govern_sums *now, double budget);
/* Returns how long switches should have no records from now on, on average; 0: they should. */
uint64_t govern_pause_ns(const struct govern_debt *d);
/* Called in each turn of the loop. */
void session_govern_step(struct governor *g, struct recording *r);
/* Returns how long a turn may sleep, which is no longer than timeout_ms. */
int session_govern_timeout_ms(const struct governor *g, int timeout_ms);
/* Called when records have been switched off for good. */
void session_govern_stop(struct governor *g, struct recording *r);

#endif
