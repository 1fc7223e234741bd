/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refuses machines, programs and processes that cannot be patched; each error says what to do
 * instead. */
#ifndef ISPOT_PROBES_INJECT_REFUSAL_H
#define ISPOT_PROBES_INJECT_REFUSAL_H

#include <stdint.h>
#include <sys/types.h>

struct dso;
struct err;

int refusal_of_machine(struct err *err);
int refusal_of_program(struct dso *program, struct err *err);
int refusal_of_process(pid_t pid, struct err *err);
/* The parts of refusal_of_process() that also apply to a new process. */
int refusal_of_seccomp(pid_t pid, struct err *err);
/* Refuses a process of another PID namespace: its records would have numbers that ispot does not
 * know. */
int refusal_of_numbers(pid_t pid, struct err *err);

/* Returns how many bytes a command may lock, UINT64_MAX if it has no limit. */
uint64_t refusal_lock_limit(void);
/* For a program that may lock all its memory, including the memory for records: if the memory that
 * it may lock is limited, its own mlockall() could fail. */
int refusal_of_locking(const char *program, struct err *err);

/*
 * Injecting trusts the process, which makes the memory that both share and reports its address. So
 * the process must currently have the user, the user namespace and all capabilities of ispot.
 * Returns 0 or -EPERM.
 */
int refusal_of_rights(pid_t pid, struct err *err);

#endif
