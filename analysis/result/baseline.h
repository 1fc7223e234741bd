/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fastest calls of another recording of the program, by object base name and symbol. They serve
 * as the baseline for a run with so much contention that none of its own calls was fast. Of the
 * fastest calls of the two recordings the faster one counts.
 */
#ifndef ISPOT_ANALYSIS_RESULT_BASELINE_H
#define ISPOT_ANALYSIS_RESULT_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/threads.h"
#include "base/hash.h"
#include "base/vec.h"

struct block;
struct err;

struct baseline {
	struct strtab names; /* "object:symbol" of each function */
	struct {
		VEC(struct baseline_min)
	} mins; /* [name number] */
};

struct baseline_min {
	uint64_t d_ns, own_ns;
	struct offcpu off, own_off; /* the off-CPU time of the two fastest calls */
};

int baseline_read(struct baseline *baseline, const char *path, struct err *err);
/* BLOCK_NONE: unknown function */
uint64_t baseline_min(void *baseline, const struct block *b, bool own);
void baseline_off(void *baseline, const struct block *b, bool own, struct offcpu *off);
void baseline_release(struct baseline *baseline);

#endif
