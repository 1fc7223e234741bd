/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads lines of /proc/PID/status. */
#ifndef ISPOT_PROBES_PROCESS_STATUS_H
#define ISPOT_PROBES_PROCESS_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns the text after the name, which includes the colon, or NULL if there is no such line. The
 * caller frees the text.
 */
char *status_line(pid_t pid, const char *name);

/* Reads the second number of a line "real effective saved fs", as "Uid:" and "Gid:" have it. */
bool status_effective(pid_t pid, const char *name, unsigned *id);

/* The first words of its command line, as they are in its memory. That may be of a file system that
 * does not answer: then, or if there are none, false. */
bool status_words(pid_t pid, char *words, size_t room);

/* Returns the number of the parent process, or 0 if it is unknown. */
pid_t status_parent(pid_t pid);

/* Returns the process's number in its own PID namespace. */
pid_t status_inner_pid(pid_t pid);

#endif
