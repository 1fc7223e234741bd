/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A BPF ring buffer whose memory is made up here as the kernel lays it out. */
#ifndef ISPOT_TESTS_MADE_RING_H
#define ISPOT_TESTS_MADE_RING_H

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/ring/ringbuf.h"

#define MADE_RING_BYTES 65536

struct made_ring {
	struct ringbuf ring;
	unsigned long *head; /* the writers' position */
	char *data;
};

/* at: where the writers and the reader are. */
static inline void made_ring_begin(struct made_ring *m, uint32_t cpu, unsigned long at)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *producer = xcalloc(1, page + 2 * MADE_RING_BYTES);

	m->ring = (struct ringbuf){
		.cpu = cpu, .fd = -1, .bytes = MADE_RING_BYTES, .producer = producer
	};
	m->ring.consumer = xcalloc(1, page);
	m->data = producer + page;
	m->head = (unsigned long *)producer;
	*m->head = *(unsigned long *)m->ring.consumer = at;
}

static inline void made_ring_end(struct made_ring *m)
{
	free((void *)m->ring.producer);
	free(m->ring.consumer);
}

/* In both mappings of the data, so that a record may wrap. */
static inline void made_ring_store(struct made_ring *m, unsigned long at, const void *from,
				   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t to = (at + i) & (MADE_RING_BYTES - 1);

		m->data[to] = m->data[to + MADE_RING_BYTES] = ((const char *)from)[i];
	}
}

/* flags: BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT */
static inline void made_ring_put(struct made_ring *m, uint32_t flags, const void *record,
				 uint32_t size)
{
	uint32_t header[2] = { size | flags, 0 };

	made_ring_store(m, *m->head, header, sizeof(header));
	made_ring_store(m, *m->head + sizeof(header), record, size);
	*m->head += (sizeof(header) + size + 7) & ~7ul;
}

#endif
