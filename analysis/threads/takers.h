/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who had the CPUs while the program's threads were ready to run: of each such stretch half goes to
 * who got the CPU when it began and half to who had it before the thread got it, as the records of
 * the scheduler name those two. An idle CPU that had to be woken up is nobody's.
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

struct takers {
	VEC(struct taker)
	struct map by_key; /* of kind and pid */
};

void takers_add(struct takers *t, enum taker_kind kind, uint32_t pid, uint64_t ns);
void takers_release(struct takers *t);

#endif
