/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording of Java programs: their methods, measured inside of the program by an agent
 * (probes/java/agent), whose records go into the same file as any. That takes no privilege but to
 * be the program's user or root, for no function is probed through the kernel. As root the
 * scheduler's records are in the file, too (switches.h).
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
	const char *const *patterns; /* choose.h; none: what is synchronized in the program */
	size_t n_patterns;
	char *const *argv; /* the command; NULL: none */
	const pid_t *pids; /* running Java machines */
	size_t n_pids;
	const char *output, *command, *options, *version;
	const struct identity *user;	 /* whom the command runs as; NULL: as ispot does */
	uint64_t max_bytes, duration_ns; /* 0: no bound */
	uint64_t ring_bytes;		 /* of a thread; 0: the default */
	uint64_t keep_slower_ns;	 /* shorter calls are summed up; 0: all are written */
	const struct pmu_list *counted;	 /* what calls count, perf events first; NULL: nothing */
	uint64_t slow_stack_ns; /* calls that last as long have their stacks taken; 0: none */
};

struct java_result {
	uint64_t calls, lost, machines, threads, pauses, file_bytes;
	uint32_t functions; /* and blocks */
	int exit_status;
	const char *reason;
};

/* Runs to the end. */
int java_record(const struct java_recording *o, struct java_result *result, struct err *err);

#endif
