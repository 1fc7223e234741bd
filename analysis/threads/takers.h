/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who had the CPUs while the program's threads were ready to run. Of each CPU its latest stretches
 * are kept: when the program's threads had it is recorded; of the time between, the first half goes
 * to who got the CPU when they left it and the second half to who had it before they got it back,
 * as the records of the scheduler name those two only. A thread that gets a CPU has waited for who
 * had that one since it was ready. An idle CPU that had to be woken up is nobody's.
 */
#ifndef ISPOT_ANALYSIS_THREADS_TAKERS_H
#define ISPOT_ANALYSIS_THREADS_TAKERS_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum taker_kind {
	TAKER_UNKNOWN,
	TAKER_IDLE,	/* a CPU that was waking up */
	TAKER_PROGRAM,	/* another thread of the program */
	TAKER_RECORDER, /* ispot itself */
	TAKER_OTHER,	/* another process */
};

struct taker {
	enum taker_kind kind;
	uint32_t pid; /* of TAKER_OTHER, TAKER_RECORDER; else 0 */
	uint64_t ns;
};

/*
 * A stretch of a CPU's time. who: an enum switch_before (SWITCH_AFTER_UNKNOWN, SWITCH_AFTER_IDLE)
 * or a process.
 */
#define TAKER_CPUS_MAX	8192
#define TAKER_STRETCHES 128 /* of a CPU; a longer wait is divided as its end */
struct taker_stretch {
	uint64_t from_ns, to_ns, who;
};

struct taker_cpu {
	uint64_t since_ns, who; /* of the stretch that has not ended; 0: none has begun */
	uint32_t n;		/* stretches so far */
	struct taker_stretch ring[TAKER_STRETCHES];
};

struct takers {
	VEC(struct taker)
	struct map by_key; /* of kind and pid */
	struct {
		VEC(struct taker_cpu *)
	} cpus;
};

void takers_add(struct takers *t, enum taker_kind kind, uint32_t pid, uint64_t ns);
/* The CPU goes from one to the other: before had it at the end of the stretch that ends now. */
void takers_switch(struct takers *t, uint32_t cpu, uint64_t time_ns, uint64_t before,
		   uint64_t next);
/* Calls share with the parts of the time until the CPU's latest switch; together they are all of
 * it, and before's where no stretch is known. */
void takers_share(const struct takers *t, uint32_t cpu, uint64_t from_ns, uint64_t before,
		  void (*share)(void *ctx, uint64_t who, uint64_t ns), void *ctx);
void takers_release(struct takers *t);

#endif
