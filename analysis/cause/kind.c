// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause/kind.h"

#include <math.h>
#include <string.h>

#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "trace/meta/meta.h"

/* Part of the time without a CPU that the program's own threads are enough to explain; NAN: not
 * known. */
static double crowded(const struct block *b)
{
	const struct offcpu *off = b->sums ? &b->sums->own_off : NULL;

	if (!off || !off->preempted_ns || !b->all_threads->meta->session.cpus)
		return NAN;
	return (double)off->crowded_ns / (double)off->preempted_ns;
}

bool cause_cpus_crowded(const struct block *b)
{
	return crowded(b) > CAUSE_CLEAR;
}

bool cause_cpus_taken(const struct block *b)
{
	return crowded(b) < 1 - CAUSE_CLEAR;
}

const struct cause_kind cause_kinds[] = {
	{
		.kind = "lock",
		.group = CAUSE_LOCK,
		.story = "Threads queue for a lock",
		.idle = "waits for a lock",
		.advice = { { .text = "hold the lock for less, or split it: one for each shard or thread" } },
	},
	{
		.kind = "condition-wait",
		.story = "Threads wait for another thread's signal",
		.idle = "waits for work",
		.advice = { { .text = "signal earlier, hand out work in advance or in larger pieces" } },
	},
	{
		.kind = "barrier",
		.story = "Threads wait for the last one at a barrier",
		.idle = "waits at a barrier",
		.advice = { { .text = "share the work out evenly: smaller pieces, taken when a thread is ready" } },
	},
	{
		.kind = "disk-io",
		.group = CAUSE_IO,
		.story = "Threads wait for the disk",
		.idle = "waits for the disk",
		.advice = { { .text = "flush less often or several at a time; read ahead; use another thread" } },
	},
	{
		.kind = "network",
		.group = CAUSE_IO,
		.story = "Threads wait at sockets",
		.idle = "waits for the network",
		.advice = { { .text = "ask for several things at a time, or let another thread wait" } },
	},
	{
		.kind = "pipe",
		.group = CAUSE_IO,
		.story = "Threads wait at pipes",
		.idle = "waits at a pipe",
		.advice = { { .text = "look at the other end: it writes or reads too slowly or too little" } },
	},
	{
		.kind = "sleep",
		.story = "Threads sleep for a time they chose",
		.idle = "sleeps",
		.advice = { { .text = "wait for the event itself, not for a time to pass" } },
	},
	{
		.kind = "cpu-wait",
		.group = CAUSE_CPU,
		.story = "Threads wait for a CPU",
		.idle = "waits for a CPU",
		.advice = { { .text = "let as many threads run at a time as there are CPUs",
			      .unless = cause_cpus_taken },
			    { .text = "see what else runs on these CPUs (top), and that it may use all (taskset)",
			      .unless = cause_cpus_crowded } },
	},
	{
		.kind = "page-fault",
		.group = CAUSE_FAULT,
		.story = "Threads wait while memory is mapped",
		.idle = "waits for memory",
		.advice = { { .text = "touch memory beforehand, use larger pages, keep what is freed (mallopt(3))" } },
	},
	{
		.kind = "kernel",
		.story = "Threads hold each other up in the kernel",
		.idle = "waits in the kernel",
		.advice = { { .text = "spread the work over more files, or map and unmap memory less often" } },
	},
	{
		.kind = "cache-sharing",
		.story = "Threads take cache lines from each other",
		.advice = { { .text = "put what different threads write on lines of their own" } },
	},
	{
		.kind = "memory-bandwidth",
		.story = "Threads fill the memory's bandwidth",
		.advice = { { .text = "touch less memory, in blocks that stay in the cache" } },
	},
	{
		.kind = "numa",
		.story = "Threads reach for another node's memory",
		.advice = { { .text = "let the thread that uses memory touch it first; bind both to a node" } },
	},
	{
		.kind = "frequency-smt",
		.story = "Threads run on a slower or shared core",
		.advice = { { .text = "use one thread for each core, or leave a core idle" } },
	},
	{
		.kind = "callee",
		.group = CAUSE_PATH,
		.story = "Time goes into functions it calls",
	},
	{
		.kind = "workload",
		.story = "Calls differ in their work",
		.idle = "workload",
	},
	{
		.kind = "ispot",
		.story = "The probes themselves take the time",
		.advice = { { .text = "trace fewer functions (-F), or one call in N (-c)" } },
	},
	{
		.kind = "unknown",
		.group = CAUSE_UNKNOWN,
		.idle = "waits for work",
	},

	/* of executions alone */
	{ .kind = "slow-path", .group = CAUSE_PATH },
	{ .kind = "first-execution", .group = CAUSE_FIRST },
	{ .kind = "pause", .group = CAUSE_PAUSE },
	{ .kind = "safepoint", .group = CAUSE_PAUSE },

	/* of threads that come late */
	{ .kind = "branch", .uneven = "branch taken unevenly", .counted = "taken" },
	{ .kind = "loop", .uneven = "loop goes round unevenly", .counted = "repeated" },
	{ .kind = "call", .uneven = "function called unevenly", .counted = "called" },
	{ .kind = "cache-misses",
	  .uneven = "misses the first cache unevenly",
	  .counted = "missed" },
	{ .kind = "memory", .uneven = "misses the last cache unevenly", .counted = "missed" },
	{ .kind = "page-faults", .uneven = "faults pages unevenly", .counted = "faulted" },
	{ .kind = "event", .uneven = "what was sampled happens unevenly", .counted = "happened" },
};
const size_t cause_kinds_n = sizeof(cause_kinds) / sizeof(cause_kinds[0]);

const struct cause_kind *cause_kind_find(const char *kind)
{
	for (size_t i = 0; i < cause_kinds_n; i++)
		if (!strcmp(cause_kinds[i].kind, kind))
			return &cause_kinds[i];
	return NULL;
}

const char *cause_advice(const struct block *b, const char *kind, size_t n)
{
	const struct cause_kind *row = cause_kind_find(kind);

	for (size_t i = 0; row && i < CAUSE_ADVICES && row->advice[i].text; i++)
		if (!(row->advice[i].unless && row->advice[i].unless(b)) && !n--)
			return row->advice[i].text;
	return NULL;
}
