/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of the stubs that is the same for all of them: what a thread does at its first record,
 * and when its ring is full. It is code of the target: without a library, without thread-local
 * storage, at whatever address it is copied to. It makes three or four system calls, once a thread.
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
	BLOCK_ROWS = 40,  /* its struct inproc_row, by function */
	BLOCK_RANDOM = 48,
	BLOCK_BYTES = 64,
};

/*
 * Behind these, where one call in several is recorded, what the thread keeps of each function. Of
 * each N calls one is drawn at random, for each N anew: at a fixed distance, a program whose own
 * period shares a factor with N would show the same one of its calls again and again.
 */
enum turn {
	TURN_NEXT = 0,	 /* the number of the call that is recorded next; 0: none is drawn yet */
	TURN_OUTER = 8,	 /* the lower half of the stack pointer at the entry of the outermost call
			    that  is open; 0: none is */
	TURN_TOP = 12,	 /* the same of the recorded call that was entered last */
	TURN_DEPTH = 16, /* recorded calls that are open */
	TURN_REST = 20,	 /* behind that call: what is left of its N */
	TURN_OPEN = 24,	 /* the stack pointers of the recorded ones that are open */
	TURN_OPEN_MOST = 10,
	TURN_BYTES = 64,
};

/* What a copy has to know, at its start. */
struct blob_facts {
	uint64_t region;     /* where the region is mapped */
	uint64_t blocks;     /* INPROC_SLOTS blocks, and one for whoever has none yet */
	uint64_t ring_bytes; /* of two's powers */
	uint64_t block_bytes;
	uint64_t rows, rows_bytes; /* of the first slot, and of each */
	uint64_t period;	   /* one call in so many is recorded; 1: each */
};

/* Returns the bytes of a block; one that has turns fills whole pages, so that it can be wiped. */
uint64_t blob_block_bytes(uint32_t period, uint32_t n_functions);

/*
 * All take in %r11 where they are to go on, change that and, of the flags, say by carry that there
 * is no record to be written. full: %rdx has what was reserved, and keeps it. begin, end: the
 * function's id is in %ecx, the lower half of the stack pointer at its entry in %edx; begin is for
 * a call whose turn it is to be recorded, and leaves INPROC_INNER or 0 in %ecx.
 */
struct blob {
	const void *code;		/* starts with struct blob_facts */
	size_t bytes;			/* 0: this processor has none */
	size_t claim, full, begin, end; /* offsets of the four */
};

struct blob blob_get(void);

#endif
