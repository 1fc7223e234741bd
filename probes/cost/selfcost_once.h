/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the cost of traced calls on this machine outside of a recording. */
#ifndef ISPOT_PROBES_COST_SELFCOST_ONCE_H
#define ISPOT_PROBES_COST_SELFCOST_ONCE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct meta_calibration;

/* rows has room for SELFCOST_ROWS_MAX. Needs root, and takes half a second to two seconds. */
int selfcost_once(uint32_t threads, struct meta_calibration *rows, size_t *n, struct err *err);

#endif
