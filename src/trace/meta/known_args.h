/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arguments of well-known functions that are recorded by default: those that the duration
 * depends on, the lock that is taken, and whether it was taken.
 */
#ifndef ISPOT_TRACE_META_KNOWN_ARGS_H
#define ISPOT_TRACE_META_KNOWN_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/meta/meta.h"

struct known_arg {
	const char *function; /* symbol */
	uint32_t number;      /* counted from 1; 0: the return value */
	const char *name, *type;
	enum argument_class class;
	uint8_t bytes;
	bool is_signed;
	bool aside;  /* needed to follow locks, but calls are not split by it */
	bool family; /* also for the implementations of its IFUNC symbol: "__NAME_…" */
};

#define KNOWN_ARGS_MAX 4
/* Stores the rows of a function in found; returns how many. */
size_t known_args(const char *symbol, const struct known_arg *found[KNOWN_ARGS_MAX]);

#endif
