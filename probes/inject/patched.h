/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process some of whose functions are patched: what was put into it, and how that is taken out
 * again, by this recorder or, if it was killed, by a later one. The memory that it was given stays:
 * a thread may be in a stub at any time.
 */
#ifndef ISPOT_PROBES_INJECT_PATCHED_H
#define ISPOT_PROBES_INJECT_PATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/injection.h"
#include "probes/patch/plan.h"

struct dso;
struct dso_function;
struct err;
struct patched_draft;
struct tracees;

#define PATCHED_NONE UINT32_MAX

/* One that is to be patched, the same in all processes. */
struct patched_function {
	struct dso *dso;
	const struct dso_function *function;
	struct {
		VEC(struct patch_site)
	} sites;
	const char *why;  /* static, a clause: why it cannot be patched; NULL: it has its sites */
	const char *left; /* why it was left alone in some process, static; NULL: it was not */
	bool is_in;	  /* it was patched in some process */
};

struct patched_functions {
	VEC(struct patched_function)
};

struct patch {
	uint64_t at;
	uint8_t n;	/* of the bytes that it displaces; 0: it is left alone */
	uint8_t n_jump; /* of those that are written over */
	uint8_t original[PATCH_JUMP_BYTES], jump[PATCH_JUMP_BYTES];
	bool is_island;	   /* padding, where only a short jump leads: nobody returns behind it */
	uint32_t function; /* its index, which is its id in records, too */
	bool is_in;
};

/* The file of a program. */
struct patched_program {
	uint64_t inode; /* 0: not known */
	dev_t device;
};
/*
 * Returns what the process executes, without asking its file system, which may not answer. Inode 0:
 * the process has ended, or is not ispot's to see.
 */
struct patched_program patched_program_of(pid_t pid);

struct patched {
	pid_t pid;
	struct injection injection;
	struct {
		VEC(struct patch)
	} patches;
	uint32_t region; /* its index among the drain's; PATCHED_NONE: it has none */
	uint64_t region_inode;
	uint64_t stopped_ns; /* for so long its threads stood */
	bool is_drafted;     /* most of it was made before */
	/* This and what it executes were read while it stood. Another process of its number began
	 * at another time. */
	uint64_t start_ticks;
	struct patched_program program;
	bool has_executed; /* another one since, which has no patches */
	bool has_ended;
};

/*
 * What can be made of a process before its threads stand, so that they stand for less: where its
 * arenas will be, and their code. NULL: nothing of it. It is used if the process maps the same when
 * it stands.
 */
struct patched_draft *patched_draft_new(pid_t pid, struct patched_functions *functions,
					uint64_t ring_bytes, uint32_t period);
void patched_draft_free(struct patched_draft *d);
/*
 * The threads are stopped, and run when this returns. d: used up; NULL: there is none. region:
 * called when the shared memory is there, before anything is patched; what it returns other than 0
 * ends it. period: one call in so many is recorded; 1: each.
 */
int patched_begin(struct patched *p, struct tracees *t, struct patched_functions *functions,
		  uint64_t ring_bytes, uint32_t period, struct patched_draft *d,
		  int (*region)(void *ctx, int fd, struct err *err), void *ctx, struct err *err);
/* Takes the patches out of a process that has them: this one, or one that it forked. False: it has
 * them still. */
bool patched_restore(const struct patched *p, pid_t pid);
/* The same of one that is stopped. Returns how many places have been changed by somebody else, and
 * are left as they are. */
uint64_t patched_put_back(const struct patched *p, const struct tracees *t);
/*
 * Where another tool has set a breakpoint on a jump, which it will take out by writing the file's
 * byte there, the rest of the jump makes way: otherwise half of it would stay. Called again and
 * again. Returns a function of which that was so, or PATCHED_NONE.
 */
uint32_t patched_make_way(const struct patched *p);
/* Nothing of an arena's leads there any more. */
void patched_clear_mark(const struct tracees *t, uint64_t arena);
/* Whether that process has this one's region. */
bool patched_shares(const struct patched *p, pid_t pid);
/* By address, as patched_put_back() wants them. */
void patched_sort(struct patched *p);
void patched_release(struct patched *p);

#endif
