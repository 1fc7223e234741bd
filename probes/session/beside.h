/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a session says of the engine beside the kernel's probes. */
#ifndef ISPOT_PROBES_SESSION_BESIDE_H
#define ISPOT_PROBES_SESSION_BESIDE_H

#include <stddef.h>

struct err;

/*
 * Writes into words, which has room for n bytes, why nothing is timed in process after all. The
 * advice of the error is left out: ispot does that by itself.
 */
void session_beside_refusal(const struct err *why, char *words, size_t n);
/* How much of the error's text is the problem, without that advice. */
int session_beside_problem(const struct err *why);

#endif
