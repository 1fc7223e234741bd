// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause/kind.h"

#include <math.h>
#include <string.h>

#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "trace/meta/meta.h"

static const struct cause_kind rows[] = {
	{ "lock", "Threads queue for a lock", "waits for a lock" },
	{ "condition-wait", "Threads wait for another thread's signal", "waits for work" },
	{ "barrier", "Threads wait for the last one at a barrier", "waits at a barrier" },
	{ "disk-io", "Threads wait for the disk", "waits for the disk" },
	{ "network", "Threads wait at sockets", "waits for the network" },
	{ "pipe", "Threads wait at pipes", "waits at a pipe" },
	{ "sleep", "Threads sleep for a time they chose", "sleeps" },
	{ "cpu-wait", "Threads wait for a CPU", "waits for a CPU" },
	{ "page-fault", "Threads wait while memory is mapped", "waits for memory" },
	{ "kernel", "Threads hold each other up in the kernel", "waits in the kernel" },
	{ "cache-sharing", "Threads take cache lines from each other", NULL },
	{ "memory-bandwidth", "Threads fill the memory's bandwidth", NULL },
	{ "numa", "Threads reach for another node's memory", NULL },
	{ "frequency-smt", "Threads run on a slower or shared core", NULL },
	{ "callee", "Time goes into functions it calls", NULL },
	{ "workload", "Calls differ in their work", "workload" },
	{ "ispot", "The probes themselves take the time", NULL },
	{ "unknown", NULL, "waits for work" },
};

const struct cause_kind *cause_kind_find(const char *kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].kind, kind))
			return &rows[i];
	return NULL;
}

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

static const struct {
	const char *kind;
	bool (*unless)(
		const struct block *b); /* it helps no block of which this is so; NULL: all */
	const char *text;
} advice[] = {
	{ "lock", NULL, "hold the lock for less, or split it: one for each shard or thread" },
	{ "condition-wait", NULL, "signal earlier, hand out work in advance or in larger pieces" },
	{ "barrier", NULL,
	  "share the work out evenly: smaller pieces, taken when a thread is ready" },
	{ "disk-io", NULL,
	  "flush less often or several at a time; read ahead; use another thread" },
	{ "network", NULL, "ask for several things at a time, or let another thread wait" },
	{ "pipe", NULL, "look at the other end: it writes or reads too slowly or too little" },
	{ "sleep", NULL, "wait for the event itself, not for a time to pass" },
	{ "cpu-wait", cause_cpus_taken, "let as many threads run at a time as there are CPUs" },
	{ "cpu-wait", cause_cpus_crowded,
	  "see what else runs on these CPUs (top), and that it may use all (taskset)" },
	{ "page-fault", NULL,
	  "touch memory beforehand, use larger pages, keep what is freed (mallopt(3))" },
	{ "kernel", NULL, "spread the work over more files, or map and unmap memory less often" },
	{ "cache-sharing", NULL, "put what different threads write on lines of their own" },
	{ "memory-bandwidth", NULL, "touch less memory, in blocks that stay in the cache" },
	{ "numa", NULL, "let the thread that uses memory touch it first; bind both to a node" },
	{ "frequency-smt", NULL, "use one thread for each core, or leave a core idle" },
	{ "ispot", NULL, "trace fewer functions (-F), or one call in N (-c)" },
};

const char *cause_advice(const struct block *b, const char *kind, size_t n)
{
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (!strcmp(advice[i].kind, kind) && !(advice[i].unless && advice[i].unless(b)) &&
		    !n--)
			return advice[i].text;
	return NULL;
}
