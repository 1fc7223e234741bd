/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample/ipc.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "pmu/event.h"
#include "pmu/perf_event.h"

#define RING_BYTES (1u << 18) /* room for 4,000 samples */

struct sample_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, res;
	uint64_t n, values[2 * (2 + IPC_EVENTS)]; /* instructions, cycles, events; each value may
						   * be followed by its number of lost samples */
};

/* Counts user and kernel code: an application also causes the kernel's work on its behalf. */
static int parse(const char *name, struct pmu_event *e, struct err *err)
{
	int rc = pmu_event_parse(e, name, err);

	e->user = e->kernel = true;
	return rc;
}

static int try_event(const char *name, const char *what, struct err *err)
{
	struct pmu_event event;
	char why[256];
	int rc = parse(name, &event, err);

	if (rc)
		return rc;
	rc = perf_event_try(&event);
	return rc ? err_set(err, rc,
			    "%s cannot be measured: %s; take the duration of a "
			    "function or marker as the indicator: -F marker:request",
			    what, perf_event_why(&event, rc, why, sizeof(why)))
		  : 0;
}

int ipc_try(const struct ipc *ipc, struct err *err)
{
	int rc = try_event("instructions", "IPC", err);

	rc = rc ? rc : try_event("cycles", "IPC", err);
	for (uint32_t i = 0; !rc && i < ipc->n_events; i++)
		rc = try_event(ipc->events[i], ipc->events[i], err);
	return rc;
}

/* Returns the advice if the CPU has too few counters. Each further event takes one. */
static const char *way_out(const struct ipc *ipc, const char *otherwise)
{
	return ipc->n_events ? "name fewer events with --indicator, or end the other profiler"
			     : otherwise;
}

/* Opens an event in the group of a CPU's instructions. */
static int open_member(struct ipc *ipc, uint32_t i, uint32_t member, const struct pmu_event *e,
		       struct err *err)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
		.config = e->config,
		.read_format = PERF_FORMAT_GROUP,
		.use_clockid = 1, /* a group has one clock, that of its leader */
		.clockid = CLOCK_MONOTONIC,
	};
	const struct ring *ring = &ipc->rings.rings[i];
	int fd;

	if (ring->fd < 0)
		return 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)ring->cpu, ring->fd,
			  PERF_FLAG_FD_CLOEXEC);
	ipc->cpus[i].fds[member] = fd;
	if (fd < 0 && errno != ENODEV)
		return err_set(err, -errno, "%s cannot be counted on CPU %u: %s; %s",
			       member ? ipc->events[member - 1] : "cycles", ring->cpu,
			       strerror(errno), way_out(ipc, "does another profiler run?"));
	return 0;
}

static int open_members(struct ipc *ipc, uint32_t i, struct err *err)
{
	struct pmu_event event;
	int rc = 0;

	for (uint32_t member = 0; !rc && member <= ipc->n_events; member++) {
		rc = parse(member ? ipc->events[member - 1] : "cycles", &event, err);
		rc = rc ? rc : open_member(ipc, i, member, &event, err);
	}
	return rc;
}

/* The kernel reports no error for a pinned event without a counter, but read() then returns 0. */
static int check_counters(const struct ipc *ipc, struct err *err)
{
	uint64_t values[1 + 2 * (2 + IPC_EVENTS)];

	for (uint32_t i = 0; i < ipc->rings.n; i++)
		if (ipc->cpus[i].fds[0] >= 0 &&
		    !read(ipc->rings.rings[i].fd, values, sizeof(values)))
			return err_set(err, -EBUSY, "the counters of CPU %u are taken; %s",
				       ipc->rings.rings[i].cpu,
				       way_out(ipc, "end the other profiler, or give -F"));
	return 0;
}

int ipc_open(struct ipc *ipc, const struct cpus *cpus, uint64_t period, struct err *err)
{
	struct pmu_event instructions;
	struct perf_event_attr attr = {
		.sample_period = period,
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP,
		.pinned = 1,
		.disabled = 1,
	};
	int rc = parse("instructions", &instructions, err);

	if (rc)
		return rc;
	attr.type = instructions.type;
	attr.config = instructions.config;
	ipc->cpus = xcalloc(cpus->n, sizeof(*ipc->cpus));
	for (uint32_t i = 0; i < cpus->n; i++)
		memset(ipc->cpus[i].fds, -1, sizeof(ipc->cpus[i].fds));
	rc = rings_open(&ipc->rings, cpus, RING_BYTES, &attr, err);
	for (uint32_t i = 0; !rc && i < cpus->n; i++)
		rc = open_members(ipc, i, err);
	for (uint32_t i = 0; !rc && i < cpus->n; i++)
		if (ipc->cpus[i].fds[0] >= 0 &&
		    ioctl(ipc->rings.rings[i].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
			rc = err_set(err, -errno,
				     "instructions cannot be counted on CPU %u: %s; "
				     "does another profiler run?",
				     ipc->rings.rings[i].cpu, strerror(errno));
	return rc ? rc : check_counters(ipc, err);
}

struct reading {
	struct ipc *ipc;
	struct ipc_cpu *cpu;
	void (*visit)(void *self, const struct ipc_sample *s);
	void *self;
};

static void on_sample(const struct reading *r, const struct ring *ring,
		      const struct sample_record *s)
{
	const struct ipc_cpu before = *r->cpu;
	uint32_t apart = ring->lost_at ? 2 : 1, n = r->ipc->n_events;
	uint64_t instructions = s->values[0], cycles = s->values[apart];
	struct ipc_sample sample = { .cpu = ring->cpu, .pid = (pid_t)s->pid };

	if (s->n != 2 + n) /* the group did not have all its members yet */
		return;
	r->ipc->samples++;
	for (uint32_t i = 0; i < n; i++) {
		r->cpu->events[i] = s->values[(2 + i) * apart];
		sample.events[i] = r->cpu->events[i] - before.events[i];
	}
	r->cpu->since_ns = s->time_ns;
	r->cpu->instructions = instructions;
	r->cpu->cycles = cycles;
	if (!before.since_ns || s->time_ns <= before.since_ns || cycles <= before.cycles)
		return;
	sample.start_ns = before.since_ns;
	sample.end_ns = s->time_ns;
	sample.instructions = instructions - before.instructions;
	sample.cycles = cycles - before.cycles;
	r->visit(r->self, &sample);
}

static void on_record(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	struct reading *r = ctx;

	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(r, ring, (const void *)h);
	} else if (h->type == PERF_RECORD_THROTTLE) {
		r->ipc->throttled++;
	} else if (h->type == PERF_RECORD_LOST) {
		r->cpu->since_ns = 0; /* the next stretch is longer than one sample */
	}
}

void ipc_read(struct ipc *ipc, void (*visit)(void *self, const struct ipc_sample *s), void *self)
{
	for (uint32_t i = 0; i < ipc->rings.n; i++) {
		struct reading r = { ipc, &ipc->cpus[i], visit, self };

		ring_drain(&ipc->rings.rings[i], on_record, &r);
	}
	ipc->lost = ipc->lost_before + rings_lost(&ipc->rings);
}

void ipc_release(struct ipc *ipc)
{
	for (uint32_t i = 0; ipc->cpus && i < ipc->rings.n; i++)
		for (uint32_t member = 0; member <= ipc->n_events; member++)
			if (ipc->cpus[i].fds[member] >= 0)
				close(ipc->cpus[i].fds[member]);
	ipc->lost_before = ipc->lost;
	rings_release(&ipc->rings);
	free(ipc->cpus);
	ipc->cpus = NULL;
}
