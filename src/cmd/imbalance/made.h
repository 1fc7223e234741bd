/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which threads of a program that counts its edges were made by one thread and then waited for, as
 * their logs tell. In src/cmd/imbalance/made.c.
 */
#ifndef ISPOT_CMD_IMBALANCE_MADE_H
#define ISPOT_CMD_IMBALANCE_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/imbalance/section/brood.h"

struct edges;

struct made_thread {
	uint32_t brood, order; /* BROOD_NONE: nobody is known to have made it */
	bool awaited;
};

struct made {
	struct broods broods;	     /* makers are logs; sites places of edges */
	struct made_thread *threads; /* [log] */
};

void made_find(struct made *m, const struct edges *e);
void made_release(struct made *m);

#endif
