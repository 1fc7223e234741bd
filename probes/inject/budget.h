/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overhead budget of a recording in process that chose its functions itself: what calls cost
 * beyond the budget adds up to a debt, and when that is more than a moment's, the functions that
 * are called most are no longer patched, so that the others fit.
 */
#ifndef ISPOT_PROBES_INJECT_BUDGET_H
#define ISPOT_PROBES_INJECT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct inproc_drain;
struct patched_functions;

struct budget_function {
	uint64_t before, calls;	     /* as the drain counts them, at the last look; since then */
	double cost_ns, calls_per_s; /* of them */
	double share;		     /* of the program's own time, lately */
	bool is_out;
};

struct budget {
	double share;	/* of the program's time that calls may cost; 0: no bound */
	double pair_ns; /* of one call */
	struct budget_function *functions;
	size_t n;
	struct {
		VEC(struct budget_process)
	} processes;
	uint64_t looked_ns, lost;
	uint64_t not_before_ns; /* the next look: the last functions could not be taken out */
	double debt_ns;
	bool is_begun; /* there was a look */
};

struct budget_process {
	pid_t pid;
	uint64_t cpu_ns; /* at the last look */
};

/* share 0: nothing is ever taken out. */
void budget_init(struct budget *b, double share, double pair_ns, size_t n_functions);
/* The processes are patched: their time counts from now. */
void budget_begin(struct budget *b, const struct inproc_drain *d, uint64_t now_ns);
/*
 * Every now and then: returns whether functions have to be taken out now, those whose is_out has
 * just become true: wanted[i].
 */
bool budget_is_exceeded(struct budget *b, const struct inproc_drain *d,
			const struct patched_functions *functions, uint64_t now_ns, bool *wanted);
void budget_release(struct budget *b);

/* The part that needs no process: which of the functions to give up, given what each costs (share)
 * and the room. Locks and other waiting come last. */
void budget_choose(struct budget *b, const struct patched_functions *functions, double room,
		   bool *out);

#endif
