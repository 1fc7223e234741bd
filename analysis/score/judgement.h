/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judgement of a scored block: its verdict, the proof that its work varies, and its causes. The
 * judge (analysis/cause/judge.h) sets these; they are declared here because struct block contains
 * them.
 */
#ifndef ISPOT_ANALYSIS_SCORE_JUDGEMENT_H
#define ISPOT_ANALYSIS_SCORE_JUDGEMENT_H

#include <stdbool.h>

#include "base/vec.h"

enum verdict {
	VERDICT_INTERFERENCE,
	VERDICT_WORKLOAD,
	VERDICT_NOISE,
	VERDICT_IDLE,
	VERDICT_TOO_FEW_CALLS,
	VERDICT_CANNOT_TELL,
};

/* The verdict as JSON and CSV have it. */
const char *verdict_name(enum verdict verdict);
/* The verdict as people read it. */
const char *verdict_words(enum verdict verdict);

enum work_by {
	WORK_UNPROVEN,
	WORK_CALL_INDEX,
	WORK_ARGUMENT,
	WORK_INSTRUCTIONS,
	WORK_CALLS_INSIDE,
	WORK_UNDISTURBED
};

struct work {
	enum work_by by;
	double share; /* share of the excess that it accounts for */
	bool median;  /* the median call grows, not the fastest one: less certain */
	bool alone;   /* undisturbed: no other thread of the program ran */
};

const char *work_by_name(enum work_by by); /* "call-index" …; NULL: unproven */
enum cause_pool { POOL_CALLEE, POOL_PREEMPTED, POOL_BLOCKED, POOL_IDLE, POOL_RUNNING, CAUSE_POOLS };

struct cause {
	const char *kind;  /* static string: one of the kinds of the JSON output */
	double share;	   /* share of the block's excess */
	double lost;	   /* the part of share that is lost: not idle, not more work */
	double confidence; /* 1: records prove it; 0.5: estimated; 0: unknown */
	struct {
		VEC(char *)
	} evidence;
};

struct causes {
	VEC(struct cause)
};

void causes_release(struct causes *causes);

#endif
