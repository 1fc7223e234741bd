/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What threads run between the return of a traced function and their next record, by the samples
 * taken there: after the function that takes a lock, what runs while the lock is held. It is the
 * function that the caller of the traced function calls next, or the caller itself.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_FOLLOWING_H
#define ISPOT_ANALYSIS_EVIDENCE_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct meta;

#define FOLLOWING_LEAST 8 /* samples after a function: fewer name nothing */

struct following {
	struct strtab names;
	struct map row_of; /* function, name, whether it is the caller's -> index of rows */
	struct {
		VEC(struct following_row)
	} rows;
	struct map most;    /* function id << 1 | whether it is the caller's -> the row with most
			       samples */
	struct map samples; /* function id -> samples after it */
};

struct following_row {
	uint32_t samples;
	const char *symbol; /* the meta's */
};

/*
 * Counts a sample, taken after the function with that id returned. call and sample are numbers of
 * stacks: from where the function was called (0: not known), and what the thread runs.
 */
void following_add(struct following *f, const struct meta *meta, uint32_t function, uint64_t call,
		   uint64_t sample);
/*
 * Returns the symbol, the meta's, of the function in which three quarters of the samples are: one
 * that the caller calls, or else the caller; NULL: there is none.
 */
const char *following_name(const struct following *f, uint32_t function);
void following_release(struct following *f);

#endif
