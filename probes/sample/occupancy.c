/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample/occupancy.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"

#define RING_BYTES (1u << 20) /* about 20,000 switches */

struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, res;
};

struct switch_record {
	struct perf_event_header header;
	uint32_t next_pid, next_tid;
	struct sample_id id;
};

int occupancy_open(struct occupancy *o, const struct cpus *cpus, struct err *err)
{
	const struct perf_event_attr switches = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.context_switch = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};
	int rc = rings_open(&o->rings, cpus, RING_BYTES, &switches, err);

	if (rc == -EACCES || rc == -EPERM)
		return err_set(err, rc, "who runs on the CPUs is told to root only; run with sudo");
	o->cpus = xcalloc(cpus->n, sizeof(*o->cpus));
	for (uint32_t i = 0; i < cpus->n; i++)
		o->cpus[i] = (struct occupancy_cpu){ -1, clock_now_ns() };
	return rc;
}

struct reading {
	struct occupancy *occupancy;
	const struct occupancy_visitor *visitor;
	struct occupancy_cpu *cpu;
};

static void on_switch(struct reading *r, const struct ring *ring, const struct switch_record *s)
{
	struct occupancy_cpu *cpu = r->cpu;
	pid_t pid = cpu->pid < 0 ? (pid_t)s->id.pid : cpu->pid;

	if (pid > 0 && s->id.time_ns > cpu->since_ns)
		r->visitor->ran(r->visitor->self, ring->cpu, pid, cpu->since_ns, s->id.time_ns);
	*cpu = (struct occupancy_cpu){ (pid_t)s->next_pid, s->id.time_ns };
}

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
};

static void on_fork(const struct reading *r, const struct fork_record *f)
{
	if (f->pid != f->parent_pid) /* else the new task is a thread */
		r->visitor->begins(r->visitor->self, (pid_t)f->pid);
}

/* The state of a CPU whose current thread started at an unknown time. */
static const struct occupancy_cpu nobody_known = { 0, 0 };

static void on_record(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	struct reading *r = ctx;

	r->occupancy->records++;
	if (h->type == PERF_RECORD_SWITCH_CPU_WIDE && h->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		on_switch(r, ring, (const void *)h);
	} else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC) {
		r->visitor->begins(r->visitor->self, (pid_t) * (const uint32_t *)(h + 1));
	} else if (h->type == PERF_RECORD_FORK) {
		on_fork(r, (const void *)h);
	} else if (h->type == PERF_RECORD_LOST) {
		*r->cpu = nobody_known;
	}
}

void occupancy_read(struct occupancy *o, const struct occupancy_visitor *v)
{
	for (uint32_t i = 0; i < o->rings.n; i++) {
		struct reading r = { o, v, &o->cpus[i] };
		struct ring *ring = &o->rings.rings[i];

		ring_drain(ring, on_record, &r);
		if (ring_lost(ring) > ring->told_lost)
			o->cpus[i] = nobody_known;
	}
	o->lost = o->lost_before + rings_lost(&o->rings);
}

void occupancy_end(struct occupancy *o, uint64_t now_ns, const struct occupancy_visitor *v)
{
	for (uint32_t i = 0; i < o->rings.n; i++) {
		struct occupancy_cpu *cpu = &o->cpus[i];

		if (cpu->pid > 0 && now_ns > cpu->since_ns) {
			v->ran(v->self, o->rings.rings[i].cpu, cpu->pid, cpu->since_ns, now_ns);
			cpu->since_ns = now_ns;
		}
	}
}

void occupancy_release(struct occupancy *o)
{
	o->lost_before = o->lost;
	rings_release(&o->rings);
	free(o->cpus);
	o->cpus = NULL;
}
