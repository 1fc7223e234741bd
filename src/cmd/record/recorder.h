/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `ispot record`. record.c reads its options once and gives them to one of the recorders below. A
 * table in recorder.c has the options that each recorder refuses. A new recorder is a file here, a
 * row in record.c and a column in that table.
 */
#ifndef ISPOT_CMD_RECORD_RECORDER_H
#define ISPOT_CMD_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/args.h"

struct err;
struct session_options;
struct session_result;

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

/* The end of a recording, for the closing lines and ispot's exit status. */
struct recorder_end {
	uint64_t calls, functions, lost, file_bytes;
	uint64_t duration_ns; /* 0: not known */
	const char *unit;     /* name of what functions counts; NULL: "function" */
	char slowed[64];      /* the overhead as a clause; "": unknown */
	const char *reason;   /* why it ended; NULL: nothing was recorded, so there are no lines */
	int exit_status;      /* the command's */
};

/* The columns of the table of refused options. */
enum recorder_id {
	RECORDER_KERNEL,
	RECORDER_SHARED,
	RECORDER_JAVA,
	RECORDER_IN_PROCESS,
	RECORDER_AUTO,
	N_RECORDERS
};

struct recorder {
	enum recorder_id id;
	bool (*is_wanted)(const struct record_options *o, const struct session_options *so);
	/* Records to the end, and fills in *end, which is zero before. so: the options of a
	 * session, with the command and the processes. */
	int (*record)(const struct record_options *o, struct session_options *so,
		      struct recorder_end *end, struct err *err);
};

extern const struct recorder recorder_kernel, recorder_shared, recorder_java, recorder_in_process,
	recorder_auto;

/* Returns whether an option was given that only the kernel's probes can follow. words, of n bytes:
 * which one, and why. */
bool recorder_needs_probes(const struct record_options *o, const struct session_options *so,
			   char *words, size_t n);

/* Fills in what every recorder knows of a recording. */
void recorder_fill_end(struct recorder_end *end, const struct session_result *r);

/*
 * Checks the options, records, and writes the closing lines. *status: ispot's exit status. Returns
 * 0 or an error. If the recorder refuses an option: -EACCES if root could use it, otherwise
 * -EINVAL.
 */
int recorder_run(const struct recorder *r, const struct record_options *o,
		 struct session_options *so, int *status, struct err *err);

#endif
