/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that a process's threads have when a recording meets it, as lines of the file. */
#ifndef ISPOT_PROBES_PROCESS_NAMED_H
#define ISPOT_PROBES_PROCESS_NAMED_H

#include <sys/types.h>

struct text;

/* Gives write() the line of each thread of a process, which it releases; of a process that has
 * ended, none. */
void named_threads(pid_t pid, void (*write)(void *ctx, struct text *line), void *ctx);

#endif
