/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a pattern found nothing, in one sentence, and what to write instead. */
#ifndef ISPOT_PROBES_SELECT_MISSING_H
#define ISPOT_PROBES_SELECT_MISSING_H

#include <stddef.h>

struct dso;
struct err;
struct pattern;
struct patterns;
struct selection;

/* The error for a pattern that matched no block. */
int marker_missing(const struct pattern *p, struct dso *const *dsos, size_t n, struct err *err);

/*
 * The error for a pattern that has matched nothing so far: -ENOENT, naming the nearest names
 * ("no function 'pthread_mutx_lock' in app or its 3 libraries; did you mean pthread_mutex_lock
 * (libc.so.6)?"), or why it cannot be (IFUNC, exists only inlined, no symbols at all, Go).
 * 0 when every pattern matched.
 */
int selection_missing(const struct selection *s, struct patterns *p, struct dso *const *dsos,
		      size_t n, struct err *err);
/* -ENOENT: the program is Go's, no function of it can be traced. */
int selection_refuse_go(const struct dso *program, struct err *err);

#endif
