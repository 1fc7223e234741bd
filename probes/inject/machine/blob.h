/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of the stubs that all of them share: what a thread does at its first record, and when
 * its ring is full. This code runs in the target, without a library and without thread-local
 * storage, at whatever address it is copied to. It makes three or four system calls in each thread.
 *
 * Each thread has a block, to which %gs points (x86-64), in private memory that a fork wipes. A
 * forked child, and a new thread, which starts with its creator's %gs, therefore find a key that is
 * not theirs, and claim a slot of the region (probes/inproc/inproc.h). Signal handlers may run
 * between any two instructions and use the same block, so one instruction reserves a record, and
 * one instruction gives it back.
 */
#ifndef ISPOT_PROBES_INJECT_BLOB_H
#define ISPOT_PROBES_INJECT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in a block; blob_x86.c and blob_arm64.c have the same numbers in their code. */
enum blob_block {
	BLOCK_KEY = 0,	  /* of the thread that owns the block: %fs:0 or, on aarch64, tpidr_el0 */
	BLOCK_POS = 8,	  /* bytes reserved in the thread's ring so far; the count never wraps */
	BLOCK_LIMIT = 16, /* BLOCK_POS at which the ring is full, by the tail that was read last, or
			   * at which the stretch is over */
	BLOCK_BASE = 24,  /* address of the thread's ring; 0: a fork has wiped the memory */
	BLOCK_SLOT = 32,  /* address of the thread's slot in the region */
	BLOCK_ROWS = 40,  /* address of the thread's struct inproc_row for each function */
	BLOCK_RANDOM = 48,
	BLOCK_LOOKED = 48, /* when the thread looked at its budget last */
	BLOCK_PAID = 56, /* time until which what was recorded uses up the budget; 0: nothing was */
	BLOCK_BYTES = 64,
};

/*
 * What a thread keeps for each function after these fields if one call in N is recorded. One of
 * each N calls is drawn at random, with a new draw for the next N calls. At a fixed distance, a
 * program whose own period shares a factor with N would show the same one of its calls again and
 * again.
 */
enum turn {
	TURN_NEXT = 0,	 /* number of the call that is recorded next; 0: none is drawn yet */
	TURN_OUTER = 8,	 /* lower half of the stack pointer at the entry of the outermost open call;
			    0: no call is open */
	TURN_TOP = 12,	 /* the same for the open recorded call that was entered last */
	TURN_DEPTH = 16, /* number of recorded calls that are open; written with TURN_TOP */
	TURN_REST = 20,	 /* calls of the current N that follow the recorded one */
	TURN_OPEN = 24,	 /* for each recorded call that is open, TURN_TOP before it was entered */
	TURN_OPEN_MOST = 10,
	TURN_BYTES = 64,
};

/*
 * What a thread keeps for each function after these fields if functions may be given up: two bytes,
 * the number of its calls that found the ring full, or the budget used up. From BLOCK_MISSES_MOST
 * on, calls pass without a record, in a nanosecond: the function is called too often for the
 * recorder, or for the budget, and the recorder takes it out as soon as it has a CPU. Functions
 * that are called now and then while others fill the ring miss fewer.
 *
 * A thread looks at its budget after a stretch of records, of random length so that no loop is in
 * step with it. The thread pays for the next stretch in advance. If the budget is used up, and the
 * record is an entry, its function gets BLOCK_STRETCH misses, as every second record is one: so
 * functions get misses in proportion to their calls. Those that take or release locks get fewer, so
 * that others are given up before them. Once a function is given up, the others begin with a
 * sixteenth of the first credit.
 */
#define BLOCK_MISS_BYTES  2
#define BLOCK_MISSES_MOST 1024 /* a multiple of 256, as the second byte is compared */

#define BLOCK_STRETCH	    64 /* records on average; a power of two */
#define BLOCK_STRETCH_LEAST 33
#define BLOCK_STRETCH_WAITS 8 /* misses of a function that takes or releases locks, or waits */
/* x86-64: a stub of a function that takes or releases locks, or waits, sets this bit in the id that
 * it passes to the routine miss. */
#define BLOB_WAITS (1u << 31)

/*
 * A thread that claims a slot wipes the block of the one before. A larger block is discarded; a
 * smaller one is written over: to discard memory, the kernel interrupts each CPU that runs the
 * program, which takes longer.
 */
#define BLOCK_WIPED_MOST 16384

/* How much a thread may record before functions are given up. All times are in cycles of the clock.
 */
struct blob_budget {
	/* For how long a record uses up the budget, times 1 << BLOB_COST_SHIFT; 0: no limit. */
	uint64_t record_cost;
	/* The time whose budget a thread has at its first record, and may save up later. */
	uint64_t credit_first, credit_most;
	/* The longest time between two looks that counts as the thread's: if it takes longer, the
	 * thread did not run. */
	uint64_t gap_most;
};

#define BLOB_COST_SHIFT 8

/* The parameters of the code. Each copy of the code begins with them. */
struct blob_facts {
	uint64_t region; /* address of the region */
	uint64_t blocks; /* address of INPROC_SLOTS blocks, and of one for threads without a slot */
	uint64_t ring_bytes; /* a power of two */
	uint64_t block_bytes;
	uint64_t rows, rows_bytes; /* address of the first slot's rows; bytes per slot */
	uint64_t period;	   /* one call in this many is recorded; 1: every call */
	/* aarch64: address of the table of threadtable.h, and how far below its base a thread has
	 * its number if the kernel is not told where, as with musl; 0: not known */
	uint64_t table, tid_below;
	uint64_t misses_most; /* BLOCK_MISSES_MOST, or 0: no function is given up */
	struct blob_budget budget;
	/* Address of the first slot whose thread uses only small_bytes of its ring at a time. */
	uint64_t small_from, small_bytes;
};

/* Returns the bytes of a block. A block with turns or misses fills whole pages, so that madvise()
 * can wipe it. gives_up: functions may be given up, which those of which one call in several is
 * recorded never are. */
uint64_t blob_block_bytes(uint32_t period, uint32_t n_functions, bool gives_up);

/*
 * The six routines return to the address in %r11. They change %r11 and the flags; the carry flag
 * means that no record is to be written. full: %rdx has the reserved position, and keeps it; the
 * ring may be full, or the stretch is over. miss is the same at an entry, if functions may be given
 * up; %eax has the function's id, with BLOB_WAITS or not. begin, end: %ecx has the function's id,
 * and %edx the lower half of the stack pointer at the function's entry. begin is for a call that is
 * due to be recorded, and leaves INPROC_INNER or 0 in %ecx. values: writes arguments, or the
 * returned value, behind the record that was reserved last. %ecx has the record's `what` and the
 * values that are wanted (INPROC_COUNT_SHIFT), and %edx the lower half of the stack pointer at the
 * function's entry. The stub has saved %rax, %rdx and %rcx where a stub saves them (stub_x86.c).
 *
 * On aarch64 all of a stub's work is in two routines, enter and leave, as no register leads to a
 * thread's block there: they look for it in a table (threadtable.h).
 */
struct blob {
	const void *code;			      /* starts with struct blob_facts */
	size_t bytes;				      /* 0: this processor is not supported */
	size_t claim, full, miss, begin, end, values; /* offsets of the six routines */
	size_t enter, leave; /* aarch64: offsets of the two that stubs call instead */
};

struct blob blob_get(void);
/* Returns the bytes of the table by which threads find their blocks; 0: there is none. */
uint64_t blob_table_bytes(void);

#endif
