/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a recording in the formats of other tools. Each format is a file and a row of rows.h. The
 * driver pairs the calls in one pass and passes each to the format when it ends. Calls without a
 * known end (unwound, lost) have no duration: they are left out and counted.
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
	const char *input, *output; /* paths; "-": standard input or output */
	uint64_t from_ns, to_ns;    /* ns since the start of the recording */
	uint64_t limit;		    /* calls; 0: the format's default */
	bool of_sequences;	    /* dot only: states are sequences */
};

struct export
{
	const struct export_options *options;
	const struct export_format *format;
	const struct meta *meta;
	struct calls calls;
	uint64_t start_ns;    /* CLOCK_MONOTONIC of the recording's start */
	uint64_t exported;    /* exported calls, or what the format's unit names */
	uint64_t without_end; /* calls left out because their end is not known */
	uint64_t beyond;      /* calls left out because of the limit */
	bool interrupted;     /* by Ctrl-C; the output is complete up to then */
	struct text out;      /* not written yet; formats append to it */
	struct output *file;
	int failed;
	void *state; /* owned by the format */
};

struct export_format {
	const char *name, *what;
	uint64_t limit; /* default limit of calls, for formats that a browser reads; 0: none */
	bool is_binary;
	const char *unit; /* name of what is exported and limited; NULL: calls */
	/* For a format that is no list of calls, instead of the callbacks below: reads the whole
	 * recording and appends to out. */
	int (*whole)(struct export *e, struct trace_reader *r, struct err *err);
	/* All of these but call may be NULL. c: a timed call, or one open at the end of the
	 * recording. */
	void (*begin)(struct export *e);
	void (*call)(struct export *e, const struct thread *t, const struct call *c);
	void (*record)(struct export *e, const struct thread *t, const struct record *r);
	void (*end)(struct export *e); /* after the last call; frees state */
};

/* Reads the input and writes the output. Afterwards, *e has the counts; all else is released. */
int export_run(struct export *e, const struct export_format *format, const struct export_options *o,
	       struct err *err);

/* Functions for formats. */
void export_write(struct export *e, const void *data, size_t n); /* writes out, then data */
const char *export_function_name(const struct export *e, uint32_t id);
/* Returns the thread's name, or the program's if it has none. It is never empty, because some
 * viewers show only names. */
const char *export_thread_name(const struct export *e, const struct thread *t);
uint64_t export_since(const struct export *e, uint64_t time_ns); /* returns ns since the start */
/* Appends s as a JSON string with quotes. */
void export_json_string(struct text *out, const char *s);

#endif
