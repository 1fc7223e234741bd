/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/drain/internal.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "probes/bpf/wire.h"
#include "probes/drain/keep.h"
#include "probes/kernel/bpfprog.h"
#include "probes/ring/ring.h"
#include "probes/ring/ringbuf.h"
#include "trace/record.h"
#include "trace/write/writer.h"

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, page_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

#define PIDS_MAX (4 << 20) /* limit of the kernel */
/* longest time from a record's time stamp until the record is in its ring */
#define ON_THE_WAY_NS 1000000

void drain_init(struct drain *d, struct trace_writer *w, const struct bpfprog *programs,
		uint32_t n_cpus)
{
	memset(d, 0, sizeof(*d));
	d->writer = w;
	d->programs = programs;
	d->n_cpus = n_cpus;
	d->cpus = xcalloc(n_cpus, sizeof(*d->cpus));
	d->aheads = xcalloc((size_t)n_cpus * DRAIN_AHEAD_MAX, sizeof(*d->aheads));
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		d->cpus[cpu].ahead = &d->aheads[(size_t)cpu * DRAIN_AHEAD_MAX];
	d->targets = xcalloc(PIDS_MAX / 8, 1);
	d->mappings = xcalloc(DRAIN_MAPPINGS_MAX, sizeof(*d->mappings));
	drain_stacks_init(&d->stacks, w);
	drain_addresses_init(&d->addresses);
}

void drain_add_target(struct drain *d, pid_t pid)
{
	if (pid > 0 && pid < PIDS_MAX)
		d->targets[pid / 8] |= 1 << pid % 8;
}

void drain_forget_target(struct drain *d, pid_t pid)
{
	if (pid > 0 && pid < PIDS_MAX && !bpfprog_is_target(d->programs, pid))
		d->targets[pid / 8] &= ~(1 << pid % 8);
}

static bool was_target(const struct drain *d, pid_t pid)
{
	return pid > 0 && pid < PIDS_MAX && d->targets[pid / 8] & 1 << pid % 8;
}

void drain_write(struct drain *d, const struct record *r)
{
	int ret = trace_writer_record(d->writer, r);

	if (ret)
		d->error = ret;
}

struct record drain_record(const struct wire_head *h, uint32_t cpu, uint32_t kind)
{
	struct record r = { 0 };

	r.time_ns = h->time_ns;
	r.kind = kind;
	r.cpu = cpu;
	r.tid = h->tid;
	r.tgid = h->tgid;
	return r;
}

void drain_write_values(struct drain *d, struct record *r, uint32_t n, uint64_t a, uint64_t b,
			uint64_t c)
{
	const uint64_t values[RECORD_VALUES_MIN] = { a, b, c };

	r->n_values = n;
	r->values = values;
	drain_write(d, r);
}

/*
 * Writes a loss. lost is the total so far, and the last event was dropped before until_ns; the
 * events that no earlier loss reported are new.
 */
static void write_lost(struct drain *d, uint32_t cpu, uint64_t until_ns, uint64_t lost)
{
	struct drain_cpu *c = &d->cpus[cpu];
	struct record r = { .time_ns = until_ns, .kind = REC_LOST, .cpu = cpu };

	if (r.time_ns < c->last_ns)
		r.time_ns = c->last_ns;
	if (lost > c->told_lost) {
		drain_write_values(d, &r, 2, lost - c->told_lost, c->last_ns, 0);
		d->lost += lost - c->told_lost;
		c->last_ns = r.time_ns;
	}
	c->told_lost = lost;
}

static uint64_t lost_of(const struct wire_totals *t)
{
	return t->calls_lost + t->others_lost;
}

static void write_block_stack(struct drain *d, const struct wire_switch *w, uint32_t cpu)
{
	struct record r = drain_record(&w->h, cpu, REC_BLOCK_STACK);
	struct drain_cpu *c = &d->cpus[cpu];
	bool copied = c->wait_stack && c->wait_stack_tid == w->h.tid;
	uint32_t stack =
		copied ? c->wait_stack : drain_block_stack(&d->stacks, w->stack, w->h.tgid);

	if (stack)
		drain_write_values(d, &r, 1, stack, 0, 0);
	c->wait_stack = 0;
}

static void on_sample(struct drain *d, const struct wire_sample *w, uint32_t cpu)
{
	struct record r = drain_record(&w->h, cpu, REC_SAMPLE);

	drain_write_values(d, &r, 3, d->sample_ns, w->ip,
			   drain_block_stack(&d->stacks, w->stack, w->h.tgid));
}

static void write_wait(struct drain *d, const struct wire_sleep *w, uint32_t cpu)
{
	struct record r = drain_record(&w->s.h, cpu, REC_WAIT);
	const uint64_t values[] = { w->kind, w->syscall, w->what, w->how, w->value };

	r.values = values;
	r.n_values = w->value ? 5 : w->how ? 4 : 3;
	if (w->kind < WAIT_KINDS)
		d->waits[w->kind]++;
	drain_write(d, &r);
}

