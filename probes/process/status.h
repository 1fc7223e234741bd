/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc/PID/status says of a process that others run. */
#ifndef ISPOT_PROBES_PROCESS_STATUS_H
#define ISPOT_PROBES_PROCESS_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/* What follows the name, with its colon; NULL: not there. To be freed. */
char *status_line(pid_t pid, const char *name);

/* The second number of a line "real effective saved fs": of "Uid:" or "Gid:". */
bool status_effective(pid_t pid, const char *name, unsigned *id);

/* Its number as the process itself has it, in its PID namespace. */
pid_t status_inner_pid(pid_t pid);

#endif
