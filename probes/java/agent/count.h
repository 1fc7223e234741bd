/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts events of calls (`record --java -e`). Each thread reads its own counters at the begin and
 * end of a call, with one system call for all perf events and one for what the kernel counts of
 * each thread. Users need no privilege if perf_event_paranoid lets them count their own code.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_COUNT_H
#define ISPOT_PROBES_JAVA_AGENT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/inproc/inproc.h"

struct ring_thread;

/* Adds the next counter from a line of the configuration, after its first word: "task KIND" or
 * "perf TYPE CONFIG CONFIG1 CONFIG2 USER KERNEL". */
void count_add(const char *words);
bool count_any(void);

/* The counters of a thread. All members are zero before its first call. */
struct count_thread {
	bool opened, is_known;
	int fds[INPROC_COUNTS_MAX]; /* [perf event]; the first one leads the group */
	uint64_t values[INPROC_COUNTS_MAX];
};

/* Reads the counters. Returns false if nothing is counted. */
bool count_read(struct count_thread *c, uint64_t values[INPROC_COUNTS_MAX]);
/* Writes the values that have changed since the last time. Call it before the entry or exit is
 * written. */
void count_write(struct ring_thread *t, struct count_thread *c, uint64_t time_ns,
		 const uint64_t values[INPROC_COUNTS_MAX]);
/* Closes its descriptors. */
void count_release(struct count_thread *c);

#endif
