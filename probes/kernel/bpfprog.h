/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and attaches the BPF programs of a recording (probes/bpf/record.bpf.c). bpfprog.c is the
 * only file that includes libbpf. Needs CAP_BPF and CAP_PERFMON (root), and a kernel >= 5.10 with
 * BTF.
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

/* The counters of counted calls (probes/bpf/counters.h). */
struct bpfprog_counters {
	uint32_t n;	 /* number of counters; 0: none */
	uint32_t n_perf; /* how many of them, the first ones, are perf events; the others are the
			    task's */
	uint32_t period; /* one recorded call in so many is counted */
	uint8_t task[WIRE_COUNTERS_MAX]; /* enum wire_task_counter */
};

struct bpfprog_options {
	bool follow_children;
	size_t ring_bytes;	/* of the ring of each CPU */
	bool block_stacks;	/* record where threads wait */
	bool wait_copies;	/* by copies of copy_bytes and bpfprog_know_stack() */
	uint32_t stack_period;	/* a call stack every so many calls of a function; 0: none */
	uint32_t copy_bytes;	/* bytes of stack to copy and unwind; 0: stacks are walked */
	uint32_t stack_budget;	/* bytes of stacks that a CPU may write in 0.1 s */
	uint64_t slow_stack_ns; /* calls that last so long have a stack at their exit; 0: none */
	uint32_t period;	/* one call in so many of a thread and function; 0 and 1: all */
	bool sessions; /* load the program of uprobe sessions, too, if the kernel accepts it */
	struct bpfprog_counters counters;
	bool stamp_cycles;	 /* entries and exits have the cycle counter, too */
	unsigned kernel_version; /* KERNEL_VERSION() as in system.h */
};

/*
 * Loads the programs. -EPERM; -ENOTSUP: the kernel lacks BTF or BPF; or the error of the loader,
 * with a sentence.
 */
int bpfprog_open(struct bpfprog **b, const struct bpfprog_options *o, struct err *err);

/* Makes a ring. Returns its descriptor, which the caller owns, or -errno. */
int bpfprog_new_ring(size_t bytes);
/* From now on the programs on that CPU write into the ring. Returns 0 or -errno. */
int bpfprog_set_ring(struct bpfprog *b, uint32_t cpu, int fd);
/* Sets the event of a counter on a CPU. Returns 0 or -errno. */
int bpfprog_set_counter(struct bpfprog *b, uint32_t cpu, uint32_t counter, int fd);
/*
 * Sets the event of the cycle counter on a CPU, and the value that the counter had when the event
 * began. Returns 0 or -errno.
 */
int bpfprog_set_cycles(struct bpfprog *b, uint32_t cpu, int fd, uint64_t base);
int bpfprog_attach_scheduler(struct bpfprog *b, struct err *err);
/* NULL is fine. */
void bpfprog_detach_scheduler(struct bpfprog *b);

/*
 * Attaches the program for a class of points to a perf event of a dynamic event; call it once for
 * each dynamic event.
 */
int bpfprog_attach_event(struct bpfprog *b, enum point_class class, int event_fd, struct err *err);

/*
 * Returns the descriptor of the program of uprobe sessions, which is borrowed, or -1 if there is
 * none.
 */
int bpfprog_session(const struct bpfprog *b);

/* Adds a process to the targets; ran_ns is its CPU time so far. Returns 0 or -errno. */
int bpfprog_add_target(struct bpfprog *b, pid_t tgid, uint64_t ran_ns);
void bpfprog_set_ran(struct bpfprog *b, pid_t tgid, uint64_t ran_ns); /* of a target */
bool bpfprog_is_target(const struct bpfprog *b, pid_t tgid);
void bpfprog_targets(struct bpfprog *b, struct pids *tgids); /* appends the living ones */

/* Attaches the program that filters CPU samples to one of their events. */
int bpfprog_attach_sampler(struct bpfprog *b, int event_fd, struct err *err);
void bpfprog_sample(struct bpfprog *b, bool on);
void bpfprog_keep_samples(struct bpfprog *b, bool on);
/* Whether each fork of a process wakes the reader. */
void bpfprog_hold_children(struct bpfprog *b, bool on);

/*
 * Count the calls at POINT_COUNT points, whose ids begin at first_id. Setting first_id resets the
 * counts.
 */
void bpfprog_count_from(struct bpfprog *b, uint32_t first_id);
uint64_t bpfprog_count(const struct bpfprog *b, uint32_t id);

void bpfprog_record(struct bpfprog *b, bool on);
/* While muted, calls are not recorded; everything else is. */
void bpfprog_mute(struct bpfprog *b, bool muted);
/* From now on, records of switches and wakeups have the kernel's counts of the threads' switches.
 */
void bpfprog_count_switches(struct bpfprog *b);
/* Switches and wakeups have no records, and are counted, or have them again. */
void bpfprog_leave_switches_out(struct bpfprog *b, bool out);
/* Recording begins with the exec of this process. */
void bpfprog_record_from_exec(struct bpfprog *b, pid_t tgid);

/* Returns the totals so far of the n CPUs, by number; the caller frees them. */
struct wire_totals *bpfprog_totals_each(const struct bpfprog *b, uint32_t *n);
/*
 * Sums calls, times, switches, births and samples of all CPUs. Losses are only known per CPU, and 0
 * here.
 */
void bpfprog_totals(const struct bpfprog *b, struct wire_totals *sum);

/*
 * Sets the locations of the arguments of markers. Call it before the events that name the rows are
 * opened.
 */
int bpfprog_operands(struct bpfprog *b, const struct wire_operands *rows, size_t n,
		     struct err *err);
/* If the period is above 1, calls visit for every row of the sampling map. */
void bpfprog_sampled(const struct bpfprog *b,
		     void (*visit)(void *ctx, uint32_t tid, uint32_t id,
				   const struct wire_sampling *row),
		     void *ctx);

struct bpfprog_known_stack {
	uint32_t tgid, stack; /* stack is its number in the file */
	uint32_t n;
	const uint64_t *frames; /* the instruction, then return addresses outwards */
	const uint32_t *steps;	/* [frame]: the wire_step.next to it; [0] is unused */
};
/* From now on, threads that wait with this stack need no copy of it. */
void bpfprog_know_stack(struct bpfprog *b, const struct bpfprog_known_stack *k);
/*
 * Returns the number of frames of a stack, at most n, which are written innermost first; 0:
 * unknown.
 */
uint32_t bpfprog_stack(const struct bpfprog *b, uint32_t stack, uint64_t *frames, uint32_t n);

/* Deletes the rows of the sampling map, so that earlier calls do not count. */
void bpfprog_forget_sampled(struct bpfprog *b);

void bpfprog_free(struct bpfprog *b);

#endif
