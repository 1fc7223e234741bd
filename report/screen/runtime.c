/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/runtime.h"

#include <math.h>

#include "analysis/evidence/runtime.h"
#include "analysis/evidence/untold.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "analysis/threads/threads.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/untold.h"
#include "report/table/table.h"
#include "trace/meta/meta.h"

#define RUNTIME_LEAST 0.2  /* of the CPU time: less gets no sentence */
#define KNOWN_LEAST   0.05 /* of the CPU time: what is named stands for what is not */

static const struct {
	const char *whose, *what, *advice;
} works[RUNTIME_WORKS] = {
	[RUNTIME_OPENMP] = { "OpenMP's library",
			     ", most likely handing out tasks or parts of loops that are too small",
			     "give each task more work, and each thread larger parts of loops: "
			     "schedule(dynamic, 100) or static" },
	[RUNTIME_OPENMP_TASKS] = { "OpenMP's library", " handing out tasks: they are too small",
				   "give each task more work: call the function itself below some "
				   "size (if or final clause), or use taskloop with a grainsize" },
	[RUNTIME_OPENMP_CHUNKS] = { "OpenMP's library",
				    " handing out parts of loops: they are too small",
				    "give each thread larger parts: schedule(dynamic, 100), guided "
				    "or static" },
	[RUNTIME_TBB] = { "TBB's library", " handing out tasks: they are too small",
			  "give each task more work: call the function itself below some size, or "
			  "give ranges a larger grainsize" },
	[RUNTIME_GO_MEMORY] = { "Go's runtime", " allocating memory and collecting garbage",
				"allocate less often (sync.Pool, slices with a capacity), or let "
				"the heap grow further (GOGC, GOMEMLIMIT)" },
	[RUNTIME_GO_SWITCHING] = { "Go's runtime",
				   " switching between goroutines and passing values through channels",
				   "pass more at once, through channels with a buffer, between "
				   "fewer goroutines" },
	[RUNTIME_GO_MUTEX] = { "Go's runtime", " in mutexes",
			       "lock less often: keep the data of each goroutine apart, or use "
			       "sync/atomic" },
	[RUNTIME_GO_CONTENTION] = { "Go's runtime", " in contended mutexes",
				    "shorten the critical section, or shard the mutex" },
};

struct runtime {
	enum runtime_work work;
	double share; /* of the CPU time */
};

/* Without names it is what the named functions of OpenMP do, if there are any. */
static enum runtime_work openmp_works_for(const struct untold *u)
{
	const double tasks = untold_runtime(u, RUNTIME_OPENMP_TASKS);
	const double chunks = untold_runtime(u, RUNTIME_OPENMP_CHUNKS);

	if (tasks < KNOWN_LEAST && chunks < KNOWN_LEAST)
		return RUNTIME_OPENMP;
	return tasks < chunks ? RUNTIME_OPENMP_CHUNKS : RUNTIME_OPENMP_TASKS;
}

/*
 * Returns the share of the CPU time that calls of the runtime had while they were traced. It is
 * known even if samples show only the C library's functions that the runtime calls, whose stacks
 * end there.
 */
static double traced_share(const struct result *res, enum runtime_work work)
{
	const struct meta *meta = res->meta;
	double most = 0, cpu;

	if (!meta->end.present || !res->threads_ns)
		return 0;
	cpu = (double)meta->end.target_cpu_ns / (double)res->threads_ns;
	vec_for_each (&res->blocks, const struct block, b) {
		const struct offcpu *off = b->sums ? &b->sums->own_off : NULL;
		double share;

		if (!off || b->total_ns == BLOCK_NONE || b->timed_calls < CALLS_MIN ||
		    !b->observed_ns || !b->function || !b->object || !b->function->symbol ||
		    runtime_work_of_call(b->object->path, b->function->symbol) != work)
			continue;
		share = (double)offcpu_running_ns(b->total_ns, off) /
			((double)b->observed_ns * cpu);
		most = fmax(most, fmin(share, 1));
	}
	return most;
}

/* Returns the share of the CPU time. All time in Go's mutexes is of that kind of which there is
 * more. */
static double share_of(const struct untold *u, enum runtime_work work)
{
	const double free = untold_runtime(u, RUNTIME_GO_MUTEX);
	const double contended = untold_runtime(u, RUNTIME_GO_CONTENTION);

	if (work == RUNTIME_GO_MUTEX)
		return free > contended ? free + contended : 0;
	if (work == RUNTIME_GO_CONTENTION)
		return free > contended ? 0 : free + contended;
	return untold_runtime(u, work);
}

/* Returns the work that a runtime has most time for; share 0: it is too little for a sentence. */
static struct runtime most(const struct view *v)
{
	const struct untold *u = &v->result->untold;
	const enum runtime_work openmp = openmp_works_for(u);
	struct runtime most = { 0 };

	for (enum runtime_work w = RUNTIME_NONE + 1; w < RUNTIME_WORKS; w++) {
		double share = share_of(u, w);

		if (w == RUNTIME_OPENMP && w != openmp)
			continue;
		if (w == openmp && w != RUNTIME_OPENMP)
			share += untold_runtime(u, RUNTIME_OPENMP);
		share = fmax(share, traced_share(v->result, w));
		if (share >= RUNTIME_LEAST && share > most.share)
			most = (struct runtime){ w, share };
	}
	return most;
}

bool report_runtime(const struct view *v)
{
	return most(v).share > 0;
}

bool report_runtime_leads(const struct view *v)
{
	const struct result *res = v->result;
	const struct block *worst = report_worst(v);
	const struct runtime r = most(v);

	return r.share > 0 &&
	       (!worst || r.share * res->untold.ns > worst->lost_threads * (double)res->probed_ns);
}

void text_runtime(const struct view *v, struct text *out)
{
	const struct runtime r = most(v);
	char share[TEXT_NUMBER];

	if (!(r.share > 0))
		return;
	text_new_sentence(out);
	text_printf(out, "%s spends %s of the CPU time%s.", works[r.work].whose,
		    text_share(share, r.share), works[r.work].what);
}

void text_runtime_advice(const struct view *v, struct text *out)
{
	const struct runtime r = most(v);

	if (r.share > 0)
		text_add(out, works[r.work].advice);
}
