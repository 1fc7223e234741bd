/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contract between the recorder and a producer that lives inside of the program (design,
 * section 2). The recorder makes a directory, and in it one directory for each user, named by the
 * user's number, to which only that user may write, with a file "config" of text lines. Each
 * process of the program that has a producer makes a region there: a file in shared memory, which
 * it renames to PID.region when its header is complete. Neither side waits for the other: if a ring
 * is full, its thread counts the records that do not fit, and the program continues.
 *
 * The stubs of probes/inject have a region, too: a file without a name that the recorder makes in
 * the program, for the program and all processes that it forks. Its records are stamped by the
 * cycle counter.
 *
 *	header     struct inproc_header, INPROC_PAGE bytes
 *	slots      INPROC_SLOTS × struct inproc_slot: the rings' state
 *	names      rows, appended: struct inproc_name and its three strings, padded to 8 bytes
 *	rings      INPROC_SLOTS × ring_bytes: struct inproc_record each
 *	rows       only in a region of stubs that record one call in several: INPROC_SLOTS ×
 *		   inproc_rows_bytes(), a struct inproc_row for each function
 *
 * Threads claim free slots from the first one on, so after a slot that never had a tid no slot is
 * in use. A ring has one producer, a thread, and one consumer, the recorder. head and tail count
 * the ring's records from its beginning and never wrap; record i is at i % (ring_bytes / 16). The
 * producer writes the record, then head (release); the consumer reads head (acquire), the records,
 * then writes tail (release). The memory of the file is allocated before it is touched (fallocate),
 * so that full shared memory raises no SIGBUS. A process that is killed leaves its region as it
 * was, and everything in it is read.
 *
 * With INPROC_CYCLES a ring works differently: a thread reserves the next record in its own memory,
 * and the record's first word, written last, commits it. The consumer reads up to the first record
 * without that word, sets what it has read to 0 again, then writes tail; head is not used.
 *
 * Numbers have the machine's byte order; processes with another byte order or word size have no
 * region.
 */
#ifndef ISPOT_PROBES_INPROC_INPROC_H
#define ISPOT_PROBES_INPROC_INPROC_H

#include <stdint.h>

#define INPROC_MAGIC	   0x706e6973u /* "sinp" */
#define INPROC_VERSION	   5
#define INPROC_PAGE	   4096
#define INPROC_SLOTS	   4096
#define INPROC_REGIONS_MAX 4096	       /* of a user; further ones are not read */
#define INPROC_NAMES	   (64u << 20) /* bytes of address space, not of memory */
#define INPROC_IDS_MAX	   (1u << 20)  /* ids are below this */
#define INPROC_RING_BYTES  (256u << 10)
#define INPROC_DEPTH_MAX   4096 /* open calls of a thread */
#define INPROC_FRAMES_MAX  64	/* frames of a stack */
#define INPROC_LOCKS_MAX   8192 /* locks with a number of their own; number 0 is any other lock */
#define INPROC_COUNTS_MAX  12	/* counters of a call, fewer than 1 << INPROC_COUNT_BITS */
#define INPROC_COUNT_BITS  4
#define INPROC_SUFFIX	   ".region"

/* Durations of empty calls, from entry stamp to exit stamp, and the number of these calls. */
struct inproc_cost {
	uint32_t inner_min_ns, inner_p50_ns, inner_p99_ns, inner_mean_ns, calls;
};

