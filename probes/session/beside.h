/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are handed over to be timed without probes (engine.h), and that come back. */
#ifndef ISPOT_PROBES_SESSION_BESIDE_H
#define ISPOT_PROBES_SESSION_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attach;
struct costs;
struct dso;
struct err;
struct planned;
struct recording;
struct selection;
struct session_beside_sums;

struct beside {
	/* parts that it asks */
	const struct costs *costs;
	struct attach *attach;
	size_t n;   /* functions that the processes' own code times */
	bool tried; /* patching processes for them was tried, which happens once */
	bool is_stopped;
	/* what processes map later than that is not patched yet */
	uint64_t patched_ns;
	/* but for the command, which was patched at some time before this */
	uint64_t launched_ns;
};

/* Selects the functions of a command that are timed from its first instruction on, though the user
 * chose none. The first n_programs objects are programs. */
void session_beside_choose(const struct recording *r, struct selection *s,
			   struct dso *const *objects, size_t n, size_t n_programs);
/* Offers the planned functions from index first on. */
void session_beside_offer(struct beside *beside, struct recording *r, size_t first);
/* Offers the functions from index first on that do not fit into the budget. Returns how many of all
 * keep the kernel's probes; those come first in the array. */
size_t session_beside_offer_costly(struct beside *beside, struct recording *r, size_t first,
				   struct planned **all, size_t n);
void session_beside_begin(struct recording *r);
/* Executes the command with its offered functions patched, or patches the running processes. */
int session_beside_launch(struct beside *beside, struct recording *r, struct err *err);
int session_beside_attach(struct beside *beside, struct recording *r, struct err *err);
/* Returns whether code in the processes times functions, or did. */
bool session_beside_times(const struct beside *beside);
bool session_beside_is_stopped(const struct beside *beside);
/* Returns whether what a process mapped at that time is not patched yet. */
bool session_beside_is_later(const struct beside *beside, uint64_t time_ns);
/* Returns whether the command, which mapped something at that time, may be patched already. */
bool session_beside_may_have(const struct beside *beside, uint64_t time_ns);
/* Returns the time until the next call. */
uint64_t session_beside_drain(const struct beside *beside, const struct recording *r);
void session_beside_stop(struct beside *beside, const struct recording *r);
/* Called while the command is waited for. */
void session_beside_detach_late(const struct beside *beside, const struct recording *r);
void session_beside_sums(const struct beside *beside, const struct recording *r,
			 struct session_beside_sums *sums);

/*
 * Writes into words, which has room for n bytes, why nothing is timed in process after all. The
 * advice of the error is left out: ispot does that by itself.
 */
void session_beside_refusal(const struct err *why, char *words, size_t n);
/* How much of the error's text is the problem, without that advice. */
int session_beside_problem(const struct err *why);

#endif
