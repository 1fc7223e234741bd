/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording in the formats of other tools. A format is a row of rows.h and a file; the driver
 * pairs the calls in one pass and hands them over as they end. Calls whose end is not known
 * (unwound, lost) have no length: they are left out and counted.
 */
#ifndef ISPOT_REPORT_EXPORT_EXPORT_H
#define ISPOT_REPORT_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/text.h"

struct err;
struct export_format;
struct meta;
struct output;
struct trace_reader;

struct export_options {
	const char *input, *output; /* paths, "-" standard input or output */
	uint64_t from_ns, to_ns;    /* since the start of the recording */
	uint64_t limit;		    /* calls, 0: the format's default */
	bool of_sequences;	    /* of dot: states are sequences */
};

struct export
{
	const struct export_options *options;
	const struct export_format *format;
	const struct meta *meta;
	struct calls calls;
	uint64_t start_ns;    /* CLOCK_MONOTONIC of the recording's start */
	uint64_t exported;    /* calls, or the format's unit */
	uint64_t without_end; /* calls left out: no length is known */
	uint64_t beyond;      /* calls left out: more than the limit */
	bool interrupted;     /* by Ctrl-C: what was read until then is in the output, whole */
	struct text out;      /* what was not written yet; formats append */
	struct output *file;
	int failed;
	void *state; /* the format's own */
};

struct export_format {
	const char *name, *what;
	uint64_t limit; /* calls by default, for what is read by a browser; 0: none */
	bool is_binary;
	const char *unit; /* what is exported and limited; NULL: calls */
	/* Instead of the rest, of a format that is no list of calls: reads all, appends to out. */
	int (*whole)(struct export *e, struct trace_reader *r, struct err *err);
	/* All but call may be NULL. c is timed, or open at the end of the recording. */
	void (*begin)(struct export *e);
	void (*call)(struct export *e, const struct thread *t, const struct call *c);
	void (*record)(struct export *e, const struct thread *t, const struct record *r);
	void (*end)(struct export *e); /* after the last call; frees state */
};

/* Reads the input, writes the output. Fills what *e says of it; the rest is released. */
int export_run(struct export *e, const struct export_format *format, const struct export_options *o,
	       struct err *err);

/* For formats. */
void export_write(struct export *e, const void *data, size_t n); /* out first, then data */
const char *export_function_name(const struct export *e, uint32_t id);
/* Returns the thread's name, else the program's; never empty, for viewers that show names only. */
const char *export_thread_name(const struct export *e, const struct thread *t);
uint64_t export_since(const struct export *e, uint64_t time_ns); /* ns since the start */
/* s as a JSON string, quotes included. */
void export_json_string(struct text *out, const char *s);

#endif
