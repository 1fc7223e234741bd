/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process whose threads are stopped (ptrace), and what is read, written and run in it meanwhile.
 * The process never depends on the recorder to continue: if the recorder is killed, the kernel
 * releases all threads, and code that they were made to run returns to where they were.
 */
#ifndef ISPOT_PROBES_INJECT_TRACEE_H
#define ISPOT_PROBES_INJECT_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/machine/registers.h"

struct err;

#define TRACEE_PATIENCE_NS 1000000000ull /* longest wait for a thread to reach a mark */

struct tracee {
	pid_t tid;
	int signal;	  /* signal that was about to be delivered, to be passed on; 0: none */
	bool is_stopping; /* the recorder stopped it, not a signal */
	bool gone;
};

struct tracee_blocks {
	uint64_t start, end;
};

struct tracees {
	pid_t pid;
	bool is_running; /* its threads run: the command has not executed its program yet */
	int memory;	 /* descriptor of /proc/PID/mem */
	struct {
		VEC(struct tracee)
	} threads;
	struct tracee *runner; /* the thread that runs a detour */
	struct registers before_detour;
	struct {
		VEC(struct tracee_blocks)
	} blocks; /* blocks of earlier recordings, to which %gs may still point */
};

/*
 * Stops all threads. Returns -EPERM or -EACCES if the user may not stop the process or it has
 * another tracer, -ESRCH if it has ended, -ETIMEDOUT if a thread waits in the kernel, and -EBUSY if
 * another process uses the same memory. In the last two cases it tries again for seconds; the
 * process runs in between.
 */
int tracees_stop(struct tracees *t, pid_t pid, struct err *err);
/* Stops the threads of a process whose first thread is stopped already: constructors of libraries
 * may have started some. */
int tracees_stop_rest(struct tracees *t, struct err *err);
/* The same as tracees_stop(), but tries once. */
int tracees_stop_now(struct tracees *t, pid_t pid, struct err *err);
/* Attaches to a command that waits to be executed. */
int tracees_seize_command(struct tracees *t, pid_t pid, struct err *err);
/*
 * Lets the command, and what it has forked, run until one of them has executed a program, or the
 * next one, and stops it there: t->pid is its number. Returns -ESRCH if all of them have ended, and
 * -ETIMEDOUT if none has executed one until then.
 * *command_status: as waitpid() returns it, if the command itself has ended.
 */
int tracees_wait_exec(struct tracees *t, uint64_t until_ns, int *command_status, struct err *err);
/* Keeps only the process that has executed the program. The others run on untraced. */
int tracees_follow_no_more(struct tracees *t, struct err *err);
/* Lets all threads run again. Idempotent. */
void tracees_detach(struct tracees *t);
/* Lets threads run that stopped only after tracees_detach(), of any process. Called repeatedly.
 * Returns false if there are no more of them. */
bool tracees_detach_late(void);

/* Return 0 or -errno. */
int tracees_read(const struct tracees *t, uint64_t at, void *bytes, size_t n);
int tracees_write(const struct tracees *t, uint64_t at, const void *bytes, size_t n);

/* Gets the address of the thread's next instruction, and its stack pointer. */
int tracee_position(const struct tracee *t, uint64_t *ip, uint64_t *sp);
/* Returns whether the register that leads to a thread's block (%gs) is unused, or used only by
 * earlier recordings. */
bool tracee_has_free_block(const struct tracees *all, const struct tracee *t);
/* Returns the key by which a thread finds its block: the word at %fs:0 or, on aarch64, tpidr_el0.
 * 0: the thread has no local storage. */
uint64_t tracee_key(const struct tracees *all, const struct tracee *t);
/* Points %gs to the thread's block, or to the block that all threads without one share. If the
 * thread has no local storage, sets its base. On aarch64 it does nothing. */
int tracee_set_block(const struct tracee *t, uint64_t block, uint64_t thread_if_none);

/*
 * A detour is code that one thread runs apart from its own code. It begins with the thread's
 * registers as they are, saves those that it changes, restores them at its end, and jumps to the
 * address from tracees_resume_at(). All of it is written before it begins, so it can finish without
 * the recorder.
 */
int tracees_resume_at(struct tracees *t, uint64_t *resume, struct err *err);
int tracees_begin_detour(struct tracees *t, uint64_t code, struct err *err);
/* Puts the thread back at once, whatever is left of the detour. */
int tracees_end_detour(struct tracees *t, struct err *err);
/* Lets the thread run until it has called getpid() with tag as the second argument. *value: the
 * first argument. */
int tracees_run_to_mark(struct tracees *t, uint64_t tag, uint64_t patience_ns, int64_t *value,
			struct err *err);

#endif
