/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ISPOT_PROBES_INJECT_RINGBYTES_H
#define ISPOT_PROBES_INJECT_RINGBYTES_H

#include <stdint.h>

/* Of a thread's ring, given what is wanted; 0: what this machine's memory allows. */
uint64_t inject_ring_bytes(uint64_t wanted);

#define RING_BYTES_LOCKED (16u << 10) /* of a program that may keep all 4,096 in memory */
#define RING_BYTES_LOCKED_WORDS                                                                   \
	"the program can lock its memory (mlockall), so its threads have rings of 16K, and more " \
	"records may be dropped"

#endif
