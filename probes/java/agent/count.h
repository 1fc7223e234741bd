/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What calls count, with `record --java -e`: each thread reads its own counters at a call's begin
 * and end, by one system call for all perf events and one for the numbers that the kernel keeps of
 * the thread. Takes no privilege where perf_event_paranoid lets users count their own code.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_COUNT_H
#define ISPOT_PROBES_JAVA_AGENT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/inproc/inproc.h"

struct ring_thread;

/* A line of the configuration, behind its first word: "task KIND" or "perf TYPE CONFIG CONFIG1
 * CONFIG2 USER KERNEL", the next counter each. */
void count_add(const char *words);
bool count_any(void);

/* A thread's own; all zero before its first call. */
struct count_thread {
	bool opened, is_known;
	int fds[INPROC_COUNTS_MAX]; /* [perf event]; the first leads the group */
	uint64_t values[INPROC_COUNTS_MAX];
};

/* Reads them. False: nothing is counted. */
bool count_read(struct count_thread *c, uint64_t values[INPROC_COUNTS_MAX]);
/* Puts what has changed since the records before these, ahead of an entry or exit. */
void count_write(struct ring_thread *t, struct count_thread *c, uint64_t time_ns,
		 const uint64_t values[INPROC_COUNTS_MAX]);
/* Closes its descriptors. */
void count_release(struct count_thread *c);

#endif
