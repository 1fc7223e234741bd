/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoded instructions of a function, the targets of its branches, and the distance of the
 * stack pointer from its value at entry. exits.h finds from these where control leaves the
 * function. It works the same for every machine.
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
	size_t from; /* index of the instruction; SIZE_MAX: in bytes whose boundaries are a guess */
};

struct code {
	struct insn *insns; /* of the function, by address, then of its other parts */
	size_t n, n_main;
	struct {
		VEC(struct branch)
	} branches; /* direct branches, sorted by target */
	struct {
		VEC(size_t)
	} bounds;	      /* index of the first instruction of each part, and the end */
	uint64_t undecodable; /* address of the first byte that cannot be decoded */
	bool incomplete;      /* undecodable is valid */
	bool too_large;	      /* only the first CODE_BYTES_MAX bytes were read */
};

/* Symbols of megabytes are hand-made tables, not functions; reading more would only take time. */
#define CODE_BYTES_MAX (1u << 20)

void code_read(struct code *code, const struct code_input *in);
void code_release(struct code *code);
bool code_is_target(const struct code *code, uint64_t address);
size_t code_first_branch_to(const struct code *code,
			    uint64_t address);		      /* branches.n: none at or above */
size_t code_index(const struct code *code, uint64_t address); /* of an insn; SIZE_MAX: none */
bool insn_goes_on(const struct insn *insn); /* may go on to the next instruction */

struct stack {
	int32_t sp, frame; /* distance in bytes from the value of sp at entry */
	bool reached, sp_known, frame_known;
};

struct later {
	size_t index;
	struct stack stack;
};

struct walk {
	const struct code *code;
	struct stack *at;  /* the stack before each instruction */
	bool reads_tables; /* has loads through an index, as switches do; without, an indirect jump
			      is a tail call */
	struct {
		VEC(size_t)
	} work;
	/*
	 * Blocks behind calls. If a call never returns, the block behind it is one that others
	 * reach with another stack, so these blocks wait until every jump has been followed.
	 */
	struct {
		VEC(struct later)
	} late;
};

void walk_code(struct walk *w, const struct code *code);
void walk_release(struct walk *w);

#endif
