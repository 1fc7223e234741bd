/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another way to time calls than by the kernel's probes (probes/inject), in the same recording: the
 * session chooses the functions, watches the scheduler and owns the file; functions that it hands
 * over are timed by code in the processes, whose records come as a stream of their own. What the
 * other way cannot do after all goes back to the kernel's probes.
 */
#ifndef ISPOT_PROBES_SESSION_ENGINE_H
#define ISPOT_PROBES_SESSION_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct launch;
struct planned;
struct trace_writer;

/* So far. */
struct session_beside_sums {
	uint64_t calls, trapped_calls;	/* with those that sampling left out */
	uint64_t records, lost_records; /* handed to the writer; and what is not among those */
	uint64_t cost_ns;
	uint32_t functions;
	bool lost_most; /* so the cost is a guess, which is good for a budget alone */
};

/* All with ctx. The file's id of a function is its place in the session's plan. */
struct session_beside {
	void *ctx;
	/* Where the user chose functions: whether it is to have this one, as the kernel's probes
	 * cost more, or cannot time it. False: it cannot, either. */
	bool (*wants)(void *ctx, uint32_t id, const struct planned *p);
	/* Where ispot chooses: whether it can have one whose kernel probes are over the budget, by
	 * that many times. What all of them cost then is its own matter. */
	bool (*takes)(void *ctx, uint32_t id, const struct planned *p, double kernel_call_ns);
	/* The file's first lines are written, and these records are of that CPU. */
	void (*begin)(void *ctx, struct trace_writer *w, uint32_t cpu);
	/* Lets the held command execute, and patches it. On an error it runs as it is, is held
	 * still
	 * (!l->went), or, with l->ended, runs no more: -ESRCH then means that it has executed what
	 * it should. */
	int (*launch)(void *ctx, struct launch *l, char *const *argv, struct err *err);
	/* Patches a process that runs. -ESRCH: it has ended; -ENOENT: it has no file of those
	 * functions; -EALREADY: it has patches. is_patient: one that cannot be stopped now is
	 * waited for, up to seconds in which nothing is read; otherwise -EBUSY or -ETIMEDOUT. */
	int (*attach)(void *ctx, pid_t pid, bool is_patient, struct err *err);
	/* Why the function is not timed in any process, a clause; NULL: it is. */
	const char *(*left)(void *ctx, uint32_t id);
	/* Reads what there is, whether or not any process is patched. Returns after how long it
	 * wants to be called again. */
	uint64_t (*drain)(void *ctx);
	/* Lets threads go that were told to stand and did so too late, also of processes that are
	 * not patched after all. Drain does it, too. */
	void (*let_go)(void *ctx);
	/* The program is as it was, and all that was recorded is in the file. */
	void (*stop)(void *ctx);
	void (*sums)(void *ctx, struct session_beside_sums *sums);
};

#endif
