/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contract between the recorder and a producer that lives inside of the program (design,
 * section 2). The recorder makes a directory, and in it one for each user, named by the user's
 * number, that only that user may write to, with a file "config" of text lines in it; each process
 * of the program that has a producer makes a region there, a file in shared memory, and renames it
 * to PID.region when its header is complete. Nobody waits for anybody: a full ring counts what it
 * had no room for, and the program goes on.
 *
 * The stubs of probes/inject have a region, too: a file without a name that the recorder makes in
 * the program, for it and all that it forks, and whose records are stamped by the cycle counter.
 *
 *	header     struct inproc_header, INPROC_PAGE bytes
 *	slots      INPROC_SLOTS × struct inproc_slot: the rings' state
 *	names      rows, appended: struct inproc_name and its three strings, padded to 8 bytes
 *	rings      INPROC_SLOTS × ring_bytes: struct inproc_record each
 *	rows       of such a region alone, where one call in several is recorded: INPROC_SLOTS ×
 *		   inproc_rows_bytes(), a struct inproc_row for each function
 *
 * Threads take free slots from the first one on, so behind one that never had a tid there is none
 * in use. A ring has one producer, a thread, and one consumer, the recorder. head and tail count
 * records from the ring's begin and never wrap; record i is at i % (ring_bytes / 16). The producer
 * writes the record, then head (release); the consumer reads head (acquire), the records, then
 * writes tail (release). What the file's memory cannot hold is asked for before it is touched
 * (fallocate), so that full shared memory is no SIGBUS. A process that is killed leaves its region
 * as it was: everything in it is read.
 *
 * With INPROC_CYCLES the ring is another: a thread reserves the next record where nobody else sees
 * it, and the record's first word, written last, commits it. The consumer reads up to the first
 * record without one, sets what it has read to 0 again, then writes tail; head is not used.
 *
 * Numbers are the machine's own; processes of another byte order or word size have none.
 */
#ifndef ISPOT_PROBES_INPROC_INPROC_H
#define ISPOT_PROBES_INPROC_INPROC_H

#include <stdint.h>

#define INPROC_MAGIC	   0x706e6973u /* "sinp" */
#define INPROC_VERSION	   5
#define INPROC_PAGE	   4096
#define INPROC_SLOTS	   4096
#define INPROC_REGIONS_MAX 4096	       /* of a user; further ones are not looked at */
#define INPROC_NAMES	   (64u << 20) /* bytes of address space, not of memory */
#define INPROC_IDS_MAX	   (1u << 20)  /* ids are below */
#define INPROC_RING_BYTES  (256u << 10)
#define INPROC_DEPTH_MAX   4096 /* calls inside of each other, of a thread */
#define INPROC_FRAMES_MAX  64	/* of a stack */
#define INPROC_LOCKS_MAX   8192 /* that are told apart; 0 stands for any other */
#define INPROC_COUNTS_MAX  12	/* counters of a call: below 1 << INPROC_COUNT_BITS */
#define INPROC_COUNT_BITS  4
#define INPROC_SUFFIX	   ".region"

/* Durations that empty calls show, from entry stamp to exit stamp, and the number of calls. */
struct inproc_cost {
	uint32_t inner_min_ns, inner_p50_ns, inner_p99_ns, inner_mean_ns, calls;
};

struct inproc_header {
	uint32_t magic, version;
	uint32_t pid, slots;
	uint64_t names_at, names_bytes, rings_at, ring_bytes;
	char producer[16]; /* "java" */
	/* the recorder's: 1 while records are wanted; 2: they are, but no new thread takes a slot
	 * by system calls, which would end the program */
	_Atomic uint32_t recording;
	_Atomic uint32_t pair_ns;      /* what an entry and an exit cost here; 0: not known */
	_Atomic uint64_t names_end;    /* rows are complete up to there, from names_at */
	_Atomic uint64_t without_ring; /* records of threads for which there was no ring */
	_Atomic uint64_t more_ns;      /* what else recording has cost: stacks, the rings' memory */
	_Atomic uint64_t unnamed; /* rows of names that found no room, of the kinds from LEFT on */
	char vm[128];		  /* what runs there, in words */
	uint32_t clock;		  /* enum inproc_clock */
	struct inproc_cost cost;  /* complete when pair_ns is not 0 */
};

