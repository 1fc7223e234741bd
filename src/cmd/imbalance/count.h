/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts the work of a command's threads in its parallel sections: with callgrind, which runs the
 * command itself, from samples of the hardware beside a recording, or from the program's own
 * counters (edges.h).
 */
#ifndef ISPOT_CMD_IMBALANCE_COUNT_H
#define ISPOT_CMD_IMBALANCE_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/imbalance/lime.h"

struct counted;
struct counting_state;
struct err;
struct parallel;
struct trace_reader;

#define COUNTING_NOTICES 9

/* One run of a command by one of the providers. */
struct counting {
	char **argv;
	const char *command;	 /* in one line */
	const char *how, *event; /* as asked for; NULL: not */
	bool caches, keeps_each; /* keeps_each: as struct imbalance */
	struct lime_options lime;
	uint64_t duration_ns; /* duration of the run, if it was at full speed */
	char *notices[COUNTING_NOTICES + 1];
	size_t n_notices;
	struct counting_state *state; /* the provider's own */
};

struct counting_provider {
	const char *name, *how;
	bool exact_time; /* times are in ns; otherwise a count stands for them */
	int (*count)(struct counting *k, struct err *err);
};

/* Chooses the provider that k->how names. For "auto" and NULL, it is the hardware if that has
 * branch records; otherwise a notice says why not. */
int counting_choose(struct counting *k, const struct counting_provider **provider, struct err *err);
/* Returns the counts after the command was run. */
const struct counted *counting_found(const struct counting *k);
void counting_release(struct counting *k);

/*
 * Finds at most seven notices that belong to a recording's sections. The caller frees them, and has
 * room for COUNTING_NOTICES.
 */
size_t imbalance_notices(const struct parallel *p, struct trace_reader *r, bool interrupted,
			 char **notices);

#endif
