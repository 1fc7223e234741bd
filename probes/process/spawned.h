/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command that is run to its end without being recorded. */
#ifndef ISPOT_PROBES_PROCESS_SPAWNED_H
#define ISPOT_PROBES_PROCESS_SPAWNED_H

/*
 * words: NULL-terminated. more: to its environment, "NAME=VALUE", NULL-terminated; in place of what
 * is there. Its standard output goes to standard error. Ctrl-C is the command's: what it did until
 * then is known. *status: its exit status, 128 + signal where one killed it. -errno: it could not
 * be started.
 */
int spawned_run(char *const *words, const char *const *more, int *status);

#endif
