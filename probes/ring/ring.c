/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/ring/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"

#define READ_VALUES_MAX 32 /* enough for a group of up to 15 */

static int map(struct ring *r, size_t data_bytes, struct err *err)
{
	size_t page = sysconf(_SC_PAGESIZE);

	r->map = mmap(NULL, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return err_set(err, -errno,
			       "cannot map a ring of %zu KiB on CPU %u: %s; raise "
			       "kernel.perf_event_mlock_kb or ulimit -l",
			       data_bytes >> 10, r->cpu, strerror(errno));
	}
	r->data_bytes = data_bytes;
	r->bounce = xmalloc(RING_RECORD_MAX);
	return 0;
}

static int try_open(const struct ring *r, const struct perf_event_attr *event, pid_t pid)
{
	return (int)syscall(SYS_perf_event_open, event, pid, (int)r->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_ring(struct ring *r, size_t bytes, const struct perf_event_attr *event, pid_t pid,
		     struct err *err)
{
	struct perf_event_attr attr = *event;

	attr.read_format |= RING_READ_LOST;
	r->fd = try_open(r, &attr, pid);
	if (r->fd >= 0)
		r->lost_at = event->read_format == PERF_FORMAT_GROUP ? 2 : 1;
	else
		r->fd = try_open(r, event, pid);
	if (r->fd < 0 && errno == ENODEV && cpus_has_gone(r->cpu))
		return 0;
	if (r->fd < 0)
		return err_set(err, -errno, "cannot open a perf event on CPU %u: %s%s", r->cpu,
			       strerror(errno),
			       errno == EMFILE ? "; raise the limit with ulimit -n" : "");
	return map(r, bytes, err);
}

int rings_open(struct rings *rings, const struct cpus *cpus, size_t bytes,
	       const struct perf_event_attr *event, struct err *err)
{
	return rings_open_on(rings, cpus, bytes, event, -1, err);
}

int rings_open_on(struct rings *rings, const struct cpus *cpus, size_t bytes,
		  const struct perf_event_attr *event, pid_t pid, struct err *err)
{
	struct perf_event_attr attr = *event;
	int ret = 0;

	attr.size = sizeof(attr);
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	rings->rings = xcalloc(cpus->n, sizeof(*rings->rings));
	rings->n = cpus->n;
	for (uint32_t i = 0; i < cpus->n; i++)
		rings->rings[i] = (struct ring){ .cpu = cpus->online[i], .fd = -1 };
	for (uint32_t i = 0; i < cpus->n && !ret; i++)
		ret = open_ring(&rings->rings[i], bytes, &attr, pid, err);
	return ret;
}

void rings_release(struct rings *rings)
{
	for (uint32_t i = 0; i < rings->n; i++) {
		struct ring *r = &rings->rings[i];

		if (r->map)
			munmap(r->map, sysconf(_SC_PAGESIZE) + r->data_bytes);
		if (r->fd >= 0)
			close(r->fd);
		free(r->bounce);
	}
	free(rings->rings);
	memset(rings, 0, sizeof(*rings));
}

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* Returns the record at tail. A record that wraps around the end is copied to bounce. */
static const struct perf_event_header *record_at(struct ring *r, const char *data, uint64_t tail)
{
	size_t at = tail & (r->data_bytes - 1);
	const struct perf_event_header *h = (const void *)(data + at);

	if (at + h->size > r->data_bytes) {
		size_t first = r->data_bytes - at;

		memcpy(r->bounce, data + at, first);
		memcpy((char *)r->bounce + first, data, h->size - first);
		h = r->bounce;
	}
	return h;
}

size_t ring_drain(struct ring *r, ring_visit visit, void *ctx)
{
	struct perf_event_mmap_page *control = r->map;
	const char *data = (const char *)r->map + sysconf(_SC_PAGESIZE);
	uint64_t tail, start, given_back, head;

	if (!control)
		return 0;
	tail = start = given_back = control->data_tail;
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		const struct perf_event_header *h = record_at(r, data, tail);

		tail += h->size;
		if (h->type == PERF_RECORD_LOST)
			r->told_lost += ((const struct lost_record *)(const void *)h)->lost;
		visit(ctx, r, h);
		/* Returns room to the writers during a long drain, not only at its end. */
		if (tail - given_back >= r->data_bytes / 16) {
			__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
			given_back = tail;
		}
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	r->filled |= tail - start > r->data_bytes / 2;
	return tail - start;
}

/*
 * Asking the kernel interrupts the CPU, so it is done only if more may be lost than was reported.
 */
uint64_t ring_lost(struct ring *r)
{
	uint64_t values[READ_VALUES_MAX] = { 0 };

	if (r->filled && r->lost_at && read(r->fd, values, sizeof(values)) > 0)
		r->known_lost = values[r->lost_at];
	r->filled = false;
	return r->known_lost > r->told_lost ? r->known_lost : r->told_lost;
}

uint64_t rings_lost(struct rings *rings)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < rings->n; i++)
		lost += ring_lost(&rings->rings[i]);
	return lost;
}
