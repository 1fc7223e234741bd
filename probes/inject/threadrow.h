/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enters a stopped thread into the table by which it finds its block (machine/threadtable.h). */
#ifndef ISPOT_PROBES_INJECT_THREADROW_H
#define ISPOT_PROBES_INJECT_THREADROW_H

#include <stdint.h>

struct injection;
struct tracee;
struct tracees;

/*
 * Returns 0, or -errno: -ENOENT if it is not certain where the thread's number is. Then the thread
 * enters itself at its first record.
 */
int threadrow_write(const struct injection *in, const struct tracees *t, const struct tracee *e,
		    uint64_t key, uint64_t block);

/* Returns how far below their bases the stopped threads have their numbers, or 0 if that is not
 * certain. */
uint64_t threadrow_tid_below(const struct tracees *t);

#endif
