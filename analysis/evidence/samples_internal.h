/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of analysis/evidence/samples.h. */
#ifndef ISPOT_ANALYSIS_EVIDENCE_SAMPLES_INTERNAL_H
#define ISPOT_ANALYSIS_EVIDENCE_SAMPLES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct meta;
struct meta_frame;

struct sample_row {
	uint64_t duration_ns; /* of the call */
	uint64_t weight_ns;
	uint32_t stack; /* 0: not known */
	bool own;	/* the block was the innermost traced function */
	bool kernel;
};

struct pending {
	uint32_t id;
	uint64_t entry_ns; /* of the call that it is in */
	struct sample_row row;
};

struct samples_thread {
	struct {
		VEC(struct pending)
	} pending;
};

struct samples_function {
	uint64_t seen;
	struct {
		VEC(struct sample_row)
	} rows;
};

const struct meta_frame *samples_innermost(const struct meta *meta, const struct sample_row *row);

#endif
