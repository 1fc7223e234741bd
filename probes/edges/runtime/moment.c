/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "probes/edges/runtime/runtime.h"

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t edges_now_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* Opened each time: a descriptor that is kept may be closed by the program, and be another's. */
static uint64_t cpu_wait_ns(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	unsigned long long ran, waited;
	char line[64] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && sscanf(line, "%llu %llu", &ran, &waited) == 2 ? waited : EDGES_UNKNOWN;
}

struct switches {
	uint64_t own, others; /* the thread went to sleep; had to go */
};

static struct switches switches_now(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (struct switches){ (uint64_t)u.ru_nvcsw, (uint64_t)u.ru_nivcsw };
}

struct edges_moment edges_moment_now(bool at_end)
{
	struct switches before = switches_now(), after;
	struct edges_moment m;

	for (int again = 0; again < 4; again++) {
		if (!at_end)
			m.cpu_wait_ns = cpu_wait_ns();
		m.time_ns = now_ns(CLOCK_MONOTONIC);
		m.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (at_end)
			m.cpu_wait_ns = cpu_wait_ns();
		after = switches_now();
		m.sleeps = after.own;
		if (after.own == before.own && after.others == before.others)
			break;
		before = after;
	}
	return m;
}
