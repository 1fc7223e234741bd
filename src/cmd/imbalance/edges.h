/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The provider of count.h for programs that count their own edges. */
#ifndef ISPOT_CMD_IMBALANCE_EDGES_H
#define ISPOT_CMD_IMBALANCE_EDGES_H

#include <stdint.h>

struct lime_options;
struct counted;
struct counts;
struct err;

#define EDGES_NOTICES 3

/* The counts of one run. The caller frees the notices. */
struct counted_edges {
	struct counts *run;
	struct counted *counted;
	const struct lime_options *lime;
	uint64_t duration_ns;
	char *notices[EDGES_NOTICES + 1];
};

/* Runs the command. Returns -ENODATA if nothing was counted. */
int imbalance_count_edges(struct counted_edges *k, char *const *argv, struct err *err);

#endif
