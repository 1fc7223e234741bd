/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds every place in an object's code that control may reach other than from the instruction
 * before, and what else must not be overwritten. All code and all data are read once, without
 * knowing what is a function (in stripped files most are unnamed). A number that looks like an
 * address counts as one.
 */
#ifndef ISPOT_PROBES_PATCH_TARGETS_H
#define ISPOT_PROBES_PATCH_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "probes/code/input.h"

struct dso;

enum mark {
	MARK_TARGET = 1,   /* of a direct branch or call, a function's start or a landing pad */
	MARK_CALLED = 2,   /* calls lead there, or it is the start of a named function */
	MARK_COMPUTED = 4, /* code computes its address, or reads it */
	MARK_WORD = 8,	   /* a word of data has its address: function pointers, relocations */
	MARK_SWITCH = 16,  /* a table of offsets leads there */
	MARK_PADDING = 32, /* nops behind code that does not go on, which nothing reaches */
	MARK_USED = 64,	   /* part of a site or an island */
	MARK_JUMPS = 128,  /* aarch64: of an indirect jump, which reads a table of offsets */
	MARK_ANY_TARGET = MARK_TARGET | MARK_CALLED | MARK_COMPUTED | MARK_WORD | MARK_SWITCH,
};

struct crossing { /* a direct jump from one function or part into another */
	uint64_t target, from;
};

struct code_stretch {
	uint64_t start, end;
	const uint8_t *code;
	size_t first; /* index of the marks of the first byte */
};

/* A function, or a part of one, as the unwind table has them. */
struct frame {
	uint64_t start, size;
	bool is_signal;	    /* code that a signal handler returns to */
	bool is_unreadable; /* it is unknown where exceptions land in it */
};

struct targets {
	enum code_machine machine;
	struct {
		VEC(struct code_stretch)
	} code;		/* sorted by address */
	uint8_t *marks; /* enum mark bits of each byte of code */
	struct {
		VEC(struct crossing)
	} crossings; /* sorted by target */
	struct {
		VEC(struct frame)
	} frames; /* sorted by start */
	struct {
		VEC(uint64_t)
	} starts; /* of functions and frames, sorted */
	uint64_t unwind_start,
		unwind_end;	/* the table has offsets of functions, but is no switch table */
	uint64_t landings_left; /* how many more bytes tables of landing pads may have */
	bool is_absolute;	/* not position-independent: addresses are numbers in the code */
};

#define TARGETS_CODE_MAX (512u << 20)

/* Reads an object. Returns NULL, or a clause that says why its targets cannot be known. */
const char *targets_read(struct targets *t, struct dso *dso);
void targets_release(struct targets *t);

/* Returns the marks of the byte at an address, or NULL if it is not code. */
uint8_t *targets_marks(const struct targets *t, uint64_t address);
/* Returns the code from address on, and in *n its bytes up to the end of the section, or NULL. */
const uint8_t *targets_code(const struct targets *t, uint64_t address, size_t *n);
void targets_mark(struct targets *t, uint64_t address, uint8_t mark);
/* Returns the index of the first crossing to address or above, or crossings.n if there is none. */
size_t targets_first_crossing(const struct targets *t, uint64_t address);
/* Returns the frame that contains address, or NULL. */
const struct frame *targets_frame(const struct targets *t, uint64_t address);

#endif
