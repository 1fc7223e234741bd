/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>

#include "analysis/calls/paircost.h"
#include "analysis/cause/by_counters.h"
#include "analysis/cause/by_solo.h"
#include "analysis/cause/by_spin.h"
#include "analysis/cause/callees.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/work.h"
#include "analysis/evidence/counters.h"
#include "analysis/evidence/samples.h"
#include "analysis/score/block.h"
#include "analysis/score/floor.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"
#include "base/text.h"
#include "trace/meta/meta.h"

/* Returns the jitter of the probes while the block ran. */
static double own_jitter(const struct block *b, const struct meta *meta, double rest_ns,
			 struct text *evidence)
{
	double ns = b->cost->known ? floor_jitter_ns(b) : 0;

	(void)meta;
	text_printf(evidence, "an empty traced call varies by %.0fns on average",
		    b->cost->jitter_ns);
	return ns < rest_ns ? ns : rest_ns;
}

/* Returns the part of the run queue time that fell on probe code. */
static double own_preempted(const struct block *b, const struct meta *meta, double rest_ns,
			    struct text *evidence)
{
	const struct offcpu *off = &b->sums->own_off;
	double share = b->cost->known ? floor_probe_share(b) : 0;

	(void)meta;
	text_printf(evidence, "probes are %.0f%% of what the block ran", 100 * share);
	if (!off->preempted_ns)
		return 0;
	return rest_ns * share * floor_interrupted_ns(off) / (double)off->preempted_ns;
}

/*
 * Returns the time in the run queue because of the recorder, which lasts until the thread runs
 * again. On a busy machine other threads ran in between, so it is at most the recorder's CPU time.
 */
static double recorder(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence)
{
	const struct offcpu *off = &b->sums->own_off;
	uint64_t used_ns = meta->end.present ? meta->end.recorder_cpu_ns : META_UNKNOWN;
	uint64_t ns = off->recorder_ns < used_ns ? off->recorder_ns : used_ns;
	char time[TEXT_NUMBER];

	text_printf(evidence, "ispot's recorder had the CPU for %s", text_time(time, ns));
	return off->preempted_ns ? rest_ns * (double)ns / (double)off->preempted_ns : 0;
}

/* Adds how much of the run queue time would not have been if the program had run alone. */
static void describe_run_queue(const struct offcpu *off, struct text *evidence)
{
	double own = (double)off->oversubscribed_ns / (double)off->preempted_ns;

	if (own < 0.995)
		text_printf(evidence, ", %.0f%% of it due to other programs (or CPU affinity)",
			    100 * (1 - own));
}

static double cpu_wait(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence)
{
	const struct offcpu *off = &b->sums->own_off;
	char time[TEXT_NUMBER];

	text_printf(evidence, "waits %s for a CPU", text_time(time, off->preempted_ns));
	if (meta->session.cpus && off->preempted_ns)
		describe_run_queue(off, evidence);
	return rest_ns;
}

static double callee(const struct block *b, const struct meta *meta, double rest_ns,
		     struct text *evidence)
{
	const struct sci_edge *worst = NULL;
	double sum = 0;

	for (uint32_t i = 1; i <= b->sums->n_edges; i++) {
		const struct sci_edge *e = &b->sums->edges[i];

		sum += callee_excess(e);
		if (!worst || callee_excess(e) > callee_excess(worst))
			worst = e;
	}
	if (worst && sum > 0)
		text_printf(evidence, "%s is %.0f%% of it", meta->functions.data[worst->id].name,
			    100 * callee_excess(worst) / sum);
	return rest_ns;
}

/* Takes the share that the regressions of the verdict account for; the rest has another cause. */
static double work_share(const struct block *b, const struct meta *meta, double rest_ns,
			 struct text *evidence)
{
	double on_cpu = b->pools[POOL_RUNNING] + b->pools[POOL_CALLEE], ns;

	if (b->verdict != VERDICT_WORKLOAD || !(on_cpu > 0))
		return 0;
	work_describe(b, meta, &b->work, evidence);
	ns = b->work.share * block_pools_ns(b);
	return rest_ns * (ns < on_cpu ? ns / on_cpu : 1);
}