static void on_switch(struct drain *d, const struct wire_switch *w, uint32_t cpu)
{
	if (w->flags & WIRE_PREV) {
		struct record r = drain_record(&w->h, cpu, REC_SWITCH_OUT);
		const uint64_t values[] = { w->state, w->next_tid, w->next_tgid, w->prev_count };

		r.values = values;
		r.n_values = w->prev_count ? 4 : 3;
		drain_write(d, &r);
		if ((w->state == SWITCH_PREEMPTED || w->state == SWITCH_YIELDED) && w->next_tid &&
		    !(w->flags & WIRE_NEXT))
			drain_taker(&d->takers, (pid_t)w->next_tgid);
		if (w->flags & WIRE_WAIT)
			write_wait(d, (const struct wire_sleep *)w, cpu);
		write_block_stack(d, w, cpu);
	}
	if (w->flags & WIRE_NEXT) {
		struct record r = drain_record(&w->h, cpu, REC_SWITCH_IN);
		r.tid = w->next_tid;
		r.tgid = w->next_tgid;
		drain_write_values(d, &r, w->next_count ? 2 : 1, SWITCH_AFTER_IDLE + w->h.tgid,
				   w->next_count, 0);
	}
}

/*
 * Writes a switch that is reported late: the thread has run meanwhile, and the records of that time
 * have been read.
 */
static void on_untold_in(struct drain *d, const struct wire_task *w, uint32_t cpu)
{
	struct record r = drain_record(&w->h, cpu, REC_SWITCH_IN);

	drain_write_values(d, &r, 1, SWITCH_AFTER_UNKNOWN, 0, 0);
}

static void on_fork(struct drain *d, const struct wire_fork *f, uint32_t cpu)
{
	const struct wire_task *w = &f->task;
	struct record r = drain_record(&w->h, cpu, REC_FORK);

	drain_write_values(d, &r, f->word ? 3 : 2, w->other_tid, w->other_tgid, f->word);
	if (w->other_tgid == w->h.tgid)
		return;
	drain_add_target(d, w->other_tgid);
	if (d->n_forks < DRAIN_FORKS_MAX)
		d->forks[d->n_forks++] =
			(struct drain_fork){ w->h.time_ns, (pid_t)w->h.tgid, (pid_t)w->other_tgid };
}

static void on_waking(struct drain *d, const struct wire_waking *w, uint32_t cpu)
{
	const struct wire_head *h = &w->task.h;
	struct record r = drain_record(h, cpu, REC_WAKING);
	uint32_t how = h->tid ? WAKING_BY_THREAD : h->tgid;

	r.tgid = h->tid ? h->tgid : 0;
	drain_write_values(d, &r, w->count ? 3 : how ? 2 : 1, w->task.other_tid, how, w->count);
}

static void on_task_exit(struct drain *d, const struct wire_task *w, uint32_t cpu)
{
	struct record r = drain_record(&w->h, cpu, REC_TASK_EXIT);

	/* the BPF programs remove a process from the targets when its last thread ends */
	if (!bpfprog_is_target(d->programs, w->h.tgid)) {
		if (d->n_ended < DRAIN_ENDED_MAX)
			d->ended[d->n_ended++] = (pid_t)w->h.tgid;
	} else if (d->watched && map_get(d->watched, w->h.tid) != MAP_NONE &&
		   d->n_bereft < DRAIN_EXECS_MAX) {
		d->bereft[d->n_bereft++] =
			(struct drain_bereft){ (pid_t)w->h.tgid, (pid_t)w->h.tid };
	}
	drain_write_values(d, &r, 0, 0, 0, 0);
}

static void write_name(struct drain *d, const struct wire_head *h, uint32_t cpu, uint32_t kind,
		       const char *name, size_t room)
{
	struct record r = drain_record(h, cpu, kind);

	r.bytes = name;
	r.n_bytes = strnlen(name, room);
	drain_write(d, &r);
}

/*
 * Writes an exec and the new thread name. The kernel renames the thread just before it reports that
 * the exec succeeded, so both are written here.
 */
static void on_exec(struct drain *d, const struct wire_name *w, uint32_t cpu)
{
	const char *path = w->name, *end = memchr(path, '\0', sizeof(w->name));
	const char *slash = end ? memrchr(path, '/', end - path) : NULL;
	const char *base = slash ? slash + 1 : path;
	size_t room = w->name + sizeof(w->name) - base;

	if (d->n_execs < DRAIN_EXECS_MAX)
		d->execs[d->n_execs++] = (pid_t)w->h.tgid;
	write_name(d, &w->h, cpu, REC_EXEC, path, sizeof(w->name));
	write_name(d, &w->h, cpu, REC_COMM, base,
		   room < WIRE_COMM_MAX - 1 ? room : WIRE_COMM_MAX - 1);
}

