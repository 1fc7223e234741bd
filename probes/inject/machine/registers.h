/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registers of a stopped thread (ptrace). */
#ifndef ISPOT_PROBES_INJECT_MACHINE_REGISTERS_H
#define ISPOT_PROBES_INJECT_MACHINE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct registers {
	uint64_t words[40]; /* as the kernel has them */
};

/* Return 0 or -errno. */
int registers_read(pid_t tid, struct registers *r);
int registers_write(pid_t tid, const struct registers *r);
uint64_t registers_ip(const struct registers *r);
uint64_t registers_sp(const struct registers *r);
/* Returns whether the thread can run a detour. On aarch64 it cannot if a system call would spoil
 * its vectors, which are longer than 128 bits, or if its stack pointer is not aligned, so that
 * nothing can be stored there. */
bool registers_can_go(pid_t tid, const struct registers *r);
/* Lets the thread repeat a system call that the stop interrupted, as the kernel would. */
void registers_restart(struct registers *r);
/* Makes the thread run other code, and no system call again. */
void registers_go_to(struct registers *r, uint64_t ip);
/*
 * Returns whether the thread has just returned from the system call of a mark (steps.h). *value:
 * what the mark tells.
 */
bool registers_at_mark(const struct registers *r, uint64_t tag, int64_t *value);

/* Returns the base of the thread's local storage (%fs, tpidr_el0), or 0 if it has none. */
uint64_t registers_thread(const struct registers *r);
/*
 * Returns whether a register of the thread leads to its block (blob.h): %gs does. On aarch64 none
 * is left, and threads find their blocks in a table (threadtable.h).
 */
bool registers_lead_to_blocks(void);
/* Returns whether that register is not the program's own. *block: its value. */
bool registers_block(const struct registers *r, uint64_t *block);
/* Sets that register, and the base of the thread's local storage if it has none. */
void registers_set_block(struct registers *r, uint64_t block, uint64_t thread_if_none);

#endif
