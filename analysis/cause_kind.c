// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause_kind.h"

#include <stddef.h>
#include <string.h>

static const struct cause_kind rows[] = {
	{ "lock", "Threads queue for a lock", "waits for a lock",
	  "hold the lock for less, or split it: one for each shard or thread" },
	{ "condition-wait", "Threads wait for another thread's signal", "waits for work",
	  "signal earlier, hand out work in advance or in larger pieces" },
	{ "barrier", "Threads wait for the last one at a barrier", "waits at a barrier",
	  "share the work out evenly: smaller pieces, taken when a thread is ready" },
	{ "disk-io", "Threads wait for the disk", "waits for the disk",
	  "flush less often or several at a time; read ahead; use another thread" },
	{ "network", "Threads wait at sockets", "waits for the network",
	  "ask for several things at a time, or let another thread wait" },
	{ "pipe", "Threads wait at pipes", "waits at a pipe",
	  "look at the other end: it writes or reads too slowly or too little" },
	{ "sleep", "Threads sleep for a time they chose", "sleeps",
	  "wait for the event itself, not for a time to pass" },
	{ "cpu-wait", "Threads wait for a CPU", "waits for a CPU",
	  "run fewer threads than CPUs, or see what else runs on these" },
	{ "page-fault", "Threads wait while memory is mapped", "waits for memory",
	  "touch memory beforehand, use larger pages, keep freed memory (M_TRIM_THRESHOLD)" },
	{ "kernel", "Threads hold each other up in the kernel", "waits in the kernel",
	  "spread the work over more files, or map and unmap memory less often" },
	{ "cache-sharing", "Threads take cache lines from each other", NULL,
	  "put what different threads write on lines of their own" },
	{ "memory-bandwidth", "Threads fill the memory's bandwidth", NULL,
	  "touch less memory, in blocks that stay in the cache" },
	{ "numa", "Threads reach for another node's memory", NULL,
	  "let the thread that uses memory touch it first; bind both to a node" },
	{ "frequency-smt", "Threads run on a slower or shared core", NULL,
	  "use one thread for each core, or leave a core idle" },
	{ "callee", "Time goes into functions it calls", NULL, NULL },
	{ "workload", "Calls differ in their work", "workload", NULL },
	{ "ispot", "The probes themselves take the time", NULL,
	  "trace fewer functions (-F), or one call in N (-c)" },
	{ "unknown", NULL, "waits for work", NULL },
};

const struct cause_kind *cause_kind_find(const char *kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].kind, kind))
			return &rows[i];
	return NULL;
}
