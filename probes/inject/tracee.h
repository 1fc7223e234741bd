/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process whose threads are stopped (ptrace), and what is read, written and run in it meanwhile.
 * It is never left in a state that takes the recorder to go on: where the recorder is killed the
 * kernel lets all threads go, and what they were made to run returns to where they were.
 */
#ifndef ISPOT_PROBES_INJECT_TRACEE_H
#define ISPOT_PROBES_INJECT_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;

#define TRACEE_PATIENCE_NS 1000000000ull /* for a thread to come to a mark */

struct tracee {
	pid_t tid;
	int signal;	  /* that it was about to get, to be passed on; 0: none */
	bool is_stopping; /* it was stopped by the recorder, not by a signal */
	bool gone;
};

struct tracee_blocks {
	uint64_t start, end;
};

struct tracees {
	pid_t pid;
	int memory; /* of the process: /proc/PID/mem */
	struct {
		VEC(struct tracee)
	} threads;
	struct tracee *runner; /* of a detour */
	struct {
		VEC(struct tracee_blocks)
	} blocks; /* of earlier recordings: %gs may lie there */
};

/*
 * All its threads. -EPERM, -EACCES: it is not the user's to stop, or has another tracer; -ESRCH:
 * gone; -ETIMEDOUT: a thread waits in the kernel; -EBUSY: another process uses its memory, too.
 * Both of these are tried for seconds, in between it runs.
 */
int tracees_stop(struct tracees *t, pid_t pid, struct err *err);
/* A command that waits to be executed. */
int tracees_seize_command(struct tracees *t, pid_t pid, struct err *err);
/* It goes on, and is stopped once it has executed a program, or the next one. -ESRCH: it has ended,
 * *status is waitpid()'s. */
int tracees_wait_exec(struct tracees *t, int *status, struct err *err);
/* They all run again. Idempotent. */
void tracees_let_go(struct tracees *t);
/* So do those that had not stopped by then and have since, whichever process is theirs. Called
 * again and again. False: there are no more. */
bool tracees_let_late_go(void);

/* 0 or -errno. */
int tracees_read(const struct tracees *t, uint64_t at, void *bytes, size_t n);
int tracees_write(const struct tracees *t, uint64_t at, const void *bytes, size_t n);

/* What a thread would do next, and its stack. */
int tracee_where(const struct tracee *t, uint64_t *ip, uint64_t *sp);
/* Whether nobody uses its %gs but recordings before this one. */
bool tracee_has_free_gs(const struct tracees *all, const struct tracee *t);
/* The word at %fs:0, by which a thread knows its block; 0: it has no %fs. */
uint64_t tracee_key(const struct tracees *all, const struct tracee *t);
/* The thread's block, or that of all that have none yet; and, where %fs has none, what it finds at
 * 0. */
int tracee_set_bases(const struct tracee *t, uint64_t gs, uint64_t fs_if_none);

/*
 * Code of one thread, beside its own: it begins with that thread's registers as they are, saves
 * those that it changes, and ends with them and a jump to what tracees_resume_at() says. Written
 * to the end before it begins, it needs nobody who waits for it.
 */
int tracees_resume_at(struct tracees *t, uint64_t *resume, struct err *err);
int tracees_begin_detour(struct tracees *t, uint64_t code, struct err *err);
/* It runs until it has called getpid() with tag as second argument: *value is the first. */
int tracees_run_to_mark(struct tracees *t, uint64_t tag, uint64_t patience_ns, int64_t *value,
			struct err *err);

#endif
