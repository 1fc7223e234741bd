/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts the work of a command's threads in its parallel sections: by callgrind, which runs all of
 * it by itself, or by samples of the hardware beside a recording. In src/cmd/imbalance/count.c.
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

#define COUNTING_NOTICES 8

/* One run of a command, by one of the providers. */
struct counting {
	char **argv;
	const char *command;	 /* in one line */
	const char *how, *event; /* as asked for; NULL: not */
	bool caches, keeps_each; /* keeps_each: as struct imbalance */
	struct lime_options lime;
	uint64_t duration_ns; /* of the run, where it was at full speed */
	char *notices[COUNTING_NOTICES + 1];
	size_t n_notices;
	struct counting_state *state; /* the provider's own */
};

struct counting_provider {
	const char *name, *how;
	bool exact_time; /* times are ns; else what stands for them */
	int (*count)(struct counting *k, struct err *err);
};

/* By k->how; "auto" and NULL: hardware where it has branch records, and says why where it has none.
 */
int counting_choose(struct counting *k, const struct counting_provider **provider, struct err *err);
/* Returns the counts, once the command was run. */
const struct counted *counting_found(const struct counting *k);
void counting_release(struct counting *k);

/*
 * Finds the notices that belong to a recording's sections; freed by the caller. There is room for
 * COUNTING_NOTICES, of which six at most are these.
 */
size_t imbalance_notices(const struct parallel *p, struct trace_reader *r, bool interrupted,
			 char **notices);

#endif
