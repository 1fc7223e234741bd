/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command to its end without recording it. */
#ifndef ISPOT_PROBES_PROCESS_SPAWNED_H
#define ISPOT_PROBES_PROCESS_SPAWNED_H

/*
 * words and more end with NULL. more holds variables "NAME=VALUE" that replace those of the
 * environment. Standard output of the command goes to standard error. Ctrl-C ends only the command,
 * so what it did until then is kept. *status is its exit status, or 128 + signal if a signal killed
 * it. -errno: the command could not be started.
 */
int spawned_run(char *const *words, const char *const *more, int *status);

#endif
