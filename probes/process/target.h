/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target of a recording: a command to launch, held before its exec until the probes are in, or
 * live processes.
 */
#ifndef ISPOT_PROBES_PROCESS_TARGET_H
#define ISPOT_PROBES_PROCESS_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;
struct identity;

struct launch {
	pid_t pid;     /* 0: not started */
	int go_fd;     /* writing a byte lets the child exec; closing it ends the child */
	int status_fd; /* reads the errno of a failed exec, or end of file */
	bool ended;
	uint64_t cpu_ns; /* of it and the children it waited for, once ended */
	int status;	 /* as waitpid gives it, once ended */
};

/* Settings that ispot changes for itself and a command must not inherit. */
struct launch_inherit {
	sigset_t signal_mask;
	struct sigaction on_pipe, on_large_file, on_child;
	struct rlimit files;
	bool output_is_ours;	     /* ispot writes to stdout: the command's goes to stderr */
	const struct identity *user; /* whom the command runs as; NULL: as ispot does */
};

struct pids {
	VEC(pid_t)
};

/* Before ispot changes anything. From then on children can be waited for. */
void launch_inherit_save(struct launch_inherit *inherit);
/* Restores ispot's own settings: a second recording finds them as the first did. */
void launch_inherit_restore(const struct launch_inherit *inherit);
/* Forks a child that waits. argv is execvp's. */
int launch_start(struct launch *l, char *const *argv, const struct launch_inherit *inherit,
		 struct err *err);
/* Lets it exec. A failed exec: -ENOENT with exit status 127, others with 126. */
int launch_exec(struct launch *l, char *const *argv, struct err *err);
/* The two halves of launch_exec(), for who traces the child: false: it is not there any more; then,
 * which waits until it has executed or failed, the error. */
bool launch_go(struct launch *l);
int launch_failure(struct launch *l, char *const *argv, struct err *err);
/* Looks, without waiting, whether it has ended. */
bool launch_poll(struct launch *l);
/* 0..255 as a shell says it: 128 + signal where one killed it. */
int launch_exit_status(const struct launch *l);
/* Ends a child that never got to exec, closes descriptors. A running command is left alone. */
void launch_release(struct launch *l);

/* Threads of a process from /proc/PID/task. -ESRCH: gone. */
int target_threads(pid_t pid, struct pids *tids);
/*
 * Finds, of the threads of a process that are older than a second, the two that got a CPU least
 * often, or fewer. Returns their number.
 */
#define TARGET_QUIET 2
uint32_t target_quiet_threads(pid_t pid, pid_t tids[TARGET_QUIET]);
/* Processes that its threads have started, and that live. */
void target_children(pid_t pid, struct pids *children);
int target_comm(pid_t pid, pid_t tid, char *buf, size_t n); /* 0 or -errno; no newline */
uint64_t target_memory_bytes(pid_t pid);		    /* resident; 0: gone */
uint64_t target_cpu_ns(pid_t pid); /* user and system, of all its threads; 0: gone */
bool target_alive(pid_t pid);	   /* and not a zombie */
/* When it began, in clock ticks since the machine did: no other process of its number began then.
 * 0: it is gone. */
uint64_t target_start_ticks(pid_t pid);
bool target_has_program(pid_t pid); /* a thread of the kernel has none */

#endif
