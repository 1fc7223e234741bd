// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/ringbytes.h"

#include <math.h>
#include <unistd.h>

#include "base/log.h"
#include "probes/inject/refusal.h"
#include "probes/inject/targets.h"
#include "probes/inproc/lines.h"
#include "probes/process/usable.h"
#include "probes/recording/options.h"

#define RING_BYTES (4u << 20) /* enough for 13 ms of ten million calls a second */
/* The same for a thread that keeps a budget (machine/blob.h). A larger ring would take the caches
 * from the program, and its pages cost a short program as much as its calls. */
#define RING_BYTES_LIMITED (2u << 20)
#define RING_BYTES_LEAST   (64u << 10)
#define RING_BYTES_LOCKED  (16u << 10) /* for a program that may keep all 4,096 rings in memory */
/*
 * The rings together may keep one in MEMORY_PART bytes of the memory of the machine, or of the
 * program's cgroup: a program whose group is full is killed. That suffices for RINGS_OF_CPU rings
 * for each CPU. If there are more, memory is given back once it is read
 * (probes/inproc/ringmemory.h).
 */
#define RINGS_OF_CPU 8
#define MEMORY_PART  16

static uint64_t ring_bytes_default(double memory, unsigned cpus, bool is_limited)
{
	uint64_t n = is_limited ? RING_BYTES_LIMITED : RING_BYTES;

	while (n > RING_BYTES_LEAST && (double)n * RINGS_OF_CPU * cpus > memory / MEMORY_PART)
		n /= 2;
	return n;
}

/* Returns the memory that the processes may use, or a command, which will be in ispot's cgroup. */
static double usable(const pid_t *pids, size_t n)
{
	const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	double least = (double)pages * (double)sysconf(_SC_PAGESIZE);

	if (!n)
		return fmin(least, usable_memory("/proc", "/sys/fs/cgroup", getpid()));
	for (size_t i = 0; i < n; i++)
		least = fmin(least, usable_memory("/proc", "/sys/fs/cgroup", pids[i]));
	return least;
}

static uint64_t power_of_two(uint64_t wanted)
{
	uint64_t n = 4096;

	while (n <= wanted / 2 && n < 1u << 30)
		n *= 2;
	return n;
}

int ring_bytes_choose(struct ring_bytes *b, const struct session_options *o,
		      const struct inject_targets *targets, bool is_limited, struct err *err)
{
	const double memory = usable(o->pids, o->n_pids);
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t wanted =
		o->ring_bytes
			? o->ring_bytes
			: ring_bytes_default(memory, (unsigned)(cpus > 0 ? cpus : 1), is_limited);
	const char *program = targets->program ? targets->program : "the program";
	int ret = targets->may_lock ? refusal_of_locking(program, err) : 0;

	b->n = power_of_two(wanted);
	b->most = (uint64_t)(memory / MEMORY_PART);
	b->has_shrunk = targets->may_lock && b->n > RING_BYTES_LOCKED;
	if (b->has_shrunk)
		b->n = RING_BYTES_LOCKED;
	return ret;
}

void ring_bytes_report(const struct ring_bytes *b, struct trace_writer *w)
{
	static const char words[] =
		"the program can lock its memory (mlockall), so its threads have rings of 16K, and "
		"more records may be dropped";

	if (!b->has_shrunk)
		return;
	log_notice("%s", words);
	inproc_write_notice(w, "in-process-locked", words);
}