static void write_counters(struct drain *d, const struct wire_counted *w, uint32_t cpu)
{
	uint32_t kind = w->call.h.head >> WIRE_ID_BITS;
	uint32_t first = kind & WIRE_COUNTED ? 0 : d->n_perf_counters;
	uint32_t end = kind & WIRE_TASK_COUNTED ? d->n_counters : d->n_perf_counters;
	bool counted = kind & (WIRE_COUNTED | WIRE_TASK_COUNTED);
	uint64_t cycles = d->stamps ? w->values[counted ? d->n_counters : 0] : 0;
	struct record r = drain_record(&w->call.h, cpu, REC_COUNTERS);
	uint64_t values[WIRE_COUNTERS_MAX + 2] = { 0 };

	r.n_values = 1;
	if (counted) {
		values[0] = (1u << end) - (1u << first);
		memcpy(values + 1, w->values + first, (end - first) * sizeof(*values));
		r.n_values += end - first;
	}
	if (cycles) {
		values[0] |= 1u << d->n_counters;
		values[r.n_values++] = cycles;
	}
	r.values = values;
	if (values[0])
		drain_write(d, &r);
}

static void on_lost(struct drain *d, const struct wire_lost *w, uint32_t cpu)
{
	if (d->keep && w->lost > d->cpus[cpu].told_lost)
		keep_release_all(d->keep);
	d->cpus[cpu].n_ahead = 0; /* the record that it preceded may be among the lost */
	write_lost(d, cpu, w->h.time_ns, w->lost);
}

static void on_record(void *ctx, uint32_t cpu, const void *data)
{
	const struct wire_call *call = data;
	uint32_t kind = call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK;
	struct drain *d = ctx;

	if (kind == WIRE_LOST) {
		on_lost(d, data, cpu);
		return;
	}
	if (call->h.time_ns > d->cpus[cpu].last_ns)
		d->cpus[cpu].last_ns = call->h.time_ns;
	switch (kind) {
	case WIRE_ENTRY:
	case WIRE_EXIT:
		drain_on_call(d, call, cpu);
		if (d->stamps || call->h.head >> WIRE_ID_BITS & (WIRE_COUNTED | WIRE_TASK_COUNTED))
			write_counters(d, data, cpu);
		break;
	case WIRE_STACK:
		drain_on_stack(d, data, cpu);
		break;
	case WIRE_COPY:
		drain_on_copy(d, data, cpu);
		break;
	case WIRE_WAIT_COPY:
		drain_on_wait_copy(d, data, cpu);
		break;
	case WIRE_ARGS:
		drain_on_args(d, data, cpu);
		break;
	case WIRE_RETURN:
		drain_on_return(d, data, cpu);
		break;
	case WIRE_SWITCH:
		on_switch(d, data, cpu);
		break;
	case WIRE_UNTOLD_IN:
		on_untold_in(d, data, cpu);
		break;
	case WIRE_WAKING:
		on_waking(d, data, cpu);
		break;
	case WIRE_FORK:
		on_fork(d, data, cpu);
		break;
	case WIRE_TASK_EXIT:
		drain_on_thread_end(d, data, cpu);
		on_task_exit(d, data, cpu);
		break;
	case WIRE_COMM:
		write_name(d, data, cpu, REC_COMM, ((const struct wire_name *)data)->name,
			   WIRE_COMM_MAX);
		break;
	case WIRE_EXEC:
		on_exec(d, data, cpu);
		break;
	case WIRE_SAMPLE:
		on_sample(d, data, cpu);
		break;
	}
}

static void on_mapping(struct drain *d, const struct mmap2_record *m, uint64_t time_ns)
{
	if (!m->inode || (!was_target(d, m->pid) && !bpfprog_is_target(d->programs, m->pid)))
		return;
	for (size_t i = 0; i < d->n_mappings; i++)
		if (d->mappings[i].inode == m->inode && d->mappings[i].pid == (pid_t)m->pid &&
		    d->mappings[i].address == m->address)
			return;
	if (d->n_mappings == DRAIN_MAPPINGS_MAX) {
		d->mappings_overflowed = true;
		d->mappings_lost++;
		return;
	}
	d->mappings[d->n_mappings++] = (struct drain_mapping){
		.pid = m->pid,
		.time_ns = time_ns,
		.address = m->address,
		.length = m->length,
		.file_offset = m->page_offset,
		.device_major = m->major,
		.device_minor = m->minor,
		.inode = m->inode,
	};
	snprintf(d->mappings[d->n_mappings - 1].path, DRAIN_PATH_MAX, "%s", m->path);
}

