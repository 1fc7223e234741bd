/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An engine beside the kernel's probes (probes/inject) in the same recording. The session chooses
 * the functions, watches the scheduler and owns the file. The functions that it hands over are
 * timed by code in the processes, and their records are a stream of their own. Functions that the
 * engine cannot time after all get kernel probes again.
 */
#ifndef ISPOT_PROBES_SESSION_ENGINE_H
#define ISPOT_PROBES_SESSION_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct drain_addresses;
struct drain_stacks;
struct dso;
struct err;
struct launch;
struct planned;
struct selection;
struct trace_writer;

/* The sums so far. */
struct session_beside_sums {
	uint64_t calls, trapped_calls; /* trapped: with those that sampling left out */
	uint64_t records;	       /* handed to the writer */
	uint64_t lost_records;	       /* dropped before that */
	uint64_t cost_ns;
	uint32_t functions;
	bool lost_most; /* most were dropped, so the cost is a guess that only suits a budget */
};

/* Called with the reason why a command will run unpatched. */
struct session_unpatched {
	void (*call)(void *ctx, const struct err *why);
	void *ctx;
};

/* The hooks of the engine; each is given ctx. A function's id is its index in the session's plan.
 */
struct session_beside {
	void *ctx;
	/*
	 * Selects functions that the engine can time, for a command whose functions the user did
	 * not choose: they are timed from its first instruction on. The first n_programs objects
	 * are programs. Of the functions that may block only those that take locks are selected.
	 */
	void (*choose)(void *ctx, struct selection *s, struct dso *const *objects, size_t n,
		       size_t n_programs);
	/* Adds a function that the user or choose() chose. Returns false if the engine cannot time
	 * it, or if the kernel's probes cost less. */
	bool (*add_chosen)(void *ctx, uint32_t id, const struct planned *p);
	/* Adds a function that ispot chose and whose kernel probes, at kernel_call_ns a call, are
	 * over the budget. Returns false if the engine cannot time it within its own budget. */
	bool (*add_costly)(void *ctx, uint32_t id, const struct planned *p, double kernel_call_ns);
	/* Called once the file has its first lines. The engine's records are those of this CPU. It
	 * adds arguments that are addresses, and call sites. */
	void (*begin)(void *ctx, struct trace_writer *w, uint32_t cpu,
		      struct drain_addresses *addresses, struct drain_stacks *sites);
	/*
	 * Patches the command, which waits before its exec, and lets it execute. After an error it
	 * runs unpatched, or still waits (!l->went), or has ended (l->ended): -ESRCH then means
	 * that it did execute its program. If it stood at its program's first instruction, and runs
	 * unpatched, unpatched() was called before it ran.
	 */
	int (*launch)(void *ctx, struct launch *l, char *const *argv,
		      const struct session_unpatched *unpatched, struct err *err);
	/*
	 * Patches a running process. Returns -ESRCH if it has ended, -ENOENT if it has mapped no
	 * file of these functions, -EALREADY if it has patches. is_patient: a process that cannot
	 * be stopped now is waited for, up to seconds in which nothing is read. Otherwise it
	 * returns -EBUSY or -ETIMEDOUT.
	 */
	int (*attach)(void *ctx, pid_t pid, bool is_patient, struct err *err);
	/* Drops a function that is timed in no process. Returns why as a clause, or NULL if it is
	 * timed. */
	const char *(*drop_untimed)(void *ctx, uint32_t id);
	/* Returns the arguments that are recorded of a function that it times, or NULL if there are
	 * none. */
	const struct arguments *(*arguments)(void *ctx, uint32_t id);
	/* Reads what is there, even if no process is patched. Returns the time until the next
	 * call. */
	uint64_t (*drain)(void *ctx);
	/* Detaches from threads that stopped too late for their patching, also in processes that
	 * are not patched after all. Drain does so, too. */
	void (*detach_late)(void *ctx);
	/* Restores the code of all processes. Every record is in the file then. */
	void (*stop)(void *ctx);
	void (*sums)(void *ctx, struct session_beside_sums *sums);
};

#endif
