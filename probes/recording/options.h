/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a recording, and its result. */
#ifndef ISPOT_PROBES_RECORDING_OPTIONS_H
#define ISPOT_PROBES_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;
struct identity;
struct live;
struct meta_not_traced;
struct session_beside;

enum call_graph {
	CALL_GRAPH_DWARF, /* call stacks from copies of the stack, unwound by the files' tables */
	CALL_GRAPH_FP,	  /* call stacks by frame pointers */
	CALL_GRAPH_NONE,
};

struct session_options {
	const char *const *patterns; /* the words of -F */
	size_t n_patterns;
	/* Without patterns: globs of parallel regions, which are selected if a file imports one of
	 * them; NULL-terminated; NULL: none. */
	const char *const *regions;
	bool some_match;   /* patterns that match nothing are ignored if others match */
	char *const *argv; /* the command, NULL-terminated, or NULL if there is none */
	const pid_t *pids; /* attach to these; a command then only limits the duration */
	size_t n_pids;
	const char *output;	 /* path of the file; "-": standard output */
	const char *command;	 /* for the file: the command line as typed, or "" on attach */
	const char *options;	 /* for the file: ispot's own options as typed */
	const char *version;	 /* for the file: ispot's own version */
	const char *events;	 /* -e: events that every call counts; NULL: ispot chooses */
	bool stamp_cycles;	 /* calls have stamps of the cycle counter, too */
	uint64_t duration_ns;	 /* 0: no limit */
	uint64_t delay_ns;	 /* delay before the recording begins */
	uint64_t max_bytes;	 /* limit of the file's size; 0: none */
	uint64_t keep_slower_ns; /* calls shorter than this are not written; 0: all are */
	uint64_t slow_stack_ns;	 /* calls at least this long get a stack at their exit; 0: none */
	uint64_t ring_bytes;	 /* of each CPU; 0: depends on the number of CPUs */
	uint32_t period; /* -c N: record one call in N of each thread and function; 1: every call */
	const char *const *no_key; /* functions whose arguments are not recorded by default */
	size_t n_no_key;
	bool inherit;	/* record child processes, too */
	bool calibrate; /* measure the cost of the probes before and after */
	enum call_graph call_graph;
	uint32_t stack_period; /* calls of a function on a CPU between two stacks; 0: the default */
	bool show_progress;    /* no command writes to the terminal, and the file is not stdout */
	bool solo;	       /* record windows in which all threads share one CPU */
	bool scout;	       /* the first of two passes: choose functions, trace nothing */
	uint64_t choose_ns;    /* without -F: functions join only until then; 0: at any time */
	/* How long the probes are in, of each period; 0: always. */
	uint64_t burst_on_ns, burst_period_ns;
	/* The user of the command; NULL: ispot's own. */
	const struct identity *user;
	double overhead;	/* the budget without -F: a share of the target's CPU time */
	double overhead_beside; /* the budget of the functions that code in the processes times */
	/* The patterns were chosen by a scout, not by the user, so the budget applies to them. */
	bool keep_budget;
	const double *cpu_shares; /* [pattern], as a scout measured them; NULL: unknown */
	/* The functions that the scout skipped, for the file. */
	const struct meta_not_traced *left_out;
	size_t n_left_out;
	/* Called while the command is held before its exec, to open more on it. */
	int (*launching)(void *ctx, pid_t pid, struct err *err);
	void *launching_ctx;
	/* NULL: the kernel's probes time all functions (engine.h) */
	const struct session_beside *beside;
	bool beside_is_asked; /* by the user, who is told why it cannot be */
	/* Receives the records instead of a file; output is not used. After each draining, it may
	 * be read up to until_ns, and after the session, to its end. Without it, drained() is
	 * called all the same if it is set. */
	struct live *live;
	void (*drained)(void *ctx, uint64_t until_ns);
	void *drained_ctx;
};

struct session_result {
	uint64_t calls, records, lost_records, lost_others, file_bytes, duration_ns,
		recorder_cpu_ns, target_cpu_ns, counting_cost_ns, scheduling_cost_ns,
		sampling_cost_ns, after_cost_ns, probes_cost_ns;
	double sample_ns;	   /* cost of a sample; NAN: not measured */
	uint64_t trapped_calls;	   /* including those that sampling (-c) left out */
	uint64_t left_out_records; /* records of calls that were too short to be written */
	bool lost_most_in_process; /* so what calls there cost is not known */
	uint32_t functions;	   /* number of probed functions */
	int exit_status;	   /* of the command; 0 on attach */
	bool interrupted;	   /* a signal to ispot ended the recording */
	bool cut_short;		   /* a full disk or the size limit ended the recording */
	bool began_at_end;	   /* the recording ended before the delay did */
	const char *reason;	   /* why the recording ended: a static string */
};

/* The result of a scout's run: the functions to trace, as patterns with their shares of the CPU
 * time, and the functions to skip. */
struct session_choice {
	struct {
		VEC(const char *)
	} patterns;
	struct {
		VEC(double)
	} shares;
	struct {
		VEC(struct meta_not_traced)
	} left_out; /* hot functions that are too costly; the strings belong to the choice */
};

#endif
