/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds, in the logs of a program that counts its edges, which threads were made by one thread that
 * then waited for their ends.
 */
#ifndef ISPOT_CMD_IMBALANCE_MADE_H
#define ISPOT_CMD_IMBALANCE_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/imbalance/section/brood.h"

struct edges;

struct made_thread {
	uint32_t brood, order; /* BROOD_NONE: its maker is unknown */
	bool awaited;
};

struct made {
	struct broods broods;	     /* its makers are logs, and its sites places of edges */
	struct made_thread *threads; /* [log] */
};

void made_find(struct made *m, const struct edges *e);
void made_release(struct made *m);

#endif
