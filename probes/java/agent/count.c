// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/java/agent/ids.h"
#include "probes/java/agent/ring.h"

/* The counters, in the order of the recorder's list: perf events first. */
static struct {
	uint32_t n_perf, n_task;
	struct perf_event_attr perf[INPROC_COUNTS_MAX];
	enum inproc_task task[INPROC_COUNTS_MAX];
	_Atomic bool said;
} wanted;

static uint32_t n_wanted(void)
{
	return wanted.n_perf + wanted.n_task;
}

static void add_perf(const char *words)
{
	unsigned long long config, config1, config2;
	unsigned type, user, kernel;

	if (sscanf(words, "%u %llu %llu %llu %u %u", &type, &config, &config1, &config2, &user,
		   &kernel) != 6)
		return;
	wanted.perf[wanted.n_perf] = (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.config1 = config1,
		.config2 = config2,
		.pinned = !wanted.n_perf,
		.exclude_user = !user,
		.exclude_kernel = !kernel,
		.exclude_hv = !kernel,
		.read_format = PERF_FORMAT_GROUP,
	};
	wanted.n_perf++;
}

void count_add(const char *words)
{
	unsigned task;

	if (n_wanted() == INPROC_COUNTS_MAX)
		return;
	if (!strncmp(words, "perf ", 5))
		add_perf(words + 5);
	else if (sscanf(words, "task %u", &task) == 1)
		wanted.task[wanted.n_task++] = (enum inproc_task)task;
}

bool count_any(void)
{
	return n_wanted() > 0;
}

/* Reports once per process that an event cannot be opened. If one thread may not open it, no other
 * thread may. */
static void complain(int error)
{
	char words[160];

	if (wanted.said)
		return;
	wanted.said = true;
	snprintf(words, sizeof(words),
		 "its calls count nothing: perf_event_open fails for one of its threads (%s)",
		 strerror(error));
	ids_notice(words);
}

static void open_perf(struct count_thread *c)
{
	c->opened = true;
	for (uint32_t i = 0; i < INPROC_COUNTS_MAX; i++)
		c->fds[i] = -1;
	for (uint32_t i = 0; i < wanted.n_perf; i++) {
		c->fds[i] = (int)syscall(SYS_perf_event_open, &wanted.perf[i], 0, -1,
					 i ? c->fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (c->fds[i] >= 0)
			continue;
		complain(errno);
		count_release(c);
		c->opened = true;
		c->fds[0] = -1;
		return;
	}
}

void count_release(struct count_thread *c)
{
	for (uint32_t i = 0; c->opened && i < wanted.n_perf; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	c->opened = false;
}

/* Returns false if the group was never opened, or another profiler has taken its counters. */
static bool read_perf(const struct count_thread *c, uint64_t *values)
{
	uint64_t group[1 + INPROC_COUNTS_MAX];
	size_t bytes = (1 + wanted.n_perf) * sizeof(*group);

	if (!wanted.n_perf)
		return true;
	if (c->fds[0] < 0 || read(c->fds[0], group, bytes) != (ssize_t)bytes)
		return false;
	memcpy(values, group + 1, wanted.n_perf * sizeof(*values));
	return true;
}

static uint64_t task_value(const struct rusage *u, enum inproc_task task)
{
	switch (task) {
	case INPROC_MINOR_FAULTS:
		return (uint64_t)u->ru_minflt;
	case INPROC_MAJOR_FAULTS:
		return (uint64_t)u->ru_majflt;
	case INPROC_PAGE_FAULTS:
		return (uint64_t)(u->ru_minflt + u->ru_majflt);
	case INPROC_VOLUNTARY_SWITCHES:
		return (uint64_t)u->ru_nvcsw;
	case INPROC_INVOLUNTARY_SWITCHES:
		return (uint64_t)u->ru_nivcsw;
	case INPROC_CONTEXT_SWITCHES:
		return (uint64_t)(u->ru_nvcsw + u->ru_nivcsw);
	}
	return 0;
}

static bool read_task(uint64_t *values)
{
	struct rusage u;

	if (!wanted.n_task)
		return true;
	if (getrusage(RUSAGE_THREAD, &u))
		return false;
	for (uint32_t i = 0; i < wanted.n_task; i++)
		values[i] = task_value(&u, wanted.task[i]);
	return true;
}

bool count_read(struct count_thread *c, uint64_t values[INPROC_COUNTS_MAX])
{
	int error = errno;
	bool is_read;

	if (!c->opened)
		open_perf(c);
	is_read = read_perf(c, values) && read_task(values + wanted.n_perf);
	errno = error; /* the program's */
	return is_read;
}

/* After lost records all values are written again, because a lost value may never change any more.
 */
void count_write(struct ring_thread *t, struct count_thread *c, uint64_t time_ns,
		 const uint64_t values[INPROC_COUNTS_MAX])
{
	if (t->lost)
		c->is_known = false;
	for (uint32_t i = 0; i < n_wanted(); i++) {
		if (c->is_known && values[i] == c->values[i])
			continue;
		c->values[i] = values[i];
		ring_add(t, time_ns, INPROC_COUNT, (uint32_t)values[i],
			 i | (uint32_t)(values[i] >> 32 << INPROC_COUNT_BITS & UINT16_MAX));
	}
	c->is_known = true;
}
