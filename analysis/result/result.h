/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of one pass over a recording: everything that reports print.
 *
 * Thread time is the sum of the time for which each thread was observed (T_t). It is the exact sum
 * of
 * - lost: own excess time that evidence attributes to interference, of the blocks whose verdict is
 *   interference or that nothing explains: functions, markers, and blocking stacks outside of them.
 *   Groups of a function's calls replace the function if they lose more than the function as a
 *   whole is known to lose; so no row that is shown loses more than the total.
 * - unexplained: own excess time of the same blocks on a CPU that nothing explains: more work, or
 *   interference that only hardware counters could show.
 * - idle: time off the CPU, not runnable, that is not in lost: waiting for work, for other threads,
 *   for a timer.
 * - working: the rest, running or in the run queue.
 *
 * Without switch records it is unknown when threads slept, so idle and working are not measured
 * then. Coverage is the share of thread time inside any traced call.
 */
#ifndef ISPOT_ANALYSIS_RESULT_RESULT_H
#define ISPOT_ANALYSIS_RESULT_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/evidence/counters.h"
#include "analysis/evidence/untold.h"
#include "analysis/result/baseline.h"
#include "analysis/score/block.h"
#include "analysis/score/callstack.h"
#include "analysis/score/keyed.h"
#include "analysis/score/sci.h"
#include "analysis/site/site.h"

struct err;
struct record;
struct sequences;
struct trace_reader;
struct transitions;

#define RESULT_VISITORS 4

struct result_options {
	/* ns since the start of the recording; to_ns UINT64_MAX: to its end */
	uint64_t from_ns, to_ns;
	const char *baseline; /* path of a recording that serves as baseline, or NULL */
	struct call_visitor visitors[RESULT_VISITORS]; /* additional visitors; self NULL: unused */
	const struct keyed_rule *rule; /* how to group calls as well, or NULL for no groups */
	bool interrupted; /* Ctrl-C ended result_scan() at to_ns, where later passes end too */
};

/* A sentence of the recorder or of the analysis. */
struct notice {
	char *text;
	bool small; /* it concerns so little that the rest can be read without it */
};

struct result_thread {
	const struct thread *thread;
	uint64_t observed_ns;
	double sci; /* own excess of its interference blocks / observed time; NAN: not observed */
};

struct result {
	const struct meta *meta;
	struct baseline baseline; /* empty without --baseline */
	bool has_baseline;
	const char *damage; /* NULL, or what is wrong with the file */
	struct calls calls;
	struct sci sci;
	struct sites site_sums;
	struct counters counters;
	struct coactivity coactivity;
	struct samples samples;
	struct untold untold;
	struct blocks blocks; /* functions and markers */
	struct blocks sites;  /* blocking stacks outside the traced blocks */
	struct callstacks callstacks;
	struct keyed keyed;		       /* only with a rule */
	struct blocks groups;		       /* the groups of keyed */
	const struct sequences *sequences;     /* set if the groups are call sequences, else NULL */
	const struct transitions *transitions; /* NULL: not asked for */
	struct {
		VEC(struct result_thread)
	} threads;
	struct {
		VEC(struct notice)
	} notices;
	/* the part of duration_ns after the first probes, without pauses of bursts */
	uint64_t probed_ns;
	/* window: since the recording's start */
	uint64_t duration_ns, window_from_ns, window_to_ns;
	bool windowed;
	bool interrupted;	   /* by Ctrl-C, which also ends the window */
	uint64_t start_ns, end_ns; /* of the window, CLOCK_MONOTONIC */
	uint64_t records, lost_records, untimed_calls;
	uint64_t threads_ns;		       /* thread time */
	uint64_t working_ns, lost_ns, idle_ns; /* BLOCK_NONE: not measured */
	uint64_t unexplained_ns;	       /* BLOCK_NONE: not measured */
	/* the part of working in the run queue; BLOCK_NONE: not measured */
	uint64_t runnable_ns;
	/* in the run queue, in lost or in working; BLOCK_NONE: not measured */
	uint64_t ready_ns;
	/*
	 * the parts of working outside every traced call, running and in the run queue; BLOCK_NONE:
	 * not measured
	 */
	uint64_t outside_cpu_ns, outside_runnable_ns;
	/* CPUs that the program kept busy on average while its calls were probed; NAN: unknown */
	double busy_cpus;
	/* CPUs of the machine that the program may use, by affinity and quota; 0: unknown */
	double usable_cpus;
	double recorded_part;	      /* share of the calls that sampling recorded; 1: all */
	double *waits_lost_ns;	      /* [thread index]: lost time outside traced calls */
	struct block_options options; /* the options with which the blocks were built */
	uint64_t estimated_calls;     /* includes the calls that sampling skipped */
	double coverage;	      /* NAN: nothing was observed */
	/* cost per call of the probe class that most calls went through */
	uint64_t pair_min_ns, pair_p50_ns, pair_p99_ns; /* BLOCK_NONE: not calibrated */
	double overhead;	/* the recorder's estimate, as by meta_overhead(); NAN: unknown */
	bool overhead_is_least; /* overhead is a lower bound */
	bool lost_most_in_process; /* so overhead is NAN */
	double overhead_cpus;	   /* CPUs that the probes took while recording; NAN: unknown */
	bool hardly_runs;	   /* as by meta_hardly_runs(): overhead means little then */
};

/*
 * Returns how long after the start of the recording time_ns is, also for a time outside the window.
 */
static inline uint64_t result_since_start(const struct result *res, uint64_t time_ns)
{
	uint64_t start_ns = res->start_ns - res->window_from_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/*
 * Builds a result from records as they come, in order of time: result_begin() once,
 * result_record() for each record, result_end() once. meta may gain lines meanwhile, except
 * functions, and holds at the end what a file would hold. The window of o is ignored.
 */
int result_begin(struct result *result, const struct meta *meta, uint64_t start_ns,
		 const struct result_options *o, struct err *err);
static inline void result_record(struct result *result, const struct record *r)
{
	calls_record(&result->calls, r);
}
void result_end(struct result *result, uint64_t end_ns);

/*
 * Returns how many entries and exits were read, with those of functions that the recording does not
 * name, those that are not analysed, and those of calls without records of their own.
 */
uint64_t result_records_read(const struct result *res);

/*
 * Finds CPU time that no score covers: time outside every traced call, or in functions with too few
 * calls to compare. The entry with the most time comes first. The caller releases the vector.
 */
void result_untold(const struct result *res, struct untold_functions *out);

/* Whether the program itself keeps the CPUs busy that it may use: none is left for its threads. */
bool result_fills_cpus(const struct result *res);

/* Reads from the reader's current position to the end; r must outlive *result. */
int result_read(struct result *result, struct trace_reader *r, const struct result_options *o,
		struct err *err);
void result_release(struct result *result);

/*
 * Passes only the calls to one visitor, without any score, for what must be known before the real
 * pass. Initializes calls first and releases it at the end; the caller rewinds r.
 */
int result_scan(struct calls *calls, struct trace_reader *r, struct result_options *o,
		const struct call_visitor *v, struct err *err);

/* The notice of views whose reading Ctrl-C ended. */
extern const char result_interrupted[];

/* Sets when the recording began and ended (CLOCK_MONOTONIC), whatever the window is. */
void result_span(const struct trace_reader *r, uint64_t *start_ns, uint64_t *end_ns);

#endif
