/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting by the program's own edge counters, for count.h. In src/cmd/imbalance/edges.c.
 */
#ifndef ISPOT_CMD_IMBALANCE_EDGES_H
#define ISPOT_CMD_IMBALANCE_EDGES_H

#include <stdint.h>

struct lime_options;
struct counted;
struct counts;
struct err;

#define EDGES_NOTICES 3

/* The counts of one run; notices are freed by the caller. */
struct counted_edges {
	struct counts *run;
	struct counted *counted;
	const struct lime_options *lime;
	uint64_t duration_ns;
	char *notices[EDGES_NOTICES + 1];
};

/* Runs the command. -ENODATA: nothing was counted. */
int imbalance_count_edges(struct counted_edges *k, char *const *argv, struct err *err);

#endif