/*
 * Whether the fastest calls show how much it is, because no probe varies in them. The other proofs
 * only show that there is more work, and then the rest of the excess counts as work.
 */
static bool is_of_fastest(const struct work *work)
{
	return work->by == WORK_ARGUMENT || (work->by == WORK_CALL_INDEX && !work->median);
}

static double more_work_of_fastest(const struct block *b, const struct meta *meta, double rest_ns,
				   struct text *evidence)
{
	return is_of_fastest(&b->work) ? work_share(b, meta, rest_ns, evidence) : 0;
}

static double more_work(const struct block *b, const struct meta *meta, double rest_ns,
			struct text *evidence)
{
	return b->work.median || is_of_fastest(&b->work) ? 0
							 : work_share(b, meta, rest_ns, evidence);
}

static double more_work_inside(const struct block *b, const struct meta *meta, double rest_ns,
			       struct text *evidence)
{
	return b->work.median ? 0 : work_share(b, meta, rest_ns, evidence);
}

static double more_work_mostly(const struct block *b, const struct meta *meta, double rest_ns,
			       struct text *evidence)
{
	return b->work.median ? work_share(b, meta, rest_ns, evidence) : 0;
}

/*
 * Takes the part that follows an argument or the call's number, even if other causes keep the block
 * from the verdict `workload`.
 */
static double work_part_share(const struct block *b, const struct meta *meta, bool median,
			      double rest_ns, struct text *evidence)
{
	struct work part = work_part(b);
	double ns = part.share * block_pools_ns(b);

	if (b->verdict == VERDICT_WORKLOAD || part.by == WORK_UNPROVEN || part.median != median)
		return 0;
	work_describe(b, meta, &part, evidence);
	return ns < rest_ns ? ns : rest_ns;
}

static double more_to_do(const struct block *b, const struct meta *meta, double rest_ns,
			 struct text *evidence)
{
	return work_part_share(b, meta, false, rest_ns, evidence);
}

static double more_to_do_mostly(const struct block *b, const struct meta *meta, double rest_ns,
				struct text *evidence)
{
	return work_part_share(b, meta, true, rest_ns, evidence);
}

#define EACH_SURE    5	   /* standard errors; many, because there are many blocks and counters */
#define FAULT_NS_MAX 10000 /* of one fault: longer times include something else */

/*
 * The part of the excess on a CPU that comes with a count of work which the kernel does in the
 * thread's own time.
 */
struct kernel_work {
	const struct counter_mean *count;
	double each_ns, share;
};

/*
 * Returns the time that comes with each event, from the calls that were counted, times the number
 * of events beyond those of the shortest calls. share 0: there is none.
 */
static struct kernel_work kernel_work(const struct block *b, const struct meta *meta,
				      const char *role, double ns_max)
{
	const struct counter_summary *s = b->counters.own ? b->counters.own : b->counters.all;
	struct kernel_work w = { .count = counter_role(s, meta, role) };
	size_t i = w.count ? (size_t)(w.count - s->value) : 0;
	double share;

	if (!w.count || !(s->slope_ns[i] > EACH_SURE * s->slope_error_ns[i]) ||
	    !(w.count->mean_slow > w.count->mean_fast))
		return w;
	w.each_ns = s->slope_ns[i];
	share = (w.each_ns < ns_max ? w.each_ns : ns_max) * (w.count->mean - s->least[i]) /
		(s->running_ns.mean - s->running_least_ns);
	w.share = share > 0 ? share : 0;
	return w;
}

static double page_fault(const struct block *b, const struct meta *meta, double rest_ns,
			 struct text *evidence)
{
	struct kernel_work w = kernel_work(b, meta, "minor-faults", FAULT_NS_MAX);
	char time[TEXT_NUMBER];

	if (!(w.share > 0))
		return 0;
	text_printf(evidence,
		    "%.1f page faults in a slow call, %.1f in a fast one; each comes with %s of "
		    "time on a CPU",
		    w.count->mean_slow, w.count->mean_fast, text_time(time, (uint64_t)w.each_ns));
	return fmin(w.share * b->pools[POOL_RUNNING], rest_ns);
}

