/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes the patches of a recorder that was killed. What the recorder left in the process says
 * where they are, but the process can change that. So a place is overwritten only if its jump leads
 * into the recorder's arena now, and only with bytes that a file has there.
 */
#ifndef ISPOT_PROBES_INJECT_SWEEP_H
#define ISPOT_PROBES_INJECT_SWEEP_H

#include <stdint.h>

struct err;
struct tracees;

/* t: stopped. *n: number of patches that were removed. Returns -EBUSY if their recorder still
 * runs. */
int sweep(struct tracees *t, uint64_t *n, struct err *err);

#endif
