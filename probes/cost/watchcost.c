/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/watchcost.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define ROUNDS	      7
#define PAGES	      512 /* each causes one record */
#define RING_PAGES    16  /* the ring overwrites: a record that finds no room would cost less */
#define SPINS	      20000000
#define SAMPLE_PERIOD 50000 /* instructions */

/* An event of this thread, with a ring that is never full because it overwrites. */
struct source {
	int fd;
	void *ring;
	size_t bytes;
};

static bool source_open(struct source *s, struct perf_event_attr *attr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->disabled = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->write_backward = 1; /* overwrites the oldest record */
	s->bytes = (RING_PAGES + 1) * page;
	s->ring = MAP_FAILED;
	s->fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd >= 0)
		s->ring = mmap(NULL, s->bytes, PROT_READ, MAP_SHARED, s->fd, 0);
	return s->ring != MAP_FAILED;
}

static void source_close(struct source *s)
{
	if (s->ring != MAP_FAILED)
		munmap(s->ring, s->bytes);
	if (s->fd >= 0)
		close(s->fd);
}

/* Returns the CPU time that it takes to touch new pages. */
static uint64_t touch(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	uint64_t start_ns = clock_cpu_ns();

	if (p == MAP_FAILED)
		return 0;
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * page] = 1;
	start_ns = clock_cpu_ns() - start_ns;
	munmap(p, PAGES * page);
	return start_ns;
}

static uint64_t spin(void)
{
	volatile uint64_t sink;
	uint64_t start_ns = clock_cpu_ns(), x = 1;

	for (uint64_t i = 0; i < SPINS; i++)
		x = x * 6364136223846793005ull + i;
	sink = x;
	(void)sink;
	return clock_cpu_ns() - start_ns;
}

/*
 * Returns the extra ns of the same work while the event is on, from the fastest runs of both; at
 * least 0.
 */
static double more(const struct source *s, uint64_t (*work)(void))
{
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };

	for (int round = 0; round < 2 * ROUNDS; round++) {
		uint64_t took_ns;

		ioctl(s->fd, round % 2 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
		took_ns = work();
		if (took_ns < least[round % 2])
			least[round % 2] = took_ns;
	}
	return least[1] > least[0] ? (double)(least[1] - least[0]) : 0;
}

static double record_cost(void)
{
	struct perf_event_attr faults = { .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_PAGE_FAULTS,
					  .sample_period = 1 };
	struct source s;
	double cost = source_open(&s, &faults) ? more(&s, touch) / PAGES : 0;

	source_close(&s);
	return cost;
}

/* The counter itself tells how many instructions the spinning takes. */
static double sample_cost(void)
{
	struct perf_event_attr instructions = { .type = PERF_TYPE_HARDWARE,
						.config = PERF_COUNT_HW_INSTRUCTIONS,
						.sample_period = SAMPLE_PERIOD };
	uint64_t before = 0, after = 0;
	struct source s;
	double cost = 0;

	if (source_open(&s, &instructions) && read(s.fd, &before, sizeof(before)) > 0) {
		cost = more(&s, spin);
		if (read(s.fd, &after, sizeof(after)) <= 0)
			after = before;
	}
	source_close(&s);
	return after > before ? cost * ROUNDS * SAMPLE_PERIOD / (double)(after - before) : 0;
}

void watchcost_measure(struct watchcost *cost, bool samples)
{
	cost->record_ns = record_cost();
	cost->sample_ns = samples ? sample_cost() : 0;
}