/* Judges functions whose page faults are not counted, as those that code in the process times, by
 * samples of what their calls run. What the faster half of the calls has of it, the others have as
 * well, and more of it than that is part of the excess. */
static double page_fault_sampled(const struct block *b, const struct meta *meta, double rest_ns,
				 struct text *evidence)
{
	const struct block_samples *at = &b->samples;
	const struct counter_summary *s = b->counters.own ? b->counters.own : b->counters.all;
	double share, more;

	if (counter_role(s, meta, "minor-faults") || at->own < SAMPLES_MIN ||
	    at->faults_ns <= 2 * at->fast_faults_ns)
		return 0;
	share = (double)at->faults_ns / (double)at->own_ns;
	more = (double)(at->faults_ns - 2 * at->fast_faults_ns) / (double)at->own_ns;
	text_printf(evidence,
		    "%.0f%% of its time on a CPU was in the kernel, where the program makes no "
		    "system call: most likely in page faults",
		    100 * share);
	return fmin(more * block_weight_calls(b) * b->sums->switching.y, rest_ns);
}

#define MISS_NS_MAX 500 /* of one miss, from the memory of another node */
/* calls that take this much longer with each miss do something else as well */
#define MISS_NS_NONE 5000

/*
 * Calls that miss more often take longer, in proportion to the misses. Their data may be spread
 * over more memory, or other threads may have used the cache. Which of the two it is remains
 * unknown, so causes_find() leaves the time unexplained.
 */
static double cache_misses(const struct block *b, const struct meta *meta, double rest_ns,
			   struct text *evidence)
{
	struct kernel_work w = kernel_work(b, meta, "llc-misses", MISS_NS_MAX);
	char time[TEXT_NUMBER];

	if (!w.count)
		w = kernel_work(b, meta, "cache-misses", MISS_NS_MAX);
	if (!(w.share > 0) || w.each_ns > MISS_NS_NONE)
		return 0;
	text_printf(evidence,
		    "%.3g cache misses in a slow call, %.3g in a fast one; each is taken for %s of "
		    "time on a CPU",
		    w.count->mean_slow, w.count->mean_fast,
		    text_time(time, (uint64_t)fmin(w.each_ns, MISS_NS_MAX)));
	return fmin(w.share * b->pools[POOL_RUNNING], rest_ns);
}

#define SECTOR_NS_MAX 20000 /* a page in 160 us: a disk that takes longer lets the thread sleep */

/*
 * Takes the time of a disk that answers before the thread is asleep, or whose driver works in the
 * thread's own time. Code that works on the data it has read does so in user space. So samples
 * limit the kernel's part, and without enough samples nothing is claimed.
 */
static double disk(const struct block *b, const struct meta *meta, double rest_ns, const char *role,
		   const char *done, struct text *evidence)
{
	const struct block_samples *at = &b->samples;
	struct kernel_work w = kernel_work(b, meta, role, SECTOR_NS_MAX);
	double in_kernel, running_ns, ns;

	if (!(w.share > 0) || at->own < SAMPLES_MIN)
		return 0;
	in_kernel = (double)at->kernel_ns / (double)at->own_ns;
	running_ns = block_weight_calls(b) * b->sums->switching.y;
	ns = fmin(w.share * b->pools[POOL_RUNNING], in_kernel * running_ns);
	if (!(ns > 0))
		return 0;
	text_printf(evidence,
		    "%.0f sectors %s disk in a slow call, %.0f in a fast one; of its time on a "
		    "CPU %.0f%% was in the kernel",
		    w.count->mean_slow, done, w.count->mean_fast, 100 * in_kernel);
	return fmin(ns, rest_ns);
}

static double disk_read(const struct block *b, const struct meta *meta, double rest_ns,
			struct text *evidence)
{
	return disk(b, meta, rest_ns, "sectors-read", "read from", evidence);
}

static double disk_write(const struct block *b, const struct meta *meta, double rest_ns,
			 struct text *evidence)
{
	return disk(b, meta, rest_ns, "sectors-written", "written to", evidence);
}