enum inproc_clock {
	INPROC_NS = 0,	   /* struct inproc_record, CLOCK_MONOTONIC */
	INPROC_CYCLES = 1, /* struct inproc_stamp, the cycle counter */
};

enum inproc_state {
	INPROC_FREE = 0,  /* the producer may take it */
	INPROC_LIVE = 1,  /* it is tid's */
	INPROC_ENDED = 2, /* the thread is gone: the recorder reads the rest and sets it free */
	INPROC_TAKEN = 3, /* about to be live */
};

struct inproc_slot {
	_Atomic uint32_t state;
	uint32_t tid;
	_Atomic uint64_t head, lost; /* records written; records that there was no room for */
	char comm[16];		     /* the thread's name when it took the ring; "": see /proc */
	uint32_t pid;		     /* the process, with INPROC_CYCLES */
	uint8_t pad[20];
	_Atomic uint64_t tail; /* the recorder's, on a line of its own */
	uint8_t pad2[56];
};

enum inproc_kind {
	INPROC_ENTRY = 1,   /* value: id */
	INPROC_EXIT = 2,    /* value: id */
	INPROC_WAITED = 3,  /* value: ns / 256 that the entry behind waited for its lock */
	INPROC_PAUSE = 4,   /* all threads are stopped from now */
	INPROC_RESUMED = 5, /* and run again */
	INPROC_LOST = 6,    /* value: so many records of this thread are missing before this one */
	INPROC_STACK = 7,   /* value: id of the stack that the call ended by the exit behind has */
	INPROC_GONE = 8,    /* value: id; that call, depth as its, and those in it have no end */
	INPROC_AWAITS = 9,  /* value: id of the stack, 0: none; depth: number of the lock that
			       another  thread holds, and this one waits for from now */
	INPROC_TOOK = 10,   /* and has from now */
	INPROC_HELD = 11, /* value: ns / 256; depth: number of the lock that it has held for so long
			     and gives back now, for which another thread waits */
	INPROC_COUNT = 12, /* value, and above it the upper bits of depth: what a counter says; the
			      lower INPROC_COUNT_BITS of depth: its number. Of the entry or exit
			      behind; what is missing there is as it was */
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
	uint16_t depth; /* entry, exit: calls of the thread that are open around it; or a lock */
};

struct inproc_stamp {
	uint64_t cycles; /* 0: not complete */
	uint32_t what;	 /* the function's id, twice; and 1 for an exit; and INPROC_INNER */
	uint32_t sp;	 /* the lower half of the stack pointer at the function's entry */
};

/* Of an entry: the call is inside of another one of its function that was not recorded. */
#define INPROC_INNER (1u << 31)

/* Calls of one function by one thread, where one in several is recorded: the thread's own count. */
struct inproc_row {
	_Atomic uint64_t calls, recorded;
	_Atomic uint64_t inner, inner_recorded; /* of them, inside of another one of the function */
};

/* Of a thread: whole pages, so that what a thread never calls takes no memory. */
static inline uint64_t inproc_rows_bytes(uint32_t n_functions)
{
	return (n_functions * sizeof(struct inproc_row) + INPROC_PAGE - 1) &
	       ~(uint64_t)(INPROC_PAGE - 1);
}

enum inproc_named {
	INPROC_FUNCTION = 1, /* id is a function */
	INPROC_BLOCK = 2,    /* id is a part of one, in which a lock is held */
	INPROC_SECTION = 3,  /* id is a function in which a lock is held */
	INPROC_FRAME = 4,    /* id is a place in a function: the frame of a stack */
	INPROC_FRAMES = 5,   /* id is a stack; the first string: its frames' ids, innermost first;
				line 1: of a thread that waits for a lock there */
	INPROC_LEFT = 6,     /* wanted and left alone, id says nothing; the third string: why */
	INPROC_NOTICE = 7,   /* a word to the user: the first string */
	INPROC_LOCK = 8,     /* id is a lock that a thread has waited for: 1, 2, … as they come */
};

struct inproc_name {
	uint32_t bytes; /* with this, the strings and the padding */
	uint32_t id, kind, line;
	/* then, each with its NUL: name, signature, source file or reason */
};

#endif
