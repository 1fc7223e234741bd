/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the overhead budget while functions are traced (the throttle). A program that changes may
 * call a function far more often than when its calls were counted. What ispot costs beyond the
 * budget, including samples and the counting of calls, adds up to a debt. When the debt has grown
 * by more than a moment's budget, all probes are removed at once, and the functions that fit are
 * traced again, with room to pay back the debt.
 */
#ifndef ISPOT_PROBES_SESSION_BUDGET_H
#define ISPOT_PROBES_SESSION_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct after;
struct attach;
struct costs;
struct cputime;
struct err;
struct follow;
struct recording;

#define SCHEDULING_MOST 0.5 /* of the budget: what recording context switches may use */

/* The measured and the expected cost of a function. A share is a part of the target's CPU time. */
struct function_cost {
	uint64_t calls_before; /* at the last check of the cost of tracing */
	double cost_ns;	       /* of its calls since then */
	double lately;	       /* the recent share that its traced calls take */
	double faded;	       /* the share if it were traced; fades as the estimate ages */
};

struct budget {
	/* parts that it asks */
	const struct costs *costs;
	const struct cputime *cputime;
	const struct after *after;
	const struct follow *follow;
	struct attach *attach;
	double counting_cost_ns;		 /* estimate for all rounds */
	uint64_t look_ns, cpu_ns, scheduling_ns; /* at the last check of the cost of tracing */
	double choosing_ns;			 /* cost of samples and counting until then */
	double debt_ns;				 /* cost beyond the budget that is not repaid yet */
	double debt_met_ns;			 /* the debt when functions were last removed */
	double spent;				 /* spent share of the budget */
	struct {
		VEC(struct function_cost)
	} functions; /* by index in the plan; fewer if nothing is known of the last ones */
};

/* Called when all is ready to record. */
void session_budget_begin(struct budget *b, const struct recording *r);
void session_budget_release(struct budget *b);
/* Returns whether functions that exceed the budget are removed. */
bool session_keeps_budget(const struct recording *r);
/* Called in each turn of the loop: removes functions if they cost more than the budget. */
int session_throttle(struct budget *b, struct recording *r, uint64_t now, struct err *err);
/* The cost of counting calls, in all rounds. */
void session_add_counting_cost(struct budget *b, double ns);
double session_counting_cost_ns(const struct budget *b);
/* Adds a share of the target's CPU time to the share that is spent; a negative one is spared. */
void session_spend(struct budget *b, double share);
double session_share_spent(const struct budget *b);
/* Remembers that tracing the function at this index of the plan takes a share of the target's CPU
 * time. If it is left out, it is to be counted again only once that has faded. */
void session_remember_cost(struct budget *b, size_t function, double share);
/* Forgets the remembered costs of all functions, so that those left out are counted again. */
void session_forget_costs(struct budget *b);
/* Lets the remembered cost of the function fade by one window, and returns the rest. */
double session_fade_cost(struct budget *b, size_t function);
/* Returns the cost beyond the budget that is not repaid yet. */
double session_debt_ns(const struct budget *b);
/*
 * Returns the share of the target's CPU time that traced functions may cost: the budget without the
 * reserves for recording switches and for wrong counts.
 */
double session_choice_room(const struct budget *b, const struct recording *r);
/* Returns the part of the room that is reserved to repay earlier costs beyond the budget. */
double session_repayment(const struct budget *b, const struct recording *r, double room);
/*
 * Returns the recent mean share of the target's time that traced calls take. Older shares do not
 * count, because the program may have moved on to something else.
 */
double session_spent(double spent, double share_now, double elapsed_ns);

#endif
