/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording of Java programs: their methods, measured inside of the program by an agent
 * (probes/java/agent), whose records go into the same file as any. No probe is put into the kernel,
 * so it takes no privilege but to be the program's user or root.
 */
#ifndef ISPOT_PROBES_JAVA_RECORD_H
#define ISPOT_PROBES_JAVA_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct identity;
struct launch;
struct launch_inherit;

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

/* ---- parts ---- */

/*
 * place.c: the directory of inproc.h, with the agent and what is preloaded in it. *path: to be
 * freed, and removed by temporary_remove(). -ENOTSUP: this ispot has no agent.
 */
int java_place_make(const struct java_recording *o, char **path, struct err *err);

/* launch.c: the command begins; *start_ns: before it did. Errors: launch_start()'s. */
int java_launch(struct launch *l, const struct java_recording *o, const char *directory,
		const struct launch_inherit *inherit, uint64_t *start_ns, struct err *err);
/* As a shell finds it; false: it is not there. */
bool java_find_program(const char *program, char path[PATH_MAX]);

/* attach.c: has a running machine load the agent. */
int java_attach(pid_t pid, const char *directory, struct err *err);
/* Has one that was attached to write the log of pauses.h, or end it. False: it does not. */
bool java_attach_log(pid_t pid, const char *directory, bool on);

#endif
