/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explains in one sentence why a pattern found nothing, and what to write instead. */
#ifndef ISPOT_PROBES_SELECT_MISSING_H
#define ISPOT_PROBES_SELECT_MISSING_H

#include <stddef.h>

struct dso;
struct err;
struct pattern;
struct patterns;
struct selection;

/* Reports a pattern of markers or USDT probes that matched no block. */
int marker_missing(const struct pattern *p, struct dso *const *dsos, size_t n, struct err *err);

/*
 * Reports a pattern that has matched nothing so far, as -ENOENT with the nearest names ("no
 * function 'pthread_mutx_lock' in app or its 3 libraries; did you mean pthread_mutex_lock
 * (libc.so.6)?"), or with the reason why it cannot be traced (IFUNC, exists only inlined, no
 * symbols at all, Go). Returns 0 if every pattern matched.
 */
int selection_missing(const struct selection *s, struct patterns *p, struct dso *const *dsos,
		      size_t n, struct err *err);
/* Returns -ENOENT: the program is written in Go, and none of its functions can be traced. */
int selection_refuse_go(const struct dso *program, struct err *err);

#endif
