/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts of branches and of events at instructions, by thread and part of the run. Every provider
 * fills these: callgrind.h by executing the whole run, branch_samples.h from hardware samples. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTS_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* An instruction. */
struct counts_place {
	uint64_t address;		 /* address in its file */
	uint32_t object, function, file; /* indices of names; function: the one that it was
					  * compiled into */
	uint32_t line;
	bool turns; /* a jump or a call, after which control flow may go elsewhere */
	bool cond;  /* a conditional jump that was taken at least once */
};

struct dso_cache;

enum counts_kind {
	COUNTS_RUN,  /* executions of the instruction at from, and its cache misses */
	COUNTS_COND, /* the conditional jump at from was taken to to; no row if it never was */
	COUNTS_JUMP,
	COUNTS_CALL,
	/* From samples: */
	COUNTS_PASSED,	 /* the branch at from was executed and not taken */
	COUNTS_EXECUTED, /* executions of the instruction at from, for which an event is counted */
	COUNTS_HAPPENED, /* the sampled event happened at the instruction at from */
};

struct counts_row {
	enum counts_kind kind;
	uint32_t from, to;
	uint64_t count;
	uint64_t l1_misses, ll_misses; /* only of COUNTS_RUN */
};

struct counts_dump {
	uint32_t thread, part; /* callgrind only: valgrind's thread number; increases during the
				* run */
	uint32_t trigger;      /* index of names: "--dump-before=FUNCTION", "Program termination"
				* … */
	struct {
		VEC(struct counts_row)
	} counts;
};

struct counts {
	struct strtab names;
	struct map place_of; /* hash of object and address -> place; the next free key on a
			      * collision */
	struct {
		VEC(struct counts_place)
	} places;
	struct {
		VEC(struct counts_dump)
	} dumps;
	bool caches;	   /* callgrind only: cache misses were counted */
	const char *event; /* samples only: kind of the sampled event, as in counted_cause; NULL:
			    * none */
};

/* Returns the place of an address, which is added if it is new, with function and file MAP_NONE and
 * no line. */
uint32_t counts_place(struct counts *c, uint32_t object, uint64_t address);
/* Sets a place's function and line from its object file; "" if they are not known. */
void counts_name(struct counts *c, uint32_t place, struct dso_cache *cache);
void counts_release(struct counts *c);

#endif
