/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The safepoints of a Java machine: pauses of all threads for other reasons than garbage
 * collection, which the agent does not see (deoptimized code, thread dumps, redefined classes). The
 * machine writes a log of them to the recording's directory (-Xlog:safepoint). The log is read
 * while it is written, so that a recording that is killed lacks only the latest ones.
 */
#ifndef ISPOT_PROBES_JAVA_PAUSES_H
#define ISPOT_PROBES_JAVA_PAUSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct java_pauses {
	const char *directory; /* directory of inproc.h; borrowed */
	struct {
		VEC(struct java_log)
	} logs;
	size_t next; /* index of the log that is read next */
};

struct java_log {
	pid_t pid;
	uid_t user;  /* user whose directory has the log */
	ino_t inode; /* inode of the file that was read last; 0: none yet */
	long at;     /* offset of the next byte to read */
};

/*
 * Returns the option for a java that knows it (9 or later, by the `release` file beside it), or
 * NULL if it does not or if the version is unknown. The caller frees the option.
 */
char *java_pauses_option(const char *program, const char *directory);

/*
 * Returns the command that makes a running machine begin or end the log; pid is its number in its
 * own namespace. The caller frees the command.
 */
char *java_pauses_log(pid_t pid, const char *directory, bool on);

/*
 * Parses a line of the log: when the pause of all threads ended, and how long it lasted. Returns
 * false for another line.
 */
bool java_pauses_parse(const char *line, uint64_t *end_ns, uint64_t *ns);

void java_pauses_init(struct java_pauses *p, const char *directory);
/* Visits the lines that were added since the last reading, at most a MiB of each log. */
void java_pauses_read(struct java_pauses *p,
		      void (*visit)(void *self, pid_t pid, uint64_t end_ns, uint64_t ns),
		      void *self);
void java_pauses_release(struct java_pauses *p);

#endif
