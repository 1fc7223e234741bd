/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of a recording by the kernel's probes that are timed in process (probes/session). */
#ifndef ISPOT_PROBES_INJECT_BESIDE_H
#define ISPOT_PROBES_INJECT_BESIDE_H

#include <stdbool.h>

struct err;
struct inject_beside;
struct inject_recording;
struct planned;
struct session_beside;

/* Functions that wait are few calls, of which the kernel's probes tell more, for what and where:
 * such a one is not handed over where the user has chosen it, unless it would be single-stepped. */
bool inject_beside_is_for_kernel(const struct planned *p);

/* -ENOTSUP, -EPERM, …: what it is not to be done for, a sentence. overhead: the part of the
 * program's time that its calls may cost, 0: no bound. */
int inject_beside_new(struct inject_beside **b, const struct inject_recording *o, struct err *err);
const struct session_beside *inject_beside_get(const struct inject_beside *b);
void inject_beside_free(struct inject_beside *b);

#endif
