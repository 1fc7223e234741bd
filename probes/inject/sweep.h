/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes out the patches of a recorder that was killed. What it left in the process says where they
 * are, and is the process's to change: so only what leads into its arena now, and was in a file
 * what the arena says it was, is written over.
 */
#ifndef ISPOT_PROBES_INJECT_SWEEP_H
#define ISPOT_PROBES_INJECT_SWEEP_H

#include <stdint.h>

struct err;
struct tracees;

/* t: stopped. *n: patches that were taken out; -EBUSY: their recorder lives. */
int sweep(struct tracees *t, uint64_t *n, struct err *err);

#endif
