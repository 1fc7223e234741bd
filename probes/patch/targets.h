/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every place in an object's code that control may come to other than from the instruction before
 * it, and what else must not be written over: found by reading all of its code and all of its data
 * once, without knowing what is a function (stripped files have most of theirs unnamed). What is
 * only a number that looks like an address is taken for one.
 */
#ifndef ISPOT_PROBES_PATCH_TARGETS_H
#define ISPOT_PROBES_PATCH_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct dso;

enum mark {
	MARK_TARGET = 1,   /* of a direct branch or call; the start of a function, a landing pad */
	MARK_CALLED = 2,   /* calls lead there, or it is the start of a named function */
	MARK_COMPUTED = 4, /* code computes its address, or reads it */
	MARK_WORD = 8,	   /* a word of data has its address: function pointers, relocations */
	MARK_SWITCH = 16,  /* a table of offsets leads there */
	MARK_PADDING = 32, /* nothing comes there: nops behind code that does not go on */
	MARK_USED = 64,	   /* a site's or an island's */
	MARK_ANY_TARGET = MARK_TARGET | MARK_CALLED | MARK_COMPUTED | MARK_WORD | MARK_SWITCH,
};

struct crossing { /* a direct jump from one function or part into another */
	uint64_t target, from;
};

struct code_stretch {
	uint64_t start, end;
	const uint8_t *code;
	size_t first; /* index of its first byte's marks */
};

/* A function, or a part of one, by the unwind table. */
struct frame {
	uint64_t start, size;
	bool is_signal;	    /* of a signal handler's caller */
	bool is_unreadable; /* where exceptions land in it is not known */
};

struct targets {
	struct {
		VEC(struct code_stretch)
	} code;		/* by address */
	uint8_t *marks; /* of enum mark, for each byte of code */
	struct {
		VEC(struct crossing)
	} crossings; /* by target */
	struct {
		VEC(struct frame)
	} frames; /* by start */
	struct {
		VEC(uint64_t)
	} starts; /* of functions and frames, by address */
	uint64_t unwind_start,
		unwind_end;	/* the unwind table: offsets of functions, but no switch */
	uint64_t landings_left; /* bytes that tables of landing pads may still have */
	bool is_absolute;	/* not position-independent: code has addresses as numbers */
};

#define TARGETS_CODE_MAX (512u << 20)

/* Returns why the object's targets cannot be known, a clause; NULL: they are. */
const char *targets_read(struct targets *t, struct dso *dso);
void targets_release(struct targets *t);

/* Marks of the byte at an address; NULL: it is no code. */
uint8_t *targets_marks(const struct targets *t, uint64_t address);
/* Bytes of code from address on, up to the end of its section. NULL: none. */
const uint8_t *targets_code(const struct targets *t, uint64_t address, size_t *n);
void targets_mark(struct targets *t, uint64_t address, uint8_t mark);
/* The first crossing to address or above: an index, crossings.n if there is none. */
size_t targets_first_crossing(const struct targets *t, uint64_t address);
/* The frame that address lies in; NULL: none. */
const struct frame *targets_frame(const struct targets *t, uint64_t address);

#endif
