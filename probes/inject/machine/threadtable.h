/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How threads find their blocks (blob.h) where no register is left to lead there: by a table in
 * private memory that a fork wipes, whose key is the base of the thread's local storage. A thread
 * that ends leaves its row, and a new one may get the same base, as C libraries use stacks again.
 * So a row also says where the C library has the thread's number: the kernel sets that to 0 when
 * the thread ends (CLONE_CHILD_CLEARTID), and to the number of the new one.
 *
 * Only the thread whose base is its key changes a row, or a thread that finds that thread gone.
 */
#ifndef ISPOT_PROBES_INJECT_MACHINE_THREADTABLE_H
#define ISPOT_PROBES_INJECT_MACHINE_THREADTABLE_H

#include <stdint.h>

#define THREADTABLE_BITS       13 /* twice as many rows as there are slots */
#define THREADTABLE_FACTOR     0x9e3779b1u
#define THREADTABLE_STEPS      64 /* rows that are looked at from the first one on */
#define THREADTABLE_BEING_MADE 1  /* as the key, which is no thread's */

struct threadtable_row {
	uint64_t key; /* 0: no thread has had the row; written last */
	uint64_t block;
	uint64_t tid_at; /* address of the thread's number */
	uint32_t tid, unused;
};

#define THREADTABLE_BYTES (sizeof(struct threadtable_row) << THREADTABLE_BITS)

/* Returns the index of the first row for this key. Others follow it, the first row the last. */
static inline uint32_t threadtable_home(uint64_t key)
{
	return (uint32_t)(key >> 4) * THREADTABLE_FACTOR >> (32 - THREADTABLE_BITS);
}

#endif
