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

#define RING_BYTES (1u << 18) /* 4,000 samples */

struct sample_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, res;
	uint64_t n,
		values[4]; /* instructions, cycles; each with what was lost, if that is counted */
};

/* Both user's and kernel's: what an application makes the kernel do is its as well. */
static int parse(const char *name, struct pmu_event *e, struct err *err)
{
	int rc = pmu_event_parse(e, name, err);

	e->user = e->kernel = true;
	return rc;
}

int ipc_try(struct err *err)
{
	struct pmu_event events[2];
	char why[256];
	int rc = parse("instructions", &events[0], err);

	rc = rc ? rc : parse("cycles", &events[1], err);
	for (int i = 0; !rc && i < 2; i++) {
		rc = perf_event_try(&events[i]);
		if (rc)
			return err_set(err, rc,
				       "IPC cannot be measured: %s; take the duration of a "
				       "function or marker as the indicator: -F marker:request",
				       perf_event_why(&events[i], rc, why, sizeof(why)));
	}
	return rc;
}

static int open_cycles(struct ipc *ipc, uint32_t i, const struct pmu_event *e, struct err *err)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
		.config = e->config,
		.read_format = PERF_FORMAT_GROUP,
		.use_clockid = 1, /* as its leader: a group has one clock */
		.clockid = CLOCK_MONOTONIC,
	};
	const struct ring *ring = &ipc->rings.rings[i];
	int fd;

	if (ring->fd < 0)
		return 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)ring->cpu, ring->fd,
			  PERF_FLAG_FD_CLOEXEC);
	ipc->cpus[i].cycles_fd = fd;
	if (fd < 0 && errno != ENODEV)
		return err_set(err, -errno,
			       "cycles cannot be counted on CPU %u: %s; does another profiler run?",
			       ring->cpu, strerror(errno));
	return 0;
}

/* Pinned events that find no counter are never told, but read as a file that is at its end. */
static int find_taken(const struct ipc *ipc, struct err *err)
{
	uint64_t values[8];

	for (uint32_t i = 0; i < ipc->rings.n; i++)
		if (ipc->cpus[i].cycles_fd >= 0 &&
		    !read(ipc->rings.rings[i].fd, values, sizeof(values)))
			return err_set(err, -EBUSY,
				       "the counters of CPU %u are taken; end the other profiler, "
				       "or give -F",
				       ipc->rings.rings[i].cpu);
	return 0;
}

int ipc_open(struct ipc *ipc, const struct cpus *cpus, uint64_t period, struct err *err)
{
	struct pmu_event instructions, cycles;
	struct perf_event_attr attr = {
		.sample_period = period,
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP,
		.pinned = 1,
		.disabled = 1,
	};
	int rc = parse("instructions", &instructions, err);

	rc = rc ? rc : parse("cycles", &cycles, err);
	if (rc)
		return rc;
	attr.type = instructions.type;
	attr.config = instructions.config;
	ipc->cpus = xcalloc(cpus->n, sizeof(*ipc->cpus));
	for (uint32_t i = 0; i < cpus->n; i++)
		ipc->cpus[i].cycles_fd = -1;
	rc = rings_open(&ipc->rings, cpus, RING_BYTES, &attr, err);
	for (uint32_t i = 0; !rc && i < cpus->n; i++)
		rc = open_cycles(ipc, i, &cycles, err);
	for (uint32_t i = 0; !rc && i < cpus->n; i++)
		if (ipc->cpus[i].cycles_fd >= 0 &&
		    ioctl(ipc->rings.rings[i].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
			rc = err_set(err, -errno,
				     "instructions cannot be counted on CPU %u: %s; "
				     "does another profiler run?",
				     ipc->rings.rings[i].cpu, strerror(errno));
	return rc ? rc : find_taken(ipc, err);
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
	uint64_t instructions = s->values[0], cycles = s->values[ring->lost_at ? 2 : 1];

	if (s->n != 2) /* the group was not whole yet */
		return;
	r->ipc->samples++;
	r->cpu->since_ns = s->time_ns;
	r->cpu->instructions = instructions;
	r->cpu->cycles = cycles;
	if (!before.since_ns || s->time_ns <= before.since_ns || cycles <= before.cycles)
		return;
	r->visit(r->self, &(struct ipc_sample){
				  .cpu = ring->cpu,
				  .pid = (pid_t)s->pid,
				  .start_ns = before.since_ns,
				  .end_ns = s->time_ns,
				  .instructions = instructions - before.instructions,
				  .cycles = cycles - before.cycles,
			  });
}

static void on_record(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	struct reading *r = ctx;

	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(r, ring, (const void *)h);
	} else if (h->type == PERF_RECORD_THROTTLE) {
		r->ipc->throttled++;
	} else if (h->type == PERF_RECORD_LOST) {
		r->cpu->since_ns = 0; /* the next one is longer than a sample */
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
		if (ipc->cpus[i].cycles_fd >= 0)
			close(ipc->cpus[i].cycles_fd);
	ipc->lost_before = ipc->lost;
	rings_release(&ipc->rings);
	free(ipc->cpus);
	ipc->cpus = NULL;
}
