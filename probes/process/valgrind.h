/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command under valgrind's callgrind, which counts instructions and jumps by thread. */
#ifndef ISPOT_PROBES_PROCESS_VALGRIND_H
#define ISPOT_PROBES_PROCESS_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct valgrind_options {
	/* Functions (NULL-terminated, "*" any text) at whose entry a thread's counts are written
	 * (lists of them, the last one NULL), and at whose exit; of a pattern that is in both
	 * valgrind heeds only one. */
	const char *const *const *before, *const *after;
	bool caches;	 /* simulate them, and count misses */
	const char *dir; /* where its files go, as cg.* */
};

/*
 * Runs it to its end; its standard output goes to standard error. *status: its exit status, 128 +
 * signal where one killed it. -ENOENT, exit status 127: no valgrind, or no such command.
 */
int valgrind_run(char *const *argv, const struct valgrind_options *o, int *status, struct err *err);

#endif
