/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which processes had the CPUs while the program's threads were runnable. The latest periods of
 * each CPU are kept. Records show when the program's threads had the CPU. Of the time between, the
 * first half counts for the process that got the CPU when they left it, and the second half for the
 * process that had it before they got it back, because the scheduler's records name only these two.
 * If one of the two is a thread of the kernel, all of it counts for the other one: such threads run
 * for a moment, often because of the switch itself.
 * A thread that gets a CPU has waited for the processes that had it since the thread became
 * runnable. An idle CPU that had to wake up counts for no process.
 */
#ifndef ISPOT_ANALYSIS_THREADS_TAKERS_H
#define ISPOT_ANALYSIS_THREADS_TAKERS_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum taker_kind {
	TAKER_UNKNOWN,
	TAKER_IDLE,	/* a CPU that had to wake up */
	TAKER_PROGRAM,	/* another thread of the program */
	TAKER_RECORDER, /* ispot itself */
	TAKER_OTHER,	/* another process */
};

struct taker {
	enum taker_kind kind;
	uint32_t pid; /* of TAKER_OTHER and TAKER_RECORDER; else 0 */
	uint64_t ns;
};

/*
 * A period of a CPU's time. who is an enum switch_before (SWITCH_AFTER_UNKNOWN, SWITCH_AFTER_IDLE)
 * or a process.
 */
#define TAKER_CPUS_MAX	8192
#define TAKER_STRETCHES 128 /* of a CPU; a longer wait is divided as its latest part */
struct taker_stretch {
	uint64_t from_ns, to_ns, who;
};

struct taker_cpu {
	uint64_t since_ns, who; /* of the current period; since_ns 0: none has begun */
	uint32_t n;		/* periods so far */
	struct taker_stretch ring[TAKER_STRETCHES];
};

struct takers {
	VEC(struct taker)
	struct map by_key; /* by kind and pid */
	struct map kernel; /* SWITCH_AFTER_IDLE + number of a thread of the kernel -> 1 */
	struct {
		VEC(struct taker_cpu *)
	} cpus;
};

/* Tells that the process is a thread of the kernel. */
void takers_is_kernel(struct takers *t, uint32_t pid);
void takers_add(struct takers *t, enum taker_kind kind, uint32_t pid, uint64_t ns);
/*
 * Switches the CPU from one process to the other; before had it at the end of the period that ends
 * now.
 */
void takers_switch(struct takers *t, uint32_t cpu, uint64_t time_ns, uint64_t before,
		   uint64_t next);
/*
 * Calls share() with the parts of the time until the CPU's latest switch. The parts add up to this
 * time; all of it is before's if no period is known.
 */
void takers_share(const struct takers *t, uint32_t cpu, uint64_t from_ns, uint64_t before,
		  void (*share)(void *ctx, uint64_t who, uint64_t ns), void *ctx);
/* Forgets which thread each CPU runs, until the CPU's next switch. */
void takers_forget(struct takers *t);
void takers_release(struct takers *t);

#endif
