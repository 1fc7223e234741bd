/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording of Java programs: an agent inside the program (probes/java/agent) measures its
 * methods, and the records go into the same kind of file as any. The recorder needs only to be the
 * program's user or root, because the kernel probes no function. As root it also records the
 * scheduler (switches.h).
 */
#ifndef ISPOT_PROBES_JAVA_RECORD_H
#define ISPOT_PROBES_JAVA_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct identity;
struct launch_inherit;
struct pmu_list;

struct java_recording {
	const char *const *patterns; /* see choose.h; none: what the program synchronizes */
	size_t n_patterns;
	char *const *argv; /* the command, or NULL */
	const pid_t *pids; /* running Java machines */
	size_t n_pids;
	const char *output, *command, *options, *version;
	/* the user that runs the command; NULL: the same as ispot */
	const struct identity *user;
	uint64_t max_bytes, duration_ns; /* 0: no limit */
	uint64_t ring_bytes;		 /* bytes of a thread's ring; 0: the default */
	/* shorter calls are only added up; 0: all calls are written */
	uint64_t keep_slower_ns;
	const struct pmu_list *counted; /* what calls count, perf events first; NULL: nothing */
	/* calls that last at least this long have their stacks recorded; 0: none */
	uint64_t slow_stack_ns;
};

struct java_result {
	uint64_t calls, lost, machines, threads, pauses, file_bytes;
	uint32_t functions; /* includes synchronized blocks */
	int exit_status;
	const char *reason;
};

/* Runs the recording to its end. */
int java_record(const struct java_recording *o, struct java_result *result, struct err *err);

#endif
