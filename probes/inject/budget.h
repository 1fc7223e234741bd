/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overhead budget of an in-process recording that chose its functions itself. What calls cost
 * beyond the budget adds up to a debt. If the debt exceeds a limit, the functions with the highest
 * cost are no longer patched, so that the others stay within the budget.
 */
#ifndef ISPOT_PROBES_INJECT_BUDGET_H
#define ISPOT_PROBES_INJECT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/machine/blob.h"

struct inproc_drain;
struct patched_functions;
struct stubcost;

struct budget_function {
	/* The calls that the drain had counted at the last check, and the calls since then. */
	uint64_t before, calls;
	double made;		     /* these calls, and their part of the lost ones */
	double cost_ns, calls_per_s; /* cost and rate of what was made */
	double share;		     /* smoothed cost as a share of the program's own time */
	bool is_out;
	/* Threads pass its calls since then (machine/blob.h), and rate and share are those before;
	 * 0: they do not. */
	uint64_t passed_ns;
};

struct budget {
	double share;	/* share of the program's time that calls may cost; 0: no limit */
	double pair_ns; /* cost of one call */
	struct budget_function *functions;
	size_t n;
	struct {
		VEC(struct budget_process)
	} processes;
	uint64_t begun_ns, checked_ns, lost;
	uint64_t not_before_ns; /* no check before: functions could not be removed */
	uint64_t settled_ns;	/* from then on lost records are not of functions taken out */
	double debt_ns;
	double pages_ns; /* what pages of rings had cost at the last check */
	bool is_begun;	 /* a check was made */
};

struct budget_process {
	pid_t pid;
	uint64_t cpu_ns; /* CPU time that the process had used at the last check */
};

/* If share is 0, no function is ever given up. */
void budget_init(struct budget *b, double share, double pair_ns, size_t n_functions);
/* Returns the budget that each thread keeps by itself, so that a short program, too, is slowed by
 * no more than this share before its calls are read. */
struct blob_budget budget_of_thread(double share, const struct stubcost *cost);
/* Starts counting the CPU time of the processes; called once they are patched. */
void budget_begin(struct budget *b, const struct inproc_drain *d, uint64_t now_ns);
/* Adds one more process, without what it has used before. */
void budget_add_process(struct budget *b, pid_t pid);
/* Called repeatedly. Returns whether functions have to be given up now: those with wanted[i], whose
 * is_out has just become true. */
bool budget_is_exceeded(struct budget *b, const struct inproc_drain *d,
			const struct patched_functions *functions, uint64_t now_ns, bool *wanted);
/* Called once they are out, which takes a while: until the rings are read that far, what is lost is
 * not held against others. */
void budget_settle(struct budget *b, uint64_t now_ns);
/* Called after the last read of the rings. Returns whether there are functions whose calls pass and
 * that were not given up; those have wanted[i]. */
bool budget_has_passed(struct budget *b, const struct inproc_drain *d, bool *wanted);
void budget_release(struct budget *b);

/*
 * Chooses the functions to give up, given the cost of each (share) and the share that they may cost
 * together (room). Locks and other blocking functions are given up last. This part needs no
 * process.
 */
void budget_choose(struct budget *b, const struct patched_functions *functions, double room,
		   bool *out);

#endif
