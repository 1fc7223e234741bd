/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event of an exported perf.data, "ispot:call": one sample is one call. It is described as the
 * kernel describes its tracepoints, so that perf prints its fields by name. */
#ifndef ISPOT_REPORT_EXPORT_TRACING_H
#define ISPOT_REPORT_EXPORT_TRACING_H

#include <stdint.h>

struct call;
struct meta_function;
struct text;
struct thread;

#define TRACING_EVENT_ID 1 /* perf_event_attr.config */

/* Appends the section with tracing data, version 0.6. */
void tracing_describe(struct text *out);
/* Appends the raw data of a call's sample: its length, the data, and padding to a multiple of 8
 * bytes. */
void tracing_call(struct text *out, const struct thread *t, const struct call *c, const char *name,
		  const struct meta_function *f);

#endif
