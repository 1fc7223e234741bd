/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recording is asked for, and what it returns. */
#ifndef ISPOT_PROBES_SESSION_OPTIONS_H
#define ISPOT_PROBES_SESSION_OPTIONS_H

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
	CALL_GRAPH_FP,	  /* by frame pointer */
	CALL_GRAPH_NONE,
};

struct session_options {
	const char *const *patterns; /* -F words */
	size_t n_patterns;
	/* Without patterns: globs of functions between which threads share work out. They are
	 * looked for where a file imports one of them; NULL-terminated, NULL: none. */
	const char *const *regions;
	bool some_match;   /* those that match nothing are passed over, if others do */
	char *const *argv; /* the command, NULL-terminated; NULL: none */
	const pid_t
		*pids; /* attach to these; the command, if any, then only bounds the recording */
	size_t n_pids;
	const char *output;	 /* file, "-" standard output */
	const char *command;	 /* for the file: the command line as typed; "" on attach */
	const char *options;	 /* for the file: ispot's own options as typed */
	const char *version;	 /* for the file: ispot's own */
	const char *events;	 /* -e: what every call counts; NULL: ispot chooses, now and then */
	bool stamp_cycles;	 /* calls are stamped with the cycle counter, too */
	uint64_t duration_ns;	 /* 0: no bound */
	uint64_t delay_ns;	 /* before recording begins */
	uint64_t max_bytes;	 /* of the file; 0: no bound */
	uint64_t keep_slower_ns; /* only calls that last so long are written; 0: all */
	uint64_t slow_stack_ns;	 /* of calls that last so long a stack at their exit; 0: none */
	uint64_t ring_bytes;	 /* per CPU; 0: chosen by the number of CPUs */
	uint32_t period; /* -c N: record one call in N of each thread and function; 1: all */
	const char *const *no_key; /* functions whose arguments are not recorded by default */
	size_t n_no_key;
	bool inherit;	/* follow children */
	bool calibrate; /* measure the probes' cost before and after */
	enum call_graph call_graph;
	uint32_t stack_period; /* every so many calls of a function on a CPU a stack; 0: the default
				*/
	bool show_progress;    /* nobody else writes to the terminal meanwhile */
	bool solo;	       /* windows in which all threads share one CPU */
	bool scout;	       /* the first of two passes: choose functions, trace nothing */
	uint64_t choose_ns; /* of the selection without -F: none join later; 0: they may always */
	/* Probes are in for so long of each period; 0: always. */
	uint64_t burst_on_ns, burst_period_ns;
	/* Whom the command runs as; NULL: as ispot does. */
	const struct identity *user;
	double overhead; /* budget of the selection without -F, share of the target's CPU time */
	double overhead_beside; /* and what the functions that are handed over may cost */
	/* The patterns are a scout's choice, not the user's: they too have to keep the budget. */
	bool keep_budget;
	const double *cpu_shares; /* [pattern], as the scout saw it; NULL: not known */
	/* What the scout left out, for the file to say. */
	const struct meta_not_traced *left_out;
	size_t n_left_out;
	/* Before the command, which is held, executes: what else is to be opened on it. */
	int (*launching)(void *ctx, pid_t pid, struct err *err);
	void *launching_ctx;
	const struct session_beside *beside; /* NULL: the kernel's probes time all (engine.h) */
	/* Records go there instead of into a file; output is not used. After each draining it may
	 * be read up to until_ns, and once more, to its end, when the session has run. Without it
	 * drained, if there is one, is called all the same. */
	struct live *live;
	void (*drained)(void *ctx, uint64_t until_ns);
	void *drained_ctx;
};

struct session_result {
	uint64_t calls, records, lost_records, lost_others, file_bytes, duration_ns,
		recorder_cpu_ns, target_cpu_ns, counting_cost_ns, scheduling_cost_ns,
		sampling_cost_ns, after_cost_ns, probes_cost_ns;
	double sample_ns;	   /* that a sample takes; NAN: not measured */
	uint64_t trapped_calls;	   /* with those that sampling (-c) left out */
	uint64_t left_out_records; /* of calls that were too short to be written */
	bool lost_most_in_process; /* so what calls there cost is not known */
	uint32_t functions;	   /* probed */
	int exit_status;	   /* of the command; 0 on attach */
	bool interrupted;	   /* by a signal to ispot */
	bool cut_short;		   /* by a full disk or the largest size */
	bool began_at_end;	   /* the delay was longer than all of it */
	const char *reason;	   /* why it ended: static string */
};

/* The result of a scout's run: the functions that it would trace, as patterns, with their shares of
 * the CPU time; and those that it leaves out. */
struct session_choice {
	struct {
		VEC(const char *)
	} patterns;
	struct {
		VEC(double)
	} shares;
	struct {
		VEC(struct meta_not_traced)
	} left_out; /* hot, and too dear; words are the choice's own */
};

#endif
