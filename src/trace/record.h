/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One decoded record, as readers return it and as the fixture maker and writer take it. It fits
 * into one cache line: the members of extended kinds are behind pointers.
 */
#ifndef ISPOT_TRACE_RECORD_H
#define ISPOT_TRACE_RECORD_H

#include <stdbool.h>

#include "trace/format.h"

#define RECORD_VALUES_MIN \
	4 /* values of an extended record that can always be read; absent ones are 0 */
#define RECORD_VALUES_MAX 36
#define RECORD_NAMES_MAX  5 /* named values of a shape */

/* The longest name or path (the kernel's PATH_MAX); longer ones are cut. */
#define RECORD_BYTES_MAX 4096

struct record {
	uint64_t time_ns;
	uint64_t sp;   /* entry: stack pointer; exit: the same value as its entry's */
	uint32_t kind; /* enum record_kind */
	uint32_t cpu;
	uint32_t tid;
	uint32_t tgid;
	uint32_t id;	   /* entry, exit: probe id (meta kind "function") */
	uint32_t n_values; /* extended: how many of values are in the file */
	const uint64_t
		*values;   /* extended: in the order of format.h; a signed one as its int64_t */
	const char *bytes; /* comm, exec: not NUL-terminated */
	uint32_t n_bytes;
};

/* The payload of an extended kind, one row a kind. */
struct record_shape {
	const char *name;		      /* "switch-out": the kind in a trace's text */
	const char *values[RECORD_NAMES_MAX]; /* names of the values in the order of the payload, ""
						 for one without a name */
	bool masked;	/* the first value is a mask, one value per bit follows */
	bool zigzag;	/* the first value is signed */
	bool has_bytes; /* the rest of the payload is bytes */
};

/*
 * Returns the time at which readers return the record: for a loss the time when it begins, as it
 * applies from then until the record's own time.
 */
static inline uint64_t record_due_ns(const struct record *r)
{
	return r->kind == REC_LOST && r->values[1] < r->time_ns ? r->values[1] : r->time_ns;
}

const struct record_shape *
record_shape(uint32_t kind); /* NULL: not an extended kind of this version */
uint32_t record_shape_values(const struct record_shape *shape); /* how many are named */

#endif
