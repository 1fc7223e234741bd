/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which application a process is: its executable with its build-id, its cgroup, container or user.
 */
#ifndef ISPOT_PROBES_PROCESS_APPLICATION_H
#define ISPOT_PROBES_PROCESS_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"

struct err;

#define APPLICATIONS_MAX                                                                       \
	16000 /* names of a recording; what else runs is one of "(others)". A block takes them \
		 all. */

enum application_by { BY_EXECUTABLE, BY_CGROUP, BY_CONTAINER, BY_USER };

extern const char *const application_by_names[]; /* ends with NULL */

struct applications {
	enum application_by by;
	struct strtab names;
	struct map by_pid, by_file;
};

int applications_init(struct applications *a, const char *by, struct err *err);
/* The innermost container that a cgroup's path is in, as its runtime shows it: the first digits of
 * its number, or its name. False: none that is known. */
bool application_container(const char *cgroup, char *name, size_t n);
/*
 * Returns the application's number in names; read from /proc the first time. A process that is gone
 * by then is "(gone)", threads of the kernel are "[kernel]", a process in no container is "[host]".
 */
uint32_t application_of(struct applications *a, pid_t pid);
void application_forget(struct applications *a, pid_t pid);
/* Forgets what it has learned; it can be used again. */
void applications_release(struct applications *a);

#endif