struct inproc_header {
	uint32_t magic, version;
	uint32_t pid, slots;
	uint64_t names_at, names_bytes, rings_at, ring_bytes;
	char producer[16]; /* "java" */
	/* Written by the recorder. 1: records are wanted; 2: they are, but no new thread claims a
	 * slot, as the system calls for that would end the program; 0: records are not wanted. */
	_Atomic uint32_t recording;
	_Atomic uint32_t pair_ns;      /* cost of an entry and an exit here; 0: unknown */
	_Atomic uint64_t names_end;    /* end of the complete rows, from names_at */
	_Atomic uint64_t without_ring; /* records that had no place in a ring, of threads without
					* one and of calls deeper than INPROC_DEPTH_MAX */
	_Atomic uint64_t more_ns;      /* other costs of recording: stacks, the rings' memory */
	_Atomic uint64_t unnamed;      /* rows without room, of the kinds from INPROC_LEFT on */
	char vm[128];		       /* what runs in the process, in words */
	uint32_t clock;		       /* enum inproc_clock */
	struct inproc_cost cost;       /* complete once pair_ns is not 0 */
};

enum inproc_clock {
	INPROC_NS = 0,	   /* struct inproc_record, stamped with CLOCK_MONOTONIC */
	INPROC_CYCLES = 1, /* struct inproc_stamp, stamped with the cycle counter */
};

enum inproc_state {
	INPROC_FREE = 0,  /* a thread may claim it */
	INPROC_LIVE = 1,  /* the thread tid owns it */
	INPROC_ENDED = 2, /* its thread has ended: the recorder reads the rest and frees it */
	INPROC_TAKEN = 3, /* claimed, and live soon */
};

struct inproc_slot {
	_Atomic uint32_t state;
	uint32_t tid;
	_Atomic uint64_t head, lost; /* records written; records that did not fit */
	char comm[16];		     /* the thread's name when it claimed the ring; "": see /proc */
	uint32_t pid;		     /* process of the thread, with INPROC_CYCLES */
	uint8_t pad[20];
	_Atomic uint64_t tail; /* written by the recorder, on a cache line of its own */
	uint8_t pad2[56];
};

enum inproc_kind {
	INPROC_ENTRY = 1,  /* value: the function's id */
	INPROC_EXIT = 2,   /* value: the function's id */
	INPROC_WAITED = 3, /* value: ns / 256 for which the call entered next waited for its lock */
	INPROC_PAUSE = 4,  /* all threads are stopped from now on */
	INPROC_RESUMED = 5, /* all threads run again */
	INPROC_LOST = 6,    /* value: number of the thread's records missing before this one */
	INPROC_STACK = 7,   /* value: id of the stack of the call that the next exit ends */
	INPROC_GONE = 8,    /* value: id; the call of this depth and those inside it have no exit */
	INPROC_AWAITS = 9,  /* value: id of the stack, or 0; depth: number of the lock that another
			       thread holds, and for which this one waits from now on */
	INPROC_TOOK = 10,   /* the wait is over: the thread has that lock, or waits no more */
	INPROC_HELD = 11,   /* value: ns / 256 for which the thread held the lock that it releases
			       now; depth: number of that lock, for which another thread waits */
	INPROC_COUNT = 12,  /* value, with the upper bits of depth above it: a counter's value; the
			       lower INPROC_COUNT_BITS of depth: its number. The value belongs to the
			       next entry or exit; counters without such a record are unchanged */
};

/* Counters that the kernel keeps of each thread. */
enum inproc_task {
	INPROC_MINOR_FAULTS,
	INPROC_MAJOR_FAULTS,
	INPROC_PAGE_FAULTS, /* both */
	INPROC_VOLUNTARY_SWITCHES,
	INPROC_INVOLUNTARY_SWITCHES,
	INPROC_CONTEXT_SWITCHES, /* both */
};

struct inproc_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t value;
	uint16_t kind;	/* enum inproc_kind */
	uint16_t depth; /* entry, exit: number of open calls around it; else a lock's number */
};

struct inproc_stamp {
	uint64_t cycles; /* 0: the record is not complete */
	uint32_t what;	 /* twice the function's id, plus 1 for an exit, and INPROC_INNER or
			  * INPROC_VALUE */
	uint32_t sp;	 /* the lower half of the stack pointer at the function's entry */
};

/* Marks an entry: the call is inside of another call of its function that was not recorded. */
#define INPROC_INNER (1u << 31)