static void visit_mapping(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	struct drain *d = ctx;
	uint64_t time_ns;

	(void)ring;
	if (h->type != PERF_RECORD_MMAP2)
		return;
	memcpy(&time_ns, (const char *)h + h->size - sizeof(time_ns), sizeof(time_ns));
	on_mapping(d, (const struct mmap2_record *)h, time_ns);
}

void drain_mappings(struct drain *d, struct rings *mappings)
{
	uint64_t lost;

	for (uint32_t i = 0; i < mappings->n; i++)
		ring_drain(&mappings->rings[i], visit_mapping, d);
	lost = rings_lost(mappings);
	if (lost <= d->mappings_told)
		return;
	d->mappings_lost += lost - d->mappings_told;
	d->mappings_told = lost;
	d->mappings_overflowed = true;
}

void drain_count_functions(struct drain *d, uint32_t n)
{
	d->calls_of = xrealloc(d->calls_of, n * sizeof(*d->calls_of));
	d->arguments = xrealloc(d->arguments, n * sizeof(*d->arguments));
	d->costs = xrealloc(d->costs, n * sizeof(*d->costs));
	for (; d->n_functions < n; d->n_functions++) {
		d->calls_of[d->n_functions] = 0;
		d->arguments[d->n_functions] = NULL;
		d->costs[d->n_functions] = (struct keep_cost){ 0 };
	}
}

/*
 * Drains the rings of all CPUs in order of time, up to a time before which no record can still be
 * on its way. Calls that are followed from entry to exit need this order, because a thread's
 * records on one CPU must not be read before earlier ones on another.
 */
static void drain_in_order(struct drain *d, struct ringbufs *rings, uint64_t until_ns)
{
	for (;;) {
		uint64_t first_ns = UINT64_MAX, limit_ns = until_ns;
		struct ringbuf *first = NULL;

		for (uint32_t i = 0; i < rings->n; i++) {
			uint64_t next_ns = ringbuf_next_ns(&rings->rings[i]);

			if (next_ns < first_ns) {
				limit_ns = first_ns < limit_ns ? first_ns : limit_ns;
				first_ns = next_ns;
				first = &rings->rings[i];
			} else if (next_ns < limit_ns) {
				limit_ns = next_ns;
			}
		}
		if (!first || first_ns > until_ns)
			return;
		ringbuf_drain_until(first, limit_ns, on_record, d);
		keep_pass(d->keep, first->cpu, d->cpus[first->cpu].last_ns);
	}
}

int drain_run(struct drain *d, struct ringbufs *rings, struct rings *mappings)
{
	if (d->keep)
		drain_in_order(d, rings, clock_now_ns() - ON_THE_WAY_NS);
	for (uint32_t i = 0; i < rings->n && !d->keep; i++)
		ringbuf_drain(&rings->rings[i], on_record, d);
	drain_mappings(d, mappings);
	return d->error;
}

void drain_start(struct drain *d, uint64_t now_ns)
{
	uint32_t n;
	struct wire_totals *made = bpfprog_totals_each(d->programs, &n);

	for (uint32_t cpu = 0; cpu < d->n_cpus; cpu++) {
		d->cpus[cpu].told_lost = cpu < n ? lost_of(&made[cpu]) : 0;
		if (d->cpus[cpu].last_ns < now_ns)
			d->cpus[cpu].last_ns = now_ns;
	}
	free(made);
}

void drain_add_cpu(struct drain *d, uint32_t cpu, uint64_t since_ns)
{
	d->cpus[cpu].last_ns = since_ns;
}

void drain_finish(struct drain *d, struct ringbufs *rings, uint64_t now_ns)
{
	struct wire_totals *made;
	uint32_t n;

	if (d->keep)
		drain_in_order(d, rings, UINT64_MAX - 1);
	made = bpfprog_totals_each(d->programs, &n);
	for (uint32_t cpu = 0; cpu < d->n_cpus && cpu < n; cpu++)
		write_lost(d, cpu, made[cpu].refused_ns, lost_of(&made[cpu]));
	free(made);
	drain_write_rest_of_calls(d, rings, now_ns);
}

void drain_keep_slower(struct drain *d, uint64_t slower_ns)
{
	d->keep = keep_new(slower_ns, d->n_cpus, drain_write_held, d);
}

void drain_release(struct drain *d)
{
	free(d->cpus);
	free(d->aheads);
	free(d->targets);
	d->targets = NULL;
	free(d->mappings);
	d->mappings = NULL;
	keep_free(d->keep);
	d->keep = NULL;
	drain_stacks_release(&d->stacks);
	drain_addresses_release(&d->addresses);
	free(d->calls_of);
	free(d->arguments);
	free(d->costs);
	d->costs = NULL;
	d->arguments = NULL;
	d->calls_of = NULL;
	d->cpus = NULL;
	d->aheads = NULL;
}
