/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which machines, programs and processes are not patched; each error says what to do instead. */
#ifndef ISPOT_PROBES_INJECT_REFUSAL_H
#define ISPOT_PROBES_INJECT_REFUSAL_H

#include <sys/types.h>

struct dso;
struct err;

int refusal_of_machine(struct err *err);
int refusal_of_program(struct dso *program, struct err *err);
int refusal_of_process(pid_t pid, struct err *err);
int refusal_of_seccomp(pid_t pid, struct err *err); /* of those, the one of a new process */

/* Of a program that may lock all its memory, the room for records included: where it is bounded how
 * much that is, its own mlockall() could fail. */
int refusal_of_locking(const char *program, struct err *err);

/*
 * Injecting trusts the process: it makes the memory that both share, and says where. So it has to
 * have the user, the user namespace and all capabilities of ispot, now. -EPERM
 */
int refusal_of_rights(pid_t pid, struct err *err);

#endif
