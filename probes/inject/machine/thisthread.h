/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets stubs that this thread runs record into a block, to measure what they cost. */
#ifndef ISPOT_PROBES_INJECT_MACHINE_THISTHREAD_H
#define ISPOT_PROBES_INJECT_MACHINE_THISTHREAD_H

#include <stdint.h>

/* table: blob_table_bytes() of memory that is 0. Returns 0 or -errno. */
int thisthread_enter(uint64_t *block, void *table);
void thisthread_leave(void);

#endif
