/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the rings to the file: translates what the BPF programs wrote into
 * trace records, CPU by CPU, places every loss, and notes the mappings of files not seen before.
 * After drain_init nothing here allocates.
 */
#ifndef ISPOT_PROBES_DRAIN_DRAIN_H
#define ISPOT_PROBES_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/bpf/wire.h"
#include "probes/drain/addresses.h"
#include "probes/drain/stacks.h"
#include "probes/drain/takers.h"
#include "trace/waiting.h"

struct arguments;
struct bpfprog;
struct keep;
struct keep_cost;
struct map;
struct ringbufs;
struct rings;
struct trace_writer;

#define DRAIN_MAPPINGS_MAX 1024
#define DRAIN_PATH_MAX	   256

/* A file that a process of the target has just mapped executable. */
struct drain_mapping {
	pid_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t address, length, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	char path[DRAIN_PATH_MAX]; /* a longer one is cut off */
};

/* A process that one of the target's has made. */
struct drain_fork {
	uint64_t time_ns;
	pid_t parent, child;
};

/* A process that lives on, without this thread. */
struct drain_bereft {
	pid_t pid, tid;
};

#define DRAIN_FORKS_MAX 1024
#define DRAIN_EXECS_MAX 256
#define DRAIN_ENDED_MAX 1024

/* The parts of the entry or exit that is this thread's next record of a call. */
struct drain_ahead {
	uint32_t tid;
	uint32_t stack;	       /* id, 0: none */
	struct wire_args args; /* of an exit: the return value; h.tid 0: none */
};

/* Threads that are preempted in a probe at once, of a CPU: a further one takes the place of
 * another. */
#define DRAIN_AHEAD_MAX 64

struct drain_cpu {
	uint64_t last_ns;	   /* of this CPU's newest record, read or lost */
	uint64_t told_lost;	   /* records lost there, by its records of losses */
	struct drain_ahead *ahead; /* [n_ahead], of DRAIN_AHEAD_MAX */
	uint32_t n_ahead;
	uint32_t wait_stack, wait_stack_tid; /* stack id, 0 none: of this thread's next switch */
};

struct drain {
	struct trace_writer *writer;
	const struct bpfprog *programs; /* says which processes are the target's */
	struct drain_cpu *cpus;		/* [cpu number] */
	uint8_t *targets; /* bit by pid: was one when its mappings were made, if it lives or not */
	uint32_t n_cpus;
	uint32_t n_counters, n_perf_counters; /* values of a counted call; the first of them */
	bool stamps;	/* calls end with the cycle counter: in the file it is counter n_counters */
	bool narrow_sp; /* stack pointers in the file have 32 bits, as those of other records */
	uint64_t entries;		    /* of calls */
	uint64_t *calls_of;		    /* [function id]: entries read */
	const struct arguments **arguments; /* [function id]: recorded ones; NULL: none */
	uint32_t n_functions;
	struct drain_ahead *aheads;	/* of all CPUs */
	uint64_t aheads_dropped;	/* another thread took their place */
	uint64_t calls;			/* entries and exits read */
	uint64_t lost;			/* records that the losses in the file are of */
	uint64_t waits[WAIT_KINDS];	/* threads that left a CPU to wait, by enum wait_kind */
	uint64_t sample_ns;		/* that a sample stands for */
	int error;			/* the writer's sticky error, 0: none */
	struct drain_mapping *mappings; /* [DRAIN_MAPPINGS_MAX]: taken and reset by the owner */
	struct drain_fork forks[DRAIN_FORKS_MAX]; /* the same */
	size_t n_forks;
	struct drain_takers takers;
	/* processes that became another program: the same */
	pid_t execs[DRAIN_EXECS_MAX];
	size_t n_execs;
	/* processes of which one of these threads has ended: the same */
	const struct map *watched;
	struct drain_bereft bereft[DRAIN_EXECS_MAX];
	size_t n_bereft;
	pid_t ended[DRAIN_ENDED_MAX]; /* processes: the same; further ones are not told */
	size_t n_ended;
	size_t n_mappings;
	struct keep_cost *costs; /* [function id], for keep */
	struct keep *keep;	 /* calls that are too short to be written; NULL: each is */
	struct drain_stacks stacks;
	struct drain_addresses addresses;
	uint64_t finished_ns;
	uint32_t first_cpu;	  /* one that has a ring */
	bool mappings_overflowed; /* more than fit: look at /proc instead */
	uint64_t mappings_lost;	  /* so far: that did not fit here, or in their ring */
	uint64_t mappings_told;	  /* of them, those that found no room in the ring */
};

void drain_init(struct drain *d, struct trace_writer *w, const struct bpfprog *programs,
		uint32_t n_cpus);
/* Only calls that last so long are written from now on, the rest is summed up by drain_finish(). */
void drain_keep_slower(struct drain *d, uint64_t slower_ns);
/* Notes from now on which files the process maps. */
void drain_add_target(struct drain *d, pid_t pid);
/* It has ended, and its mappings were read: the next process of that number may be any. */
void drain_forget_target(struct drain *d, pid_t pid);
/* Ids below n are counted from now on. */
void drain_count_functions(struct drain *d, uint32_t n);
/*
 * Starts the recording: losses until now were the calibration's, later losses are not from before
 * now.
 */
void drain_start(struct drain *d, uint64_t now_ns);
/* The CPU was off-line until then, so nothing of it was lost before. */
void drain_add_cpu(struct drain *d, uint32_t cpu, uint64_t since_ns);
/* Everything that is in the rings now, and in those of the kernel's mmap events. 0, or the writer's
 * error. */
int drain_run(struct drain *d, struct ringbufs *rings, struct rings *mappings);
void drain_mappings(struct drain *d, struct rings *mappings);
/* After the last run: losses that no record of a ring reported (design fact 10), of CPUs that never
 * had one, too. */
void drain_finish(struct drain *d, struct ringbufs *rings, uint64_t now_ns);
void drain_release(struct drain *d);

#endif
