/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of traced calls on this machine, measured by itself, outside a recording. */
#ifndef ISPOT_PROBES_COST_SELFCOST_ONCE_H
#define ISPOT_PROBES_COST_SELFCOST_ONCE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct meta_calibration;

/* rows: SELFCOST_ROWS_MAX; needs root. Takes half a second or two. */
int selfcost_once(uint32_t threads, struct meta_calibration *rows, size_t *n, struct err *err);

#endif
