/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target of a recording: a command to launch, which waits before its exec until the probes are
 * in place, or running processes.
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
	pid_t pid; /* 0: not started */
	/* the process that has executed the program, maybe a wrapper's child; 0: none yet */
	pid_t program;
	int go_fd;     /* writing a byte lets the child exec; closing it ends the child */
	int status_fd; /* reads the errno of a failed exec, or end of file */
	bool went;     /* it was let go */
	bool ended;
	/* of the command and the children that it waited for; set when it has ended */
	uint64_t cpu_ns;
	int status; /* as from waitpid(); set when it has ended */
};

/* Settings that ispot changes for itself and that a command must not inherit. */
struct launch_inherit {
	sigset_t signal_mask;
	struct sigaction on_pipe, on_large_file, on_child;
	struct rlimit files;
	int nice;
	/* ispot writes to stdout, so the command's output goes to stderr */
	bool output_is_ours;
	const struct identity *user; /* the user that runs the command; NULL: the same as ispot */
};

struct pids {
	VEC(pid_t)
};

/* Saves the settings before ispot changes any. Children can be waited for from then on, and ispot
 * comes before programs of the same nice value, if it may. */
void launch_inherit_save(struct launch_inherit *inherit);
/* Restores ispot's own settings, so that a second recording finds them as the first did. */
void launch_inherit_restore(const struct launch_inherit *inherit);
/* Forks a child that waits. argv is as for execvp(). */
int launch_start(struct launch *l, char *const *argv, const struct launch_inherit *inherit,
		 struct err *err);
/*
 * Lets the child exec. A failed exec returns -ENOENT with exit status 127, or another error with
 * 126.
 */
int launch_exec(struct launch *l, char *const *argv, struct err *err);
/*
 * The two halves of launch_exec(), for a caller that traces the child. launch_go() returns false if
 * the child is gone. launch_failure() waits until the child has executed or failed, and returns the
 * error.
 */
bool launch_go(struct launch *l);
int launch_failure(struct launch *l, char *const *argv, struct err *err);
/* Checks, without waiting, whether the command has ended. */
bool launch_poll(struct launch *l);
/* Returns 0..255 as a shell would: 128 + signal if a signal killed the command. */
int launch_exit_status(const struct launch *l);
/*
 * Ends a child that never reached its exec, and closes descriptors. A running command is left
 * alone.
 */
void launch_release(struct launch *l);

/* Lists the threads of a process from /proc/PID/task. -ESRCH: the process is gone. */
int target_threads(pid_t pid, struct pids *tids);
/*
 * Finds, of the threads of a process that are older than a second, the two that got a CPU least
 * often, or fewer if there are not two. Returns their number.
 */
#define TARGET_QUIET 2
uint32_t target_quiet_threads(pid_t pid, pid_t tids[TARGET_QUIET]);
/* Lists the living processes that the threads of pid have started. */
void target_children(pid_t pid, struct pids *children);
int target_comm(pid_t pid, pid_t tid, char *buf, size_t n); /* 0 or -errno; buf has no newline */
/* resident memory; 0: the process is gone */
uint64_t target_memory_bytes(pid_t pid);
uint64_t target_cpu_ns(pid_t pid); /* user and system time of all its threads; 0: gone */
bool target_alive(pid_t pid);	   /* false also for a zombie */
/*
 * Returns when the process started, in clock ticks since boot, which distinguishes it from other
 * processes of its number. Returns 0 if it is gone.
 */
uint64_t target_start_ticks(pid_t pid);
bool target_has_program(pid_t pid); /* a kernel thread has no program */

#endif
