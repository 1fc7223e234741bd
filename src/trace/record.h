/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One decoded record, as readers hand it out and as the fixture maker and writer take it. */
#ifndef ISPOT_TRACE_RECORD_H
#define ISPOT_TRACE_RECORD_H

#include "trace/format.h"

#define RECORD_VALUES_MAX 36

struct record {
	uint64_t time_ns;
	uint32_t kind; /* enum record_kind */
	uint32_t cpu;
	uint32_t tid;
	uint32_t tgid;
	uint32_t id;   /* entry, exit: probe id (meta kind "function") */
	uint64_t sp;   /* entry: stack pointer; exit: the same value as its entry's */
	/* extended: the payload's varints in the order format.h gives; absent ones are 0 */
	uint32_t n_values;
	uint64_t values[RECORD_VALUES_MAX];
	const char *bytes; /* comm, exec: not NUL-terminated; valid until the next record */
	uint32_t n_bytes;
};

#endif
