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

/* What the closing lines say, and ispot's exit status follows from. */
struct recorder_end {
	uint64_t calls, functions, lost, file_bytes;
	uint64_t duration_ns; /* 0: not known */
	const char *unit;     /* what is counted as functions; NULL: functions */
	char slowed[64];      /* what recording cost, as a clause; "": not known */
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
	/* Records to the end, and fills what is zero at the beginning. so: the options as a session
	 * takes them, with the command and the processes. */
	int (*record)(const struct record_options *o, struct session_options *so,
		      struct recorder_end *end, struct err *err);
};

extern const struct recorder recorder_kernel, recorder_shared, recorder_java, recorder_in_process,
	recorder_auto;

/* Whether an option is followed by the kernel's probes alone, and in words which. */
bool recorder_needs_probes(const struct record_options *o, const struct session_options *so,
			   char *words, size_t n);

/* Fills in what every recorder knows of a recording. */
void recorder_fill_end(struct recorder_end *end, const struct session_result *r);

/*
 * Checks the options, records, writes the closing lines. *status: what ispot exits with. Returns 0,
 * or an error; of an option that the recorder cannot follow -EINVAL, or -EACCES if root could.
 */
int recorder_run(const struct recorder *r, const struct record_options *o,
		 struct session_options *so, int *status, struct err *err);

#endif
