/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the rings to the file: translates the records of the BPF programs into those of the trace,
 * CPU by CPU. It writes a record for every loss, at the loss's place in time, and notes mappings of
 * files that it has not seen before. Nothing here allocates after drain_init().
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
	char path[DRAIN_PATH_MAX]; /* a longer path is cut off */
};

/* A child of one of the target's processes. */
struct drain_fork {
	uint64_t time_ns;
	pid_t parent, child;
};

/* A process that lives on after this thread has ended. */
struct drain_bereft {
	pid_t pid, tid;
};

#define DRAIN_FORKS_MAX 1024
#define DRAIN_EXECS_MAX 256
#define DRAIN_ENDED_MAX 1024

/* The stack and arguments that belong to the thread's next entry or exit. */
struct drain_ahead {
	uint32_t tid;
	uint32_t stack;	       /* its id; 0: none */
	struct wire_args args; /* for an exit, the return value; h.tid 0: none */
};

/* How many threads of a CPU may be preempted in a probe at once. A further thread takes the place
 * of another, whose parts are dropped. */
#define DRAIN_AHEAD_MAX 64

struct drain_cpu {
	uint64_t last_ns;	   /* time of this CPU's newest record, read or lost */
	uint64_t told_lost;	   /* records lost here, as far as its records of losses say */
	struct drain_ahead *ahead; /* [n_ahead], room for DRAIN_AHEAD_MAX */
	uint32_t n_ahead;
	uint32_t wait_stack, wait_stack_tid; /* stack of the thread's next switch; 0: none */
};

struct drain {
	struct trace_writer *writer;
	const struct bpfprog *programs; /* knows which processes belong to the target */
	struct drain_cpu *cpus;		/* [cpu number] */
	uint8_t *targets; /* bit [pid]: the process was a target when it made its mappings */
	uint32_t n_cpus;
	uint32_t n_counters, n_perf_counters; /* values of a counted call; of perf events */
	bool stamps; /* calls end with the cycle counter, which is counter n_counters in the file */
	bool narrow_sp;	    /* stack pointers in the file have 32 bits, as of other producers */
	uint64_t entries;   /* of calls so far */
	uint64_t *calls_of; /* [function id]: entries read */
	const struct arguments **arguments; /* [function id]: the recorded arguments; NULL: none */
	uint32_t n_functions;
	struct drain_ahead *aheads;	/* the memory of all CPUs' `ahead` */
	uint64_t aheads_dropped;	/* because another thread took their place */
	uint64_t calls;			/* entries and exits that were read */
	uint64_t lost;			/* records that are lost, as the file says */
	uint64_t waits[WAIT_KINDS];	/* threads that left a CPU to wait, by enum wait_kind */
	uint64_t sample_ns;		/* the time that one sample stands for */
	int error;			/* the writer's first error; 0: none */
	struct drain_mapping *mappings; /* [DRAIN_MAPPINGS_MAX]; the owner empties the lists */
	struct drain_fork forks[DRAIN_FORKS_MAX];
	size_t n_forks;
	struct drain_takers takers;
	/* processes that became another program */
	pid_t execs[DRAIN_EXECS_MAX];
	size_t n_execs;
	/* processes that live on after one of these threads has ended */
	const struct map *watched;
	struct drain_bereft bereft[DRAIN_EXECS_MAX];
	size_t n_bereft;
	pid_t ended[DRAIN_ENDED_MAX]; /* processes; if there are more, they are missing here */
	size_t n_ended;
	size_t n_mappings;
	struct keep_cost *costs; /* [function id]: what a call costs, for `keep` */
	struct keep *keep;	 /* open calls that may prove too short; NULL: all are written */
	struct drain_stacks stacks;
	struct drain_addresses addresses;
	uint64_t finished_ns;
	uint32_t first_cpu;	  /* the first CPU that has a ring */
	bool mappings_overflowed; /* `mappings` was full: read /proc instead */
	uint64_t mappings_lost;	  /* so far, because `mappings` or their ring was full */
	uint64_t mappings_told;	  /* of them, those that their ring reported */
};

void drain_init(struct drain *d, struct trace_writer *w, const struct bpfprog *programs,
		uint32_t n_cpus);
/* Writes only calls of this length from now on; drain_finish() writes the sums of the others. */
void drain_keep_slower(struct drain *d, uint64_t slower_ns);
/* Notes which files the process maps from now on. */
void drain_add_target(struct drain *d, pid_t pid);
/* Forgets a process that has ended, once its mappings were read: its number may be given again. */
void drain_forget_target(struct drain *d, pid_t pid);
/* Counts the entries of each function below n from now on. */
void drain_count_functions(struct drain *d, uint32_t n);
/* Starts the recording. Losses until now belong to the calibration; later ones begin no earlier
 * than now_ns. */
void drain_start(struct drain *d, uint64_t now_ns);
/* Adds a CPU that was off-line until since_ns, so it lost nothing before. */
void drain_add_cpu(struct drain *d, uint32_t cpu, uint64_t since_ns);
/* Reads all that is in the rings now, and in those of the kernel's mmap events. Returns 0, or the
 * writer's error. */
int drain_run(struct drain *d, struct ringbufs *rings, struct rings *mappings);
void drain_mappings(struct drain *d, struct rings *mappings);
/* Called after the last run: writes the losses that no record of a ring reported (design fact 10),
 * even of CPUs without any record. */
void drain_finish(struct drain *d, struct ringbufs *rings, uint64_t now_ns);
void drain_release(struct drain *d);

#endif
