// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/ringbytes.h"

#include <unistd.h>

#define RING_BYTES	 (4u << 20) /* 13 ms of ten million calls a second */
#define RING_BYTES_LEAST (1u << 20)
#define RINGS_OF_CPU	 8  /* threads of so many a CPU may fill theirs, */
#define MEMORY_PART	 16 /* in such a part of the machine's memory */

static uint64_t default_ring_bytes(void)
{
	const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	const uint64_t memory = pages * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_PART;
	const uint64_t rings = RINGS_OF_CPU * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = RING_BYTES;

	while (n > RING_BYTES_LEAST && n * rings > memory)
		n /= 2;
	return n;
}

uint64_t inject_ring_bytes(uint64_t wanted)
{
	uint64_t n = 4096;

	wanted = wanted ? wanted : default_ring_bytes();
	while (n <= wanted / 2 && n < 1u << 30)
		n *= 2;
	return n;
}
