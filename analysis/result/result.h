/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass over a trace and all that reports print of it.
 *
 * Threads' time is the sum of what each thread was observed (T_t). It is the exact sum of
 *	lost     own excess that evidence attributes to interference, of the blocks whose verdict
 *	         is interference or that nothing explains: functions, markers, and places where
 *	         threads wait outside of them. Groups of a function's calls replace it if they lose
 *	         more than it, as a whole, is known to; so no row that is shown loses more than all
 *	unexplained  own excess of the same blocks on a CPU that nothing explains: more work, or
 *	         interference that only hardware counters could show
 *	idle     time asleep or blocked that is not in lost: waiting for work, for others, for a
 *	         timer
 *	working  the rest: on a CPU, or runnable
 * Without switch records nobody knows who slept: idle and working are not measured.
 * coverage: the part of threads' time inside any traced call.
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
	uint64_t from_ns, to_ns; /* since the start of the recording; to_ns UINT64_MAX: its end */
	const char *baseline;	 /* path of a recording whose fastest calls count, NULL: none */
	struct call_visitor visitors[RESULT_VISITORS]; /* further ones; call NULL: none */
	const struct keyed_rule *rule; /* how to group calls besides, NULL: not at all */
	bool interrupted; /* result_scan(): Ctrl-C; to_ns is where it was, for what reads again */
};

/* A sentence of the recorder or of the analysis. */
struct notice {
	char *text;
	bool small; /* it is of so little that all else can be read without it */
};

struct result_thread {
	const struct thread *thread;
	uint64_t observed_ns;
	double sci; /* own excess of its interference blocks / observed; NAN: nothing observed */
};

struct result {
	const struct meta *meta;
	struct baseline baseline; /* empty without one */
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
	struct blocks sites;  /* sleeps outside them, by stack */
	struct callstacks callstacks;
	struct keyed keyed;		       /* with a rule */
	struct blocks groups;		       /* of keyed */
	const struct sequences *sequences;     /* what the groups are, NULL: others */
	const struct transitions *transitions; /* NULL: not asked for */
	struct {
		VEC(struct result_thread)
	} threads;
	struct {
		VEC(struct notice)
	} notices;
	uint64_t probed_ns; /* of duration_ns: from the first probes on, without pauses of bursts */
	uint64_t duration_ns, window_from_ns, window_to_ns; /* window: since the start */
	bool windowed;
	bool interrupted;	   /* by Ctrl-C; the window ends there */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, of the window */
	uint64_t records, lost_records, untimed_calls;
	uint64_t threads_ns;		       /* threads' time */
	uint64_t working_ns, lost_ns, idle_ns; /* BLOCK_NONE: not measured */
	uint64_t unexplained_ns;	       /* the same */
	uint64_t runnable_ns;		       /* part of working: without a CPU. The same */
	uint64_t ready_ns;		       /* without a CPU, in lost or in working. The same */
	/* parts of working outside every traced call: on a CPU, and without one. The same */
	uint64_t outside_cpu_ns, outside_runnable_ns;
	/* CPUs that the program kept busy while its calls were probed, on average; NAN: not known
	 */
	double busy_cpus;
	/* CPUs that the program may use: of the machine's, by affinity and quota; 0: not known */
	double usable_cpus;
	double recorded_part;	      /* of the calls, by sampling; 1: all */
	double *waits_lost_ns;	      /* [thread index]: of lost, outside traced calls */
	struct block_options options; /* with which blocks were built */
	uint64_t estimated_calls;     /* with those that sampling left out */
	double coverage;	      /* NAN: nothing observed */
	/* of the probe class that most calls went through */
	uint64_t pair_min_ns, pair_p50_ns, pair_p99_ns; /* BLOCK_NONE: not calibrated */
	double overhead;	/* as meta_overhead(): the recorder's estimate; NAN: unknown */
	bool overhead_is_least; /* it was more than that */
	double overhead_cpus;	/* CPUs that the probes took while recording; NAN: unknown */
	bool hardly_runs;	/* as meta_hardly_runs(): overhead says little */
};

/* Returns how long after the recording's start a moment was, also one outside of the window. */
static inline uint64_t result_since_start(const struct result *res, uint64_t time_ns)
{
	uint64_t start_ns = res->start_ns - res->window_from_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/*
 * The same of records as they come, in order of time: begin, result_record() each, end once. meta
 * may gain lines meanwhile, but none of functions, and at the end is what a file would have. The
 * window of o is not looked at.
 */
int result_begin(struct result *result, const struct meta *meta, uint64_t start_ns,
		 const struct result_options *o, struct err *err);
static inline void result_record(struct result *result, const struct record *r)
{
	calls_record(&result->calls, r);
}
void result_end(struct result *result, uint64_t end_ns);

/*
 * CPU time of which no score tells: outside every traced call, or in calls too few to compare. Most
 * time first; the caller releases the vector.
 */
void result_untold(const struct result *res, struct untold_functions *out);

/* Reads from the reader's present position to the end; r must outlive *result. */
int result_read(struct result *result, struct trace_reader *r, const struct result_options *o,
		struct err *err);
void result_release(struct result *result);

/*
 * Only the calls, to one visitor, without any score: for what must be known before. calls is
 * initialised first and released at the end; the caller rewinds r.
 */
int result_scan(struct calls *calls, struct trace_reader *r, struct result_options *o,
		const struct call_visitor *v, struct err *err);

/* The sentence of views whose reading was ended by Ctrl-C. */
extern const char result_interrupted[];

/* CLOCK_MONOTONIC at which the recording began and ended, whatever the window. */
void result_span(const struct trace_reader *r, uint64_t *start_ns, uint64_t *end_ns);

#endif
