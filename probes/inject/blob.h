/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of the stubs that is the same for all of them: what a thread does at its first record,
 * and when its ring is full. It is code of the target: without a library, without thread-local
 * storage, at whatever address it is copied to. It makes three system calls, once a thread.
 *
 * Each thread has a block, found by %gs, in private memory that a fork wipes: so a forked child,
 * and a new thread, which has its creator's %gs, find a key that is not theirs, and take a slot of
 * the region (probes/inproc/inproc.h). Signal handlers may run between any two instructions, in the
 * same block: a record is reserved by one instruction, and given back by one.
 */
#ifndef ISPOT_PROBES_INJECT_BLOB_H
#define ISPOT_PROBES_INJECT_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* Where in a block; blob.c has the same numbers in its code. */
enum block {
	BLOCK_KEY = 0,	  /* %fs:0 of the thread whose it is */
	BLOCK_POS = 8,	  /* bytes reserved in its ring so far; they never wrap */
	BLOCK_LIMIT = 16, /* up to which the recorder has read and set free */
	BLOCK_BASE = 24,  /* of its ring; 0: the memory was wiped */
	BLOCK_SLOT = 32,  /* in the region */
	BLOCK_BYTES = 64,
};

/* What a copy has to know, at its start. */
struct blob_facts {
	uint64_t region;     /* where the region is mapped */
	uint64_t blocks;     /* INPROC_SLOTS blocks, and one for whoever has none yet */
	uint64_t ring_bytes; /* of two's powers */
};

/*
 * Both take in %r11 where they are to go on, change that and, of the flags, say by carry that there
 * is no record to be written. full: %rdx has what was reserved, and keeps it.
 */
struct blob {
	const void *code;   /* starts with struct blob_facts */
	size_t bytes;	    /* 0: this processor has none */
	size_t claim, full; /* offsets of the two */
};

struct blob blob_get(void);

#endif
