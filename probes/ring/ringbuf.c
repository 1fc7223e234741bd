/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/ring/ringbuf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "probes/bpf/wire.h"
#include "probes/kernel/bpfprog.h"

static size_t page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

size_t ringbuf_bytes(size_t bytes)
{
	size_t size = page_bytes();

	while (size < bytes)
		size *= 2;
	return size;
}

static int ringbuf_map(struct ringbuf *r)
{
	size_t page = page_bytes();

	r->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->consumer == MAP_FAILED)
		r->consumer = NULL;
	if (!r->consumer)
		return -errno;
	r->producer = mmap(NULL, page + 2 * r->bytes, PROT_READ, MAP_SHARED, r->fd, page);
	if (r->producer == MAP_FAILED)
		r->producer = NULL;
	return r->producer ? 0 : -errno;
}

static void ringbuf_close(struct ringbuf *r)
{
	if (r->producer)
		munmap((void *)r->producer, page_bytes() + 2 * r->bytes);
	if (r->consumer)
		munmap(r->consumer, page_bytes());
	if (r->fd >= 0)
		close(r->fd);
}

/*
 * Edge-triggered: a ring becomes readable by a wakeup, and not because it holds records. The
 * programs get the ring last: from then on they write into it.
 */
static int ringbuf_open(struct ringbuf *r, const struct ringbufs *rings)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ret;

	r->fd = bpfprog_new_ring(r->bytes);
	if (r->fd < 0)
		return r->fd;
	ret = ringbuf_map(r);
	if (!ret && epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, r->fd, &event))
		ret = -errno;
	return ret ? ret : bpfprog_set_ring(rings->programs, r->cpu, r->fd);
}

int ringbufs_add(struct ringbufs *rings, uint32_t cpu)
{
	struct ringbuf r = { .cpu = cpu, .fd = -1, .bytes = rings->bytes };
	int ret = ringbuf_open(&r, rings);

	if (ret) {
		ringbuf_close(&r);
		return ret;
	}
	rings->rings = xrealloc(rings->rings, (rings->n + 1) * sizeof(*rings->rings));
	rings->rings[rings->n++] = r;
	return 0;
}

int ringbufs_open(struct ringbufs *r, struct bpfprog *b, const struct cpus *cpus, size_t bytes,
		  struct err *err)
{
	int ret = 0;

	*r = (struct ringbufs){ .programs = b, .bytes = bytes };
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0)
		ret = -errno;
	for (uint32_t i = 0; i < cpus->n && !ret; i++)
		ret = ringbufs_add(r, cpus->online[i]);
	if (!ret)
		return 0;
	return err_set(err, ret, "cannot make a ring of %zu KiB for each of %u CPUs: %s; %s",
		       bytes >> 10, cpus->n, strerror(-ret),
		       ret == -EMFILE ? "raise the limit with ulimit -n"
				      : "ask for less with -m, or raise ulimit -l");
}

void ringbufs_release(struct ringbufs *r)
{
	if (!r->programs)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		ringbuf_close(&r->rings[i]);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r->rings);
	memset(r, 0, sizeof(*r));
}

/*
 * Each record has a header (include/uapi/linux/bpf.h), whose length word tells whether the writer
 * is done with the record.
 */
static uint64_t time_of(const void *record)
{
	return ((const struct wire_head *)record)->time_ns;
}

uint64_t ringbuf_next_ns(const struct ringbuf *r)
{
	const char *data = (const char *)r->producer + page_bytes(), *record;
	unsigned long tail = *(const unsigned long *)r->consumer;
	unsigned long head = __atomic_load_n((const unsigned long *)r->producer, __ATOMIC_ACQUIRE);

	record = data + (tail & (r->bytes - 1));
	if (tail >= head ||
	    __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE) & BPF_RINGBUF_BUSY_BIT)
		return UINT64_MAX;
	return time_of(record + BPF_RINGBUF_HDR_SZ);
}

size_t ringbuf_drain(struct ringbuf *r, ringbuf_visit visit, void *ctx)
{
	return ringbuf_drain_until(r, UINT64_MAX, visit, ctx);
}

size_t ringbuf_drain_until(struct ringbuf *r, uint64_t until_ns, ringbuf_visit visit, void *ctx)
{
	const char *data = (const char *)r->producer + page_bytes();
	unsigned long *consumer = r->consumer, tail = *consumer, start = tail, given_back = tail;
	unsigned long head = __atomic_load_n((const unsigned long *)r->producer, __ATOMIC_ACQUIRE);

	while (tail < head) {
		const char *record = data + (tail & (r->bytes - 1));
		uint32_t length = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);

		if (length & BPF_RINGBUF_BUSY_BIT ||
		    (until_ns != UINT64_MAX && time_of(record + BPF_RINGBUF_HDR_SZ) > until_ns))
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			visit(ctx, r->cpu, record + BPF_RINGBUF_HDR_SZ);
		length &= ~BPF_RINGBUF_DISCARD_BIT;
		tail += (length + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		/* Returns room to the writers during a long drain, not only at its end. */
		if (tail - given_back >= r->bytes / 16) {
			__atomic_store_n(consumer, tail, __ATOMIC_RELEASE);
			given_back = tail;
		}
	}
	__atomic_store_n(consumer, tail, __ATOMIC_RELEASE);
	return tail - start;
}

void ringbufs_heard(struct ringbufs *r)
{
	struct epoll_event events[64];

	while (epoll_wait(r->epoll_fd, events, 64, 0) == 64)
		;
}
