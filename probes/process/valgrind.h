/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command under valgrind's callgrind, which counts instructions and jumps by thread. */
#ifndef ISPOT_PROBES_PROCESS_VALGRIND_H
#define ISPOT_PROBES_PROCESS_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct valgrind_options {
	/*
	 * Lists of functions, ended by NULL ("*" stands for any text). A thread's counts are
	 * written at the entry of those in before (several lists, the last one NULL) and at the
	 * exit of those in after. If a pattern is in both, valgrind uses only one of them.
	 */
	const char *const *const *before, *const *after;
	bool caches;	 /* simulate caches, and count misses */
	const char *dir; /* directory for its files, cg.* */
};

/*
 * Runs the command to its end; its standard output goes to standard error. *status is its exit
 * status, or 128 + signal if a signal killed it. -ENOENT, exit status 127: valgrind or the command
 * does not exist.
 */
int valgrind_run(char *const *argv, const struct valgrind_options *o, int *status, struct err *err);

#endif
