/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/ringbuf.h"

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
#include "probes/bpfprog.h"

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

/* Edge-triggered: a ring counts as readable at its next wakeup, not as long as it holds anything.
 */
static int ringbuf_open(struct ringbuf *r, struct bpfprog *b, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = bpfprog_new_ring(b, r->cpu, r->bytes), ret;

	if (fd < 0)
		return fd;
	r->fd = fd;
	ret = ringbuf_map(r);
	if (!ret && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		ret = -errno;
	return ret;
}

int ringbufs_open(struct ringbufs *r, struct bpfprog *b, const struct cpus *cpus, size_t bytes,
		  struct err *err)
{
	int ret = 0;

	*r = (struct ringbufs){ .rings = xcalloc(cpus->n, sizeof(*r->rings)), .n = cpus->n };
	for (uint32_t i = 0; i < cpus->n; i++)
		r->rings[i] = (struct ringbuf){ .cpu = cpus->online[i], .fd = -1, .bytes = bytes };
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0)
		ret = -errno;
	for (uint32_t i = 0; i < cpus->n && !ret; i++)
		ret = ringbuf_open(&r->rings[i], b, r->epoll_fd);
	if (!ret)
		return 0;
	return err_set(err, ret, "cannot make a ring of %zu KiB for each of %u CPUs: %s; %s",
		       bytes >> 10, cpus->n, strerror(-ret),
		       ret == -EMFILE ? "raise the limit with ulimit -n"
				      : "ask for less with -m, or raise ulimit -l");
}

void ringbufs_release(struct ringbufs *r)
{
	if (!r->rings)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		struct ringbuf *ring = &r->rings[i];

		if (ring->producer)
			munmap((void *)ring->producer, page_bytes() + 2 * ring->bytes);
		if (ring->consumer)
			munmap(ring->consumer, page_bytes());
		if (ring->fd >= 0)
			close(ring->fd);
	}
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r->rings);
	memset(r, 0, sizeof(*r));
}

/* include/uapi/linux/bpf.h: the header's length word says whether the writer is done with it. */
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
		/* The writers get their room back as we go, not only at the end of a long drain. */
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
