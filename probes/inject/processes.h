/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of an in-process recording: they are patched, checked while they run, and
 * restored. */
#ifndef ISPOT_PROBES_INJECT_PROCESSES_H
#define ISPOT_PROBES_INJECT_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/patched.h"

struct budget;
struct err;
struct inproc_drain;
struct inproc_region;
struct launch;

#define PROCESSES_TURN_NS 2000000 /* longest time between two reads of their rings */

struct processes {
	struct inproc_drain *drain;
	struct patched_functions *functions;
	struct patched_how how;
	/* No other recorder records what a process does after it has executed another program. */
	bool is_alone;
	/* Called with the region of a stopped process before it is patched. Returns 0 or -errno. */
	int (*watch)(void *ctx, pid_t pid, struct inproc_region *g);
	/* Called while the command stands at its program's first instruction, if it will run
	 * without patches. May be NULL. */
	void (*unpatched)(void *ctx, const struct err *why);
	void *ctx;
	struct {
		VEC(struct patched)
	} patched;
	pid_t pid; /* process that is being patched */
	uint64_t checked_ns, seccomp_checked_ns;
	const bool *given_up; /* functions that are being removed */
	bool could_not;	      /* some process could not be stopped for that */
};

/* is_patient: a process that cannot be stopped now is waited for, up to seconds. */
int processes_attach(struct processes *p, pid_t pid, bool is_patient, struct err *err);
/* Returns whether the process has patches of this recording: its own, or those of the process that
 * forked it. */
bool processes_has(const struct processes *p, pid_t pid);
/* Lets the held command execute its program, and patches it at the program's first instruction. On
 * an error the command is still held (!l->went), runs without patches, or has ended (l->ended). */
int processes_launch(struct processes *p, struct launch *l, char *const *argv,
		     const struct patched_program *program, struct err *err);
/* Called repeatedly. Checks for breakpoints of other tools, for programs that have locked
 * themselves up (seccomp), and for processes that have executed another program. */
void processes_check(struct processes *p, uint64_t now_ns);
/* Removes the patches of some functions from all processes. Returns false if a process still has
 * them. */
bool processes_unpatch(struct processes *p, const bool *functions);
/* Removes functions whose calls cost more than the budget, and writes that to the file. given_up:
 * room for each function. */
void processes_enforce_budget(struct processes *p, struct budget *b, bool *given_up,
			      uint64_t now_ns);
/* Called after the last read of the rings. Writes to the file which functions threads have passed
 * that were not removed. */
void processes_write_passed(struct processes *p, struct budget *b, bool *given_up);
/* Removes all patches from the processes and from those that they have forked. */
void processes_restore(struct processes *p);
/* Called after processes_restore() and inproc_drain_stop(). Reads the records that threads had
 * begun to write. */
void processes_drain_rest(struct processes *p);
void processes_release(struct processes *p);

#endif
