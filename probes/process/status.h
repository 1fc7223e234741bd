/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads lines of /proc/PID/status of a process that others run. */
#ifndef ISPOT_PROBES_PROCESS_STATUS_H
#define ISPOT_PROBES_PROCESS_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the text behind the name and its colon; NULL: it is not there. The caller frees it. */
char *status_line(pid_t pid, const char *name);

/* The second number of a line "real effective saved fs": of "Uid:" or "Gid:". */
bool status_effective(pid_t pid, const char *name, unsigned *id);

/* Returns the number of the process's parent; 0: it is not known. */
pid_t status_parent(pid_t pid);

/* Returns the process's number in its own PID namespace. */
pid_t status_inner_pid(pid_t pid);

#endif
