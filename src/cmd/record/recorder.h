/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `ispot record`: its options are read once (record.c), one of the recorders below takes them, and
 * each recorder says in one table (recorder.c) which options it cannot follow. A new recorder is a
 * file here, a row in record.c and a column in that table.
 */
#ifndef ISPOT_CMD_RECORD_RECORDER_H
#define ISPOT_CMD_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/args.h"

struct err;
struct session_options;

struct record_options {
	const char *output, *events, *call_graph, *clock;
	struct arg_list patterns, pids, no_key;
	uint64_t duration_ns, delay_ns, max_bytes, ring_bytes, keep_slower_ns, slow_stacks_ns;
	uint64_t stack_period;
	const char *user, *burst, *engine;
	bool inherit, solo, two_pass, quiet, java;
	int verbose;
	double overhead_percent;
	uint64_t period;
};

/* The columns of the table of refused options. */
enum recorder_id {
	RECORDER_KERNEL,
	RECORDER_SHARED,
	RECORDER_JAVA,
	RECORDER_IN_PROCESS,
	N_RECORDERS
};

struct recorder {
	enum recorder_id id;
	bool (*is_wanted)(const struct record_options *o);
	/* Records to the end; *status: what ispot exits with. so: the options as a session takes
	 * them, with the command and the processes. */
	int (*run)(const struct record_options *o, struct session_options *so, int *status,
		   struct err *err);
};

extern const struct recorder recorder_kernel, recorder_shared, recorder_java, recorder_in_process;

/* 0, or what the first option that the recorder cannot follow is refused with: -EINVAL,
 * or -EACCES where root could follow it. */
int recorder_check(enum recorder_id id, const struct record_options *o, bool has_command,
		   struct err *err);

struct recorder_end {
	uint64_t calls, functions, lost, file_bytes;
	uint64_t duration_ns; /* 0: not known */
	const char *unit;     /* what is counted as functions: "function", "method" */
	const char *slowed;   /* what recording cost, as a clause; NULL or "": not known */
	const char *output, *reason;
};
/* The closing lines of every recorder. */
void recorder_report_end(const struct recorder_end *end);

#endif
