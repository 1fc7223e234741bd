/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often control flow turned where, and what happened at which instruction, by thread and part
 * of its run: what every provider of counts fills, callgrind.h by running all of it,
 * branch_samples.h from what the hardware tells now and then.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTS_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* An instruction. */
struct counts_place {
	uint64_t address;		 /* in the terms of its file */
	uint32_t object, function, file; /* of names; function: what it was compiled into */
	uint32_t line;
	bool turns; /* a jump or a call: control flow may go elsewhere */
	bool cond;  /* a conditional jump that was taken at least once */
};

struct dso_cache;

enum counts_kind {
	COUNTS_RUN,  /* instructions, cache misses at from */
	COUNTS_COND, /* a conditional jump at from: taken to to. Not there where it never was */
	COUNTS_JUMP,
	COUNTS_CALL,
	/* of samples, which tell no more than that: */
	COUNTS_PASSED,	 /* the branch at from was come to and not taken */
	COUNTS_EXECUTED, /* the instruction at from, where misses are counted, too */
	COUNTS_HAPPENED, /* at the instruction at from: the event that was sampled */
};

struct counts_row {
	enum counts_kind kind;
	uint32_t from, to;
	uint64_t count;
	uint64_t l1_misses, ll_misses; /* of a run */
};

struct counts_dump {
	uint32_t thread, part; /* callgrind: valgrind's number; of the run, growing */
	uint32_t trigger;      /* of names: "--dump-before=FUNCTION", "Program termination" … */
	struct {
		VEC(struct counts_row)
	} counts;
};

struct counts {
	struct strtab names;
	struct map place_of; /* hash of object and address, probed upwards */
	struct {
		VEC(struct counts_place)
	} places;
	struct {
		VEC(struct counts_dump)
	} dumps;
	bool caches;	   /* callgrind: misses were counted */
	const char *event; /* what happened, of samples: a kind of counted_cause; NULL: nothing */
};

/* Makes it where it is new: function, file MAP_NONE, no line. */
uint32_t counts_place(struct counts *c, uint32_t object, uint64_t address);
/* Finds a place's function and line in its file; "" where that does not know. */
void counts_name(struct counts *c, uint32_t place, struct dso_cache *cache);
void counts_release(struct counts *c);

#endif
