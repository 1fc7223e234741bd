/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inject/ownswitches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/process/named.h"
#include "probes/process/target.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define RING_BYTES_MOST	 (512u << 10) /* what every user may lock, including its control page */
#define RING_BYTES_LEAST (16u << 10)

static const struct perf_event_attr switches = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(switches),
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
	.inherit = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
	.context_switch = 1,
	.comm = 1,
	.task = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
};

static int open_one(pid_t tid, uint32_t cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, &switches, tid, (int)cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int ownswitches_open(struct ownswitches *k, struct err *err)
{
	int fd;

	*k = (struct ownswitches){ 0 };
	if (cpus_read(&k->cpus) || !k->cpus.n)
		return err_set(err, -EIO, "the list of CPUs cannot be read; mount /sys");
	fd = open_one(0, k->cpus.online[0]);
	if (fd == -EACCES || fd == -EPERM)
		return err_set(err, fd,
			       "the kernel forbids users perf events; have "
			       "kernel.perf_event_paranoid set to 2 or less");
	if (fd < 0)
		return err_set(err, fd, "perf events cannot be opened: %s; run with sudo",
			       strerror(-fd));
	close(fd);
	k->is_possible = true;
	return 0;
}

uint32_t ownswitches_cpus(const struct ownswitches *k)
{
	return k->is_possible ? k->cpus.n_possible : 0;
}

/* ---- the events ---- */

/* A user may lock less memory if other recordings of the same user run. */
static int open_rings(struct ownswitches *k, pid_t tid, struct err *err)
{
	int ret = -EPERM;

	for (size_t bytes = RING_BYTES_MOST; ret && bytes >= RING_BYTES_LEAST; bytes /= 2) {
		ret = rings_open_on(&k->rings, &k->cpus, bytes, &switches, tid, err);
		if (ret)
			rings_release(&k->rings);
	}
	if (!ret)
		k->of_ring = xcalloc(k->rings.n, sizeof(*k->of_ring));
	for (uint32_t i = 0; !ret && i < k->rings.n; i++)
		k->of_ring[i].last_ns = clock_now_ns();
	return ret;
}

static int join_ring(struct ownswitches *k, const struct ring *ring, pid_t tid)
{
	int fd = ring->fd < 0 ? -ESRCH : open_one(tid, ring->cpu);

	if (fd < 0)
		return fd == -ESRCH || fd == -ENODEV ? 0 : fd; /* the thread has ended */
	*vec_add(&k->others) = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
}

static int watch_thread(struct ownswitches *k, pid_t tid, struct err *err)
{
	int ret = 0;

	if (!k->rings.n)
		return open_rings(k, tid, err);
	for (uint32_t i = 0; !ret && i < k->rings.n; i++)
		ret = join_ring(k, &k->rings.rings[i], tid);
	return ret ? err_set(err, ret,
			     "perf events of all threads cannot be opened: %s; raise "
			     "ulimit -n",
			     strerror(-ret))
		   : 0;
}

static void write_line(void *ctx, struct text *line)
{
	struct ownswitches *k = ctx;

	trace_writer_meta(k->writer, line->s);
	text_release(line);
}

int ownswitches_watch(struct ownswitches *k, pid_t pid, struct trace_writer *w, struct err *err)
{
	struct pids tids = { 0 };
	int ret = k->is_possible ? target_threads(pid, &tids) : 0;

	k->writer = w;
	vec_for_each (&tids, pid_t, tid)
		ret = ret ? ret : watch_thread(k, *tid, err);
	vec_release(&tids);
	if (ret)
		ownswitches_release(k);
	else if (k->is_possible)
		named_threads(pid, write_line, k);
	return ret;
}

/* ---- the records ---- */

struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct task_record { /* a birth or an end */
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
};

struct reading {
	struct ownswitches *switches;
	struct ownswitches_ring *of;
	int error;
};

static bool is_thread(uint32_t tid)
{
	return tid && tid != UINT32_MAX; /* a thread that has ended has no number any more */
}

static void write_record(struct reading *r, const struct ring *ring, const struct sample_id *id,
			 uint32_t kind, uint32_t n, const uint64_t *values)
{
	const struct record record = { .kind = kind,
				       .cpu = ring->cpu,
				       .time_ns = id->time_ns,
				       .tid = id->tid,
				       .tgid = id->pid,
				       .n_values = n,
				       .values = values };
	int ret;

	if (kind != REC_LOST && !is_thread(id->tid))
		return;
	ret = trace_writer_record(r->switches->writer, &record);
	r->error = r->error ? r->error : ret;
	if (id->time_ns > r->of->last_ns)
		r->of->last_ns = id->time_ns;
}

static void on_switch(struct reading *r, const struct ring *ring, const struct perf_event_header *h)
{
	const struct sample_id *id = (const void *)(h + 1);
	const uint64_t out[RECORD_VALUES_MIN] = { h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
							  ? SWITCH_PREEMPTED
							  : SWITCH_SLEEPING };

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		write_record(r, ring, id, REC_SWITCH_OUT, 3, out);
	else
		write_record(r, ring, id, REC_SWITCH_IN, 0, NULL);
}

static void on_fork(struct reading *r, const struct ring *ring, const struct task_record *t)
{
	const uint64_t values[RECORD_VALUES_MIN] = { t->tid, t->pid };
	const struct sample_id parent = { t->parent_pid, t->parent_tid, t->time_ns };

	if (is_thread(t->tid))
		write_record(r, ring, &parent, REC_FORK, 2, values);
}

static void on_end(struct reading *r, const struct ring *ring, const struct task_record *t)
{
	const struct sample_id id = { t->pid, t->tid, t->time_ns };

	write_record(r, ring, &id, REC_TASK_EXIT, 0, NULL);
}

static void on_comm(struct reading *r, const struct ring *ring, const struct comm_record *c)
{
	const struct sample_id *id =
		(const void *)((const char *)c + c->header.size - sizeof(struct sample_id));
	const struct record record = { .kind = REC_COMM,
				       .cpu = ring->cpu,
				       .time_ns = id->time_ns,
				       .tid = c->tid,
				       .tgid = c->pid,
				       .bytes = c->comm,
				       .n_bytes = (uint32_t)strnlen(c->comm, sizeof(c->comm)) };

	if (c->header.size >= sizeof(c->header) + 8 + sizeof(*id) && is_thread(c->tid))
		trace_writer_record(r->switches->writer, &record);
}

static void on_record(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	struct reading *r = ctx;

	switch (h->type) {
	case PERF_RECORD_SWITCH:
		on_switch(r, ring, h);
		break;
	case PERF_RECORD_FORK:
		on_fork(r, ring, (const void *)h);
		break;
	case PERF_RECORD_EXIT:
		on_end(r, ring, (const void *)h);
		break;
	case PERF_RECORD_COMM:
		on_comm(r, ring, (const void *)h);
		break;
	default: /* the ring counts losses */
		break;
	}
}

/* The lost records lie between the newest record that was read and the next one. */
static void write_lost(struct reading *r, struct ring *ring)
{
	const uint64_t lost = ring_lost(ring) - r->of->lost;
	const struct sample_id now = { .time_ns = clock_now_ns() };
	const uint64_t values[RECORD_VALUES_MIN] = { lost, r->of->last_ns };

	if (!lost)
		return;
	r->of->lost += lost;
	r->switches->lost += lost;
	write_record(r, ring, &now, REC_LOST, 3, values);
}

int ownswitches_drain(struct ownswitches *k)
{
	struct reading r = { .switches = k };

	for (uint32_t i = 0; i < k->rings.n; i++) {
		struct ring *ring = &k->rings.rings[i];

		r.of = &k->of_ring[i];
		ring_drain(ring, on_record, &r);
		write_lost(&r, ring);
	}
	return r.error;
}

void ownswitches_release(struct ownswitches *k)
{
	vec_for_each (&k->others, int, fd)
		close(*fd);
	vec_release(&k->others);
	rings_release(&k->rings);
	free(k->of_ring);
	k->of_ring = NULL;
	k->is_possible = false;
}
