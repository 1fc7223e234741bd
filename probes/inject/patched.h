/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process in which functions are patched: what was written into it, and how this recorder, or a
 * later one if it was killed, removes the patches again. The memory that the process mapped stays,
 * as a thread may be in a stub at any time.
 */
#ifndef ISPOT_PROBES_INJECT_PATCHED_H
#define ISPOT_PROBES_INJECT_PATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/inject/injection.h"
#include "probes/patch/plan.h"

struct arguments;
struct dso;
struct dso_function;
struct err;
struct inproc_drain;
struct patched_prepared;
struct tracees;

#define PATCHED_NONE UINT32_MAX

/* A function that is to be patched, the same in all processes. */
struct patched_function {
	struct dso *dso;
	const struct dso_function *function;
	struct {
		VEC(struct patch_site)
	} sites;
	struct arguments *arguments; /* that are recorded of its calls; NULL: none */
	const char *why;  /* static clause, why it cannot be patched; NULL: it has its sites */
	const char *left; /* static, why it was skipped in some process; NULL: it was not */
	bool is_in;	  /* it was patched in some process */
	bool is_out; /* its calls cost too much, or kernel probes time it: it is patched in no more
		      * processes */
};

struct patched_functions {
	VEC(struct patched_function)
};

/* Removes the arguments that cannot be read where the function is patched. At a jump into another
 * function, the returned value is not there yet. Returns whether nothing is removed. */
bool patched_keep_arguments(struct arguments *a, const struct patch_site *sites, size_t n);

/* Tells the drain how many functions there are, and which arguments are recorded of them. */
void patched_functions_count(const struct patched_functions *functions, struct inproc_drain *d);
void patched_functions_release(struct patched_functions *functions);

struct patch {
	uint64_t at;
	uint8_t n;	/* bytes that the patch displaces; 0: it is not applied */
	uint8_t n_jump; /* bytes that the jump overwrites */
	uint8_t original[PATCH_JUMP_BYTES], jump[PATCH_JUMP_BYTES];
	/* The jump stands in padding that only a short jump reaches, so no thread returns behind
	 * it. */
	bool is_island;
	uint32_t function; /* index of the function, which is its id in records, too */
	bool is_in;
};

/* Identifies the file of a program. */
struct patched_program {
	uint64_t inode; /* 0: unknown */
	dev_t device;
};
/*
 * Returns the program that the process executes, without asking the program's file system, which
 * may not answer. Inode 0 means that the process has ended, or that ispot may not see its program.
 */
struct patched_program patched_program_of(pid_t pid);

struct patched {
	pid_t pid;
	struct injection injection;
	struct {
		VEC(struct patch)
	} patches;
	uint32_t region; /* index among the drain's regions; PATCHED_NONE: none */
	uint64_t region_inode;
	uint64_t stopped_ns; /* how long its threads were stopped */
	bool was_prepared;   /* most of its code was made before it was stopped */
	/* The start time and the program were read while the process was stopped. Another process
	 * with the same number has another start time. */
	uint64_t start_ticks;
	struct patched_program program;
	bool has_executed; /* another program since, which has no patches */
	bool has_ended;
};

/* How the calls of a process are recorded. */
struct patched_how {
	uint64_t ring_bytes;	   /* of each thread's ring; a power of two */
	uint64_t ring_memory_most; /* bytes that all rings together may keep; 0: no limit */
	uint32_t period;	   /* one call in this many is recorded; 1: every call */
	/* Functions that are called too often are taken out. Until they are, their calls pass
	 * without a record once many of them found a ring full, or the thread's budget used up
	 * (machine/blob.h). Not with a period over 1, nor for programs that may lock their memory,
	 * as each thread's counts take pages. */
	bool gives_up;
	struct blob_budget budget; /* of each thread, with gives_up */
};

/*
 * Prepares what can be made before the threads are stopped, so that they are stopped for less time:
 * the addresses of the arenas, and their code. Returns NULL if nothing can be prepared. The result
 * is used if the process has the same mappings once it is stopped.
 */
struct patched_prepared *patched_prepare(pid_t pid, struct patched_functions *functions,
					 const struct patched_how *how);
void patched_prepared_free(struct patched_prepared *d);
/*
 * Patches a process whose threads are stopped. They run again when this returns 0; after an error
 * they are still stopped. d: its contents are moved out, or NULL if nothing was prepared. region:
 * called with the shared memory before anything is patched; a result other than 0 ends this with
 * that error.
 */
int patched_begin(struct patched *p, struct tracees *t, struct patched_functions *functions,
		  const struct patched_how *how, struct patched_prepared *d,
		  int (*region)(void *ctx, int fd, struct err *err), void *ctx, struct err *err);
/* Removes the patches from a process that has them: this one, or one that it forked. Returns false
 * if the process could not be stopped and still has them. */
bool patched_restore(const struct patched *p, pid_t pid);
/* Removes the patches from a stopped process. Returns the number of places that another tool has
 * changed, which are left as they are. */
uint64_t patched_restore_stopped(const struct patched *p, const struct tracees *t);
/*
 * Another tool may have set a breakpoint on the first byte of a jump, and will write the file's
 * byte there when it removes the breakpoint. So the rest of the jump is restored now; otherwise
 * that part of the jump would remain. Called repeatedly. Returns a function to which this happened,
 * or PATCHED_NONE.
 */
uint32_t patched_yield_to_breakpoints(const struct patched *p);
/* Notes in an arena that no jump leads there any more. */
void patched_clear_mark(const struct tracees *t, uint64_t arena);
/* Returns the inode of the region that the process maps; 0: none. */
uint64_t patched_region_in(pid_t pid);
/* Returns whether the process maps this one's region. */
bool patched_shares(const struct patched *p, pid_t pid);
/* Sorts the patches by address, as patched_restore_stopped() requires. */
void patched_sort(struct patched *p);
void patched_release(struct patched *p);

#endif
