// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/ringbytes.h"

#include <math.h>
#include <unistd.h>

#include "base/log.h"
#include "probes/inject/refusal.h"
#include "probes/inject/targets.h"
#include "probes/inproc/lines.h"
#include "probes/process/usable.h"

#define RING_BYTES	  (4u << 20) /* enough for 13 ms of ten million calls a second */
#define RING_BYTES_LEAST  (64u << 10)
#define RING_BYTES_LOCKED (16u << 10) /* for a program that may keep all 4,096 rings in memory */
/* RINGS_OF_CPU rings for each CPU may be full at the same time. Together they may take one in
 * MEMORY_PART bytes of the memory of the machine, or of ispot's cgroup, to which a command belongs,
 * too: a program whose group is full is killed. */
#define RINGS_OF_CPU 8
#define MEMORY_PART  16

uint64_t ring_bytes_default(double memory, unsigned cpus)
{
	uint64_t n = RING_BYTES;

	while (n > RING_BYTES_LEAST && (double)n * RINGS_OF_CPU * cpus > memory / MEMORY_PART)
		n /= 2;
	return n;
}

static uint64_t default_ring_bytes(void)
{
	const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	const double machine = (double)pages * (double)sysconf(_SC_PAGESIZE);
	const double group = usable_memory("/proc", "/sys/fs/cgroup", getpid());
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return ring_bytes_default(fmin(machine, group), (unsigned)(cpus > 0 ? cpus : 1));
}

static uint64_t power_of_two(uint64_t wanted)
{
	uint64_t n = 4096;

	while (n <= wanted / 2 && n < 1u << 30)
		n *= 2;
	return n;
}

int ring_bytes_choose(struct ring_bytes *b, uint64_t wanted, const struct inject_targets *targets,
		      struct err *err)
{
	const char *program = targets->program ? targets->program : "the program";
	int ret = targets->may_lock ? refusal_of_locking(program, err) : 0;

	b->n = power_of_two(wanted ? wanted : default_ring_bytes());
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
