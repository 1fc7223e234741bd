/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function's decoded instructions, where its branches go, how far the stack pointer is from its
 * value at entry, and so where control leaves: part of placement, machine-independent.
 */
#ifndef ISPOT_PROBES_CODE_FLOW_H
#define ISPOT_PROBES_CODE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct insn;
struct code_input;

struct branch {
	uint64_t target;
	size_t from; /* index of the instruction; SIZE_MAX: among bytes that are no instruction */
};

struct code {
	struct insn *insns; /* the function's, by address, then those of its further parts */
	size_t n, n_main;
	struct {
		VEC(struct branch)
	} branches; /* the direct ones, by target */
	struct {
		VEC(size_t)
	} bounds;	      /* index of each part's first instruction, and the end */
	uint64_t undecodable; /* address of the first byte that is no instruction */
	bool incomplete;      /* there is one */
	bool too_large;	      /* only the first CODE_BYTES_MAX bytes were read */
};

/* Symbols of megabytes are hand-made tables, not functions; reading on would only take time. */
#define CODE_BYTES_MAX (1u << 20)

void code_read(struct code *code, const struct code_input *in);
void code_release(struct code *code);
bool code_is_target(const struct code *code, uint64_t address);
size_t code_first_branch_to(const struct code *code,
			    uint64_t address);		      /* branches.n: none at or above */
size_t code_index(const struct code *code, uint64_t address); /* of an insn; SIZE_MAX: none */
bool insn_goes_on(const struct insn *insn);		      /* to the next one, perhaps */

struct stack {
	int32_t sp, frame; /* bytes from sp's value at entry */
	bool reached, sp_known, frame_known;
};

struct later {
	size_t index;
	struct stack stack;
};

struct walk {
	const struct code *code;
	struct stack *at;  /* before each instruction */
	bool reads_tables; /* through an index, as switches do; else an indirect jump is a tail call
			    */
	struct {
		VEC(size_t)
	} work;
	/*
	 * The blocks behind calls. Behind a call that never returns stands a block that others
	 * reach with another stack, so these wait until every jump has been followed.
	 */
	struct {
		VEC(struct later)
	} late;
};

void walk_code(struct walk *w, const struct code *code);
void walk_release(struct walk *w);

#endif
