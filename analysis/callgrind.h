/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what `valgrind --tool=callgrind` wrote with --dump-instr=yes --collect-jumps=yes
 * --compress-pos=no --compress-strings=no: per dump what one thread ran since its previous one, by
 * instruction. The format: valgrind's manual, "Callgrind Format Specification".
 */
#ifndef ISPOT_ANALYSIS_CALLGRIND_H
#define ISPOT_ANALYSIS_CALLGRIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct err;

/* An instruction. */
struct callgrind_place {
	uint64_t address;		 /* in the terms of its file */
	uint32_t object, function, file; /* of names; function: what it was compiled into */
	uint32_t line;
	bool turns; /* a jump or a call: control flow may go elsewhere */
	bool cond;  /* a conditional jump that was taken at least once */
};

enum callgrind_kind {
	CALLGRIND_RUN,	/* instructions, cache misses at from */
	CALLGRIND_COND, /* a conditional jump at from: taken to to. Not there where it never was */
	CALLGRIND_JUMP,
	CALLGRIND_CALL,
};

struct callgrind_count {
	enum callgrind_kind kind;
	uint32_t from, to;
	uint64_t count;
	uint64_t l1_misses, ll_misses; /* of a run */
};

struct callgrind_dump {
	uint32_t thread, part; /* thread: valgrind's number; part: of the run, growing */
	uint32_t trigger;      /* of names: "--dump-before=FUNCTION", "Program termination" … */
	struct {
		VEC(struct callgrind_count)
	} counts;
};

struct callgrind {
	struct strtab names;
	struct map place_of; /* hash of object and address, probed upwards */
	struct {
		VEC(struct callgrind_place)
	} places;
	struct {
		VEC(struct callgrind_dump)
	} dumps;
	bool caches; /* misses were counted */
};

/* Appends the file's dump. -EINVAL: it is none. */
int callgrind_read(struct callgrind *c, const char *path, struct err *err);
void callgrind_release(struct callgrind *c);

#endif
