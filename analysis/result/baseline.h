/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fastest calls of another recording of the program, by (object's base name, symbol): for a
 * run so contended that not one of its calls was fast. The smaller of both recordings' counts.
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
	struct strtab names; /* "object:symbol" */
	struct {
		VEC(struct baseline_min)
	} mins; /* [name number] */
};

struct baseline_min {
	uint64_t d_ns, own_ns;
	struct offcpu off, own_off; /* of these calls */
};

int baseline_read(struct baseline *baseline, const char *path, struct err *err);
uint64_t baseline_min(void *baseline, const struct block *b, bool own); /* BLOCK_NONE: not in it */
void baseline_off(void *baseline, const struct block *b, bool own, struct offcpu *off);
void baseline_release(struct baseline *baseline);

#endif