/* The calls only wait for a lock that another thread holds. */
static double contended(const struct block *b, const struct meta *meta, double rest_ns,
			struct text *evidence)
{
	char time[TEXT_NUMBER];
	uint64_t waits = b->timed_calls + b->open_calls;

	(void)meta;
	if (!b->function || !b->function->contended_only || !waits)
		return 0;
	text_printf(evidence,
		    "%" PRIu64 " wait%s for a lock that another thread held, %s on average", waits,
		    waits == 1 ? "" : "s", text_time(time, b->excess_ns / waits));
	return rest_ns;
}

/* The sleeps determine the confidence. */
#define WAITS(kind)                                                    \
	{ kind, POOL_BLOCKED, 0, NULL }, { kind, POOL_IDLE, 0, NULL }, \
	{                                                              \
		kind, POOL_RUNNING, 0, NULL                            \
	}

/* The rules take from a pool what is still unexplained, in this order. */
/* clang-format off */
const struct cause_rule cause_rules[] = {
	{ "lock", POOL_RUNNING, 1, contended },
	{ "lock", POOL_BLOCKED, 1, contended },
	{ "lock", POOL_IDLE, 1, contended },
	{ "workload", POOL_RUNNING, 1, more_work_of_fastest },
	{ "workload", POOL_RUNNING, 1, more_to_do },
	{ "ispot", POOL_RUNNING, 0.5, own_jitter },
	{ "ispot", POOL_PREEMPTED, 1, recorder },
	{ "ispot", POOL_PREEMPTED, 0.5, own_preempted },
	{ "barrier", POOL_RUNNING, 0.9, cause_spin_at_barrier },
	{ "lock", POOL_RUNNING, 0.9, cause_spin_held },
	{ "lock", POOL_RUNNING, 0.6, cause_spin },
	{ "condition-wait", POOL_RUNNING, 0.6, cause_spin_alone },
	{ "workload", POOL_RUNNING, 1, more_work },
	{ "workload", POOL_RUNNING, 0.8, more_work_mostly },
	{ "workload", POOL_RUNNING, 0.8, more_to_do_mostly },
	{ "workload", POOL_CALLEE, 1, more_work_inside },
	{ "workload", POOL_CALLEE, 0.8, more_work_mostly },
	{ "numa", POOL_RUNNING, 0.8, cause_remote_loads },
	{ "cache-sharing", POOL_RUNNING, 0.8, cause_shared_lines },
	{ "memory-bandwidth", POOL_RUNNING, 0.7, cause_memory_stalls },
	{ "memory-bandwidth", POOL_RUNNING, 0.5, cause_memory_stalls_of_any },
	{ "frequency-smt", POOL_RUNNING, 0.8, cause_clock },
	{ "frequency-smt", POOL_RUNNING, 0.7, cause_sibling },
	{ "concurrency", POOL_RUNNING, 0.9, cause_solo },
	{ "callee", POOL_CALLEE, 1, callee },
	{ "barrier", POOL_PREEMPTED, 0.9, cause_yield_at_barrier },
	{ "lock", POOL_PREEMPTED, 0.7, cause_yield },
	{ "cpu-wait", POOL_PREEMPTED, 1, cpu_wait },
	{ "page-fault", POOL_RUNNING, 0.8, page_fault },
	{ "page-fault", POOL_RUNNING, 0.6, page_fault_sampled },
	{ "disk-io", POOL_RUNNING, 0.8, disk_read },
	{ "disk-io", POOL_RUNNING, 0.8, disk_write },
	{ "cache-misses", POOL_RUNNING, 0.6, cache_misses },
	WAITS("lock"),
	WAITS("condition-wait"),
	WAITS("barrier"),
	WAITS("disk-io"),
	WAITS("network"),
	WAITS("pipe"),
	WAITS("sleep"),
	WAITS("page-fault"),
	WAITS("kernel"),
	WAITS("ispot"),
};
/* clang-format on */
const size_t cause_rules_n = sizeof(cause_rules) / sizeof(cause_rules[0]);