/*
 * Marks a record with an argument of the call whose entry is right before it, or with the value
 * that the call returns, right after its exit. `what` has the function's id as in the other record,
 * and above it which value this is: an integer argument, counted from 0, or INPROC_RETURNED, which
 * stands for INPROC_CALLER after an entry: the address to which the call returns. The upper half of
 * `cycles` is the value's lower half, and the lower half of `cycles` the other record's sp with its
 * lowest bit set; sp is the value's upper half. A value that a ring has no room for is not written.
 * The thread does not count it as lost: the reader counts the records that lack a value.
 */
#define INPROC_VALUE	   (1u << 30)
#define INPROC_VALUE_SHIFT 22
#define INPROC_VALUES	   7 /* the first six integer arguments, and the returned value */
#define INPROC_RETURNED	   6
#define INPROC_CALLER	   6
#define INPROC_ARGUMENTS   ((1u << INPROC_RETURNED) - 1) /* bits of those that stubs record */

/*
 * The values that a stub asks for: bit INPROC_VALUE_SHIFT + i for value i, and above
 * INPROC_COUNT_SHIFT how many they are.
 */
#define INPROC_COUNT_SHIFT 29

/*
 * A bit for each function, at this offset of the region: a thread found its ring full, or its
 * budget used up, for so many calls of the function that it passes them from now on. Functions with
 * higher ids are never passed.
 */
#define INPROC_PASSED_AT  2048
#define INPROC_PASSED_IDS 16384u

/* A thread's own counts of its calls of one function, if one call in several is recorded. */
struct inproc_row {
	_Atomic uint64_t calls, recorded;
	_Atomic uint64_t inner, inner_recorded; /* of these, nested in another such call */
};

/* Returns the bytes of a thread's rows: whole pages, as pages that a thread never uses take no
 * memory. */
static inline uint64_t inproc_rows_bytes(uint32_t n_functions)
{
	return (n_functions * sizeof(struct inproc_row) + INPROC_PAGE - 1) &
	       ~(uint64_t)(INPROC_PAGE - 1);
}

/*
 * A burst of many threads fills their rings before the recorder reads any of them. So the threads
 * of later slots use only this much of their rings at a time, and the recorder gives the memory
 * back that they do not use.
 */
#define INPROC_SMALL_BYTES (256u << 10)
static inline uint64_t inproc_small_bytes(uint64_t ring_bytes)
{
	return ring_bytes / 8 > INPROC_SMALL_BYTES ? ring_bytes / 8 : INPROC_SMALL_BYTES;
}

/* Returns the number of slots before those, if rings may have `most` bytes together; 0: no limit.
 */
static inline uint32_t inproc_large_rings(uint64_t most, uint64_t ring_bytes)
{
	const uint64_t n = most / ring_bytes;

	return !most || ring_bytes <= INPROC_SMALL_BYTES || n > INPROC_SLOTS ? INPROC_SLOTS
									     : (uint32_t)n;
}

enum inproc_named {
	INPROC_FUNCTION = 1, /* id is a function */
	INPROC_BLOCK = 2,    /* id is a part of a function, in which a lock is held */
	INPROC_SECTION = 3,  /* id is a function in which a lock is held */
	INPROC_FRAME = 4,    /* id is a place in a function: the frame of a stack */
	INPROC_FRAMES = 5,   /* id is a stack; the first string has the ids of its frames, innermost
				first; line 1: a thread waits for a lock there */
	INPROC_LEFT = 6, /* a function that was wanted, but left alone; no id; the third string says
			    why */
	INPROC_NOTICE = 7, /* a message to the user, the first string */
	INPROC_LOCK = 8,   /* id is a lock for which a thread has waited, numbered 1, 2, … */
};

struct inproc_name {
	uint32_t bytes; /* of this, the strings and the padding */
	uint32_t id, kind, line;
	/* followed by name, signature, and source file or reason, each with its NUL */
};

#endif
