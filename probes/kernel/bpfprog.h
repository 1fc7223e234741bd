/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BPF programs of a recording (probes/bpf/record.bpf.c), loaded and attached. bpfprog.c is
 * the one file that includes libbpf. Needs CAP_BPF and CAP_PERFMON (root), kernel >= 5.10 with BTF.
 */
#ifndef ISPOT_PROBES_KERNEL_BPFPROG_H
#define ISPOT_PROBES_KERNEL_BPFPROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/bpf/wire.h"
#include "probes/kernel/dynevent.h"

struct bpfprog;
struct err;
struct pids;
struct wire_operands;
struct wire_sampling;
struct wire_totals;

/* The counters that counted calls carry (probes/bpf/counters.h). */
struct bpfprog_counters {
	uint32_t n;	 /* 0: nothing is counted */
	uint32_t n_perf; /* the first of them are perf events, the others the task's own */
	uint32_t period; /* one recorded call in so many is counted */
	uint8_t task[WIRE_COUNTERS_MAX]; /* enum wire_task_counter */
};

struct bpfprog_options {
	bool follow_children;
	size_t ring_bytes;	/* of each CPU's ring */
	bool block_stacks;	/* note where threads wait */
	bool wait_copies;	/* by copies of copy_bytes and bpfprog_know_stack() */
	uint32_t stack_period;	/* every so many calls of a function one call stack; 0: none */
	uint32_t copy_bytes;	/* stacks are copies of so much, to be unwound; 0: walked */
	uint32_t stack_budget;	/* bytes of stacks that a CPU may write in 0.1 s */
	uint64_t slow_stack_ns; /* of calls that last so long a stack at their exit; 0: none */
	uint32_t period;	/* one call in so many of each thread and function; 0 and 1: all */
	bool sessions;		/* also the program of uprobe sessions, if the kernel takes it */
	struct bpfprog_counters counters;
	bool stamp_cycles;	 /* entries and exits also have the cycle counter */
	unsigned kernel_version; /* KERNEL_VERSION() as in system.h */
};

/* -EPERM, -ENOTSUP (no BTF, no BPF), or what the loader said, with its sentence. */
int bpfprog_open(struct bpfprog **b, const struct bpfprog_options *o, struct err *err);

/* A ring: its descriptor, the caller's, or -errno. */
int bpfprog_new_ring(size_t bytes);
/* From now on the programs write into it on that CPU. 0 or -errno. */
int bpfprog_set_ring(struct bpfprog *b, uint32_t cpu, int fd);
/* The event of a counter on a CPU. 0 or -errno. */
int bpfprog_set_counter(struct bpfprog *b, uint32_t cpu, uint32_t counter, int fd);
/* The event of the cycle counter on a CPU, and what the counter was when the event began. The same.
 */
int bpfprog_set_cycles(struct bpfprog *b, uint32_t cpu, int fd, uint64_t base);
int bpfprog_attach_scheduler(struct bpfprog *b, struct err *err);

/* The program of a point class onto one perf event of a dynamic event; once per dynamic event. */
int bpfprog_attach_event(struct bpfprog *b, enum point_class class, int event_fd, struct err *err);

/* The program of uprobe sessions: its descriptor, borrowed; -1: there is none. */
int bpfprog_session(const struct bpfprog *b);

/* ran_ns: CPU time of the process so far. 0 or -errno. */
int bpfprog_add_target(struct bpfprog *b, pid_t tgid, uint64_t ran_ns);
void bpfprog_set_ran(struct bpfprog *b, pid_t tgid, uint64_t ran_ns); /* of a target */
bool bpfprog_is_target(const struct bpfprog *b, pid_t tgid);
void bpfprog_targets(struct bpfprog *b, struct pids *tgids); /* all that live, appended */

/* The filter of CPU samples onto one of their events. */
int bpfprog_attach_sampler(struct bpfprog *b, int event_fd, struct err *err);
void bpfprog_sample(struct bpfprog *b, bool on);
void bpfprog_keep_samples(struct bpfprog *b, bool on);
/* Wake the reader at each fork of a process. */
void bpfprog_hold_children(struct bpfprog *b, bool on);

/* Calls of POINT_COUNT points, ids from first_id on; reset by setting first_id. */
void bpfprog_count_from(struct bpfprog *b, uint32_t first_id);
uint64_t bpfprog_count(const struct bpfprog *b, uint32_t id);

void bpfprog_record(struct bpfprog *b, bool on);
/* Calls leave no records, everything else does. */
void bpfprog_mute(struct bpfprog *b, bool muted);
/* Recording starts with the exec of this process. */
void bpfprog_record_from_exec(struct bpfprog *b, pid_t tgid);

/* Returns the totals so far of each CPU, by its number, n of them; the caller frees them. */
struct wire_totals *bpfprog_totals_each(const struct bpfprog *b, uint32_t *n);
/* of all: calls, times, switches and samples. Losses are of a CPU, and 0 here. */
void bpfprog_totals(const struct bpfprog *b, struct wire_totals *sum);

/* Where the arguments of markers are, before the events that name the rows are opened. */
int bpfprog_operands(struct bpfprog *b, const struct wire_operands *rows, size_t n,
		     struct err *err);
/* With a period above 1: every row of the sampling map. */
void bpfprog_sampled(const struct bpfprog *b,
		     void (*visit)(void *ctx, uint32_t tid, uint32_t id,
				   const struct wire_sampling *row),
		     void *ctx);

struct bpfprog_known_stack {
	uint32_t tgid, stack; /* its number in the file */
	uint32_t n;
	const uint64_t *frames; /* the instruction, return addresses outwards */
	const uint32_t *steps;	/* [frame]: to it, as wire_step's next; not of the first */
};
/* Threads that wait with that stack need no copy of it from now on. */
void bpfprog_know_stack(struct bpfprog *b, const struct bpfprog_known_stack *k);
/* Frames of a stack, innermost first, at most n; 0: unknown. */
uint32_t bpfprog_stack(const struct bpfprog *b, uint32_t stack, uint64_t *frames, uint32_t n);

/* Forgets those rows: what came before does not count. */
void bpfprog_forget_sampled(struct bpfprog *b);

void bpfprog_free(struct bpfprog *b);

#endif
