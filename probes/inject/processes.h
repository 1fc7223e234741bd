/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a recording in process: patched, looked at while they run, and put back. */
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

#define PROCESSES_TURN_NS 2000000 /* between two readings of their rings, at most */

struct processes {
	struct inproc_drain *drain;
	struct patched_functions *functions;
	uint64_t ring_bytes;
	uint32_t period;
	/* Nobody else records what a process does once it has executed another program. */
	bool is_alone;
	/* Called with the region of a process that stands, before it is patched. 0 or -errno */
	int (*watch)(void *ctx, pid_t pid, struct inproc_region *g);
	void *ctx;
	struct {
		VEC(struct patched)
	} patched;
	pid_t pid; /* that is patched now */
	uint64_t looked_ns, looked_for_seccomp_ns;
	const bool *given_up; /* functions that are to be taken out now */
	bool could_not;	      /* stop a process to do so */
};

int processes_attach(struct processes *p, pid_t pid, struct err *err);
/*
 * The command that is held goes on, executes its program, and is patched where that begins. On an
 * error it is held still (!l->went), runs as it is, or has ended (l->ended).
 */
int processes_launch(struct processes *p, struct launch *l, char *const *argv,
		     const struct patched_program *program, struct err *err);
/* Every now and then: other tools' breakpoints, and programs that have locked themselves up. */
void processes_look(struct processes *p, uint64_t now_ns);
/* Takes the patches of some functions out of all of them; false: not everywhere. */
bool processes_take_out(struct processes *p, const bool *functions);
/* So are functions whose calls cost more than the budget, and the file says so. given_up: room for
 * each function. */
void processes_keep_budget(struct processes *p, struct budget *b, bool *given_up, uint64_t now_ns);
/* Takes all patches out of them, and of what they have forked. */
void processes_restore(struct processes *p);
/* Then, and when nothing more is wanted: reads what their threads had begun to write. */
void processes_drain_rest(struct processes *p);
void processes_release(struct processes *p);

#endif
