/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which application a process belongs to: by its executable with the build-id, its cgroup, its
 * container or its user.
 */
#ifndef ISPOT_PROBES_PROCESS_APPLICATION_H
#define ISPOT_PROBES_PROCESS_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"

struct err;

#define APPLICATIONS_MAX                                                                      \
	16000 /* names of a recording; further ones are all "(others)". A block can hold this \
		 many. */

enum application_by { BY_EXECUTABLE, BY_CGROUP, BY_CONTAINER, BY_USER };

extern const char *const application_by_names[]; /* ends with NULL */

struct applications {
	enum application_by by;
	struct strtab names;
	struct map by_pid, by_file;
};

int applications_init(struct applications *a, const char *by, struct err *err);
/*
 * Finds the innermost container on a cgroup's path, named as its runtime shows it: by the first
 * digits of its number, or by name. Returns false if the path has no known kind of container.
 */
bool application_container(const char *cgroup, char *name, size_t n);
/*
 * Returns the number in names of a process's application, which is read from /proc the first time.
 * A process that is gone by then is "(gone)", a kernel thread is "[kernel]", and a process outside
 * every container is "[host]".
 */
uint32_t application_of(struct applications *a, pid_t pid);
void application_forget(struct applications *a, pid_t pid);
/* Forgets everything; *a can be used again. */
void applications_release(struct applications *a);

#endif
