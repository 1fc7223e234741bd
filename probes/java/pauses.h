/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The safepoints of a Java machine: stops of all threads for other reasons than to collect garbage,
 * which the agent is not told of (code that is deoptimized, dumps of threads, classes that are
 * redefined). The machine writes a log of them into the recording's directory (-Xlog:safepoint),
 * which is read while it is written, so that a recording that is killed lacks no more than the
 * latest.
 */
#ifndef ISPOT_PROBES_JAVA_PAUSES_H
#define ISPOT_PROBES_JAVA_PAUSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct java_pauses {
	const char *directory; /* of inproc.h; borrowed */
	struct {
		VEC(struct java_log)
	} logs;
	size_t next; /* whose turn it is */
};

struct java_log {
	pid_t pid;
	uid_t user;  /* in whose directory it is */
	ino_t inode; /* of the file that was read latest; 0: none was */
	long at;     /* read to there */
};

/* The option for a java that knows it (9 or later, by the `release` file beside it); NULL: it does
 * not, or that is not known. Freed by the caller. */
char *java_pauses_option(const char *program, const char *directory);

/* The command that has a machine that runs begin or end that log; pid as it has it itself. Freed by
 * the caller. */
char *java_pauses_log(pid_t pid, const char *directory, bool on);

/* A line of the log: until when all threads were stopped, and how long. False: none such. */
bool java_pauses_parse(const char *line, uint64_t *end_ns, uint64_t *ns);

void java_pauses_init(struct java_pauses *p, const char *directory);
/* The lines that have come since the last time, of each log at most a MiB of them. */
void java_pauses_read(struct java_pauses *p,
		      void (*visit)(void *self, pid_t pid, uint64_t end_ns, uint64_t ns),
		      void *self);
void java_pauses_release(struct java_pauses *p);

#endif
