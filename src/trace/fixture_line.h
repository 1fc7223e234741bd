/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of a trace's text, taken apart; between the files of trace/fixture.h. */
#ifndef ISPOT_TRACE_FIXTURE_LINE_H
#define ISPOT_TRACE_FIXTURE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/record.h"

struct err;

extern const char *const fixture_states[]; /* by enum switch_state, NULL-terminated */

/* A function as the text names it: by name, or by id where name is NULL. */
struct fixture_function {
	char *name;
	uint32_t id;
};

struct fixture_record {
	struct record r;  /* r.values and r.bytes are set by fixture_record_bind() */
	uint64_t *values; /* of extended kinds: RECORD_VALUES_MAX of them */
	char *bytes;
	struct fixture_function function; /* of entry, exit and of a value that is a function */
	bool has_function, has_sp;
	uint32_t site; /* of an entry: the id that says where it was called from; 0: none */
	size_t line;
};

/* The record on the line (without its newline). -EINVAL, with a sentence that does not name the
 * line. */
int fixture_parse_record(const char *line, struct fixture_record *f, struct err *err);
/* f has found its place in memory and its function is id. */
void fixture_record_bind(struct fixture_record *f, uint32_t id);
void fixture_record_release(struct fixture_record *f);

#endif
