/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording without -F. Samples show where the time goes. The calls of hot functions, and of
 * blocking functions that the program imports, are counted for a moment (count.c). The functions
 * that fit into the overhead budget are traced as long as they do (budget.c). Sampling continues
 * at a low rate, and functions that become hot later join.
 */
#ifndef ISPOT_PROBES_SESSION_HYBRID_H
#define ISPOT_PROBES_SESSION_HYBRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "probes/sample/profile.h"

struct attach;
struct beside;
struct budget;
struct costs;
struct count;
struct err;
struct patterns;
struct recording;
struct sampling;
struct select;
struct session_choice;
struct recorded_stacks;

struct hybrid {
	/* parts that it asks */
	const struct costs *costs;
	struct attach *attach;
	struct beside *beside;
	struct select *select;
	struct recorded_stacks *stacks;
	struct sampling *sampling;
	struct count *count;
	struct budget *budget;
	bool is_counting;  /* candidates are being counted */
	uint64_t since_ns; /* when sampling began */
	uint64_t window_since_ns, looked_ns;
	unsigned rounds;      /* selections made so far */
	bool has_looked;      /* the first window is over, even if nothing was hot in it */
	uint32_t first_hertz; /* rate of samples before anything is chosen */
	bool seldom;	      /* samples come at the low rate */
	struct profile profile;
	size_t first_candidate; /* index in the plan of the round's first candidate */
	bool locks_added;	/* the lock functions of every library were added */
	size_t marked_objects;	/* objects that were searched for markers */
	struct {
		VEC(struct patterns *)
	} patterns;
};

int session_hybrid_open(struct hybrid *h, struct recording *r, struct err *err);
/* Traces the functions in which a command's threads wait for each other; called once the command is
 * a target, and before the file begins. */
int session_hybrid_trace_waits(struct hybrid *h, struct recording *r, struct err *err);
void session_hybrid_start(struct hybrid *h, struct recording *r);
/* Sets the rate of the first samples, once the cost of a sample is known. */
void session_hybrid_rate(struct hybrid *h, const struct recording *r);
/* Returns how long a turn may sleep. */
int session_hybrid_interval_ms(const struct hybrid *h, const struct recording *r);
/* Called in each turn of the loop. */
int session_hybrid_step(struct hybrid *h, struct recording *r, struct err *err);
/* Returns whether candidates are being counted. */
bool session_is_counting(const struct hybrid *h);
void session_hybrid_stop(struct hybrid *h, struct recording *r, bool began_at_end);
/* Chooses which planned functions a scout passes on, within room. */
void session_hybrid_pick(struct hybrid *h, struct recording *r, double room);
void session_hybrid_choice(struct hybrid *h, struct recording *r, struct session_choice *choice);
void session_hybrid_release(struct hybrid *h);

#endif
