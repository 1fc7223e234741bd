/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides where in a function the probes go (design fact 1), and at which cost. A pure function: it
 * takes bytes and returns a decision. decode.h has the instructions; decode_x86.c is the only file
 * that includes capstone.
 *
 * x86-64: both probes may sit on any instruction of the first straight-line run. The run ends
 * before the stack pointer moves, and before a store to the stack, a branch target, an atomic, or a
 * write to the register of a captured argument. Within it the return address is still at (%rsp),
 * from where the kernel's return probe takes it. Preferred: nop5 (kernels >= 6.18 optimize it),
 * then emulated instructions (push, jcc, call, jmp, nop), then single-stepped ones. Never: LOCK,
 * VEX, EVEX or es/cs/ss/ds prefixes, nor instructions that the kernel refuses or cannot step
 * without harm (syscall, pushf). A store to the stack ends the run because an optimized nop5 is a
 * call, whose return address lands in the red zone. Other plain loads and stores are passed only if
 * single-stepping costs more than a cache miss that is then not measured.
 *
 * aarch64: the return probe sits at +0 only (after paciasp the target dies), and the entry probe
 * with it, because one trap serves both. Without a return probe the entry probe may move until the
 * first write of x30 or sp. b, bl, cbz, tbz, adrp, adr and nop are simulated, others
 * single-stepped.
 *
 * This cannot see an indirect jump into the run (a switch table whose case is the entry; compilers
 * do not make these), nor a second entry point behind the first instruction, unless entry_limit
 * names it.
 */
#ifndef ISPOT_PROBES_PLACE_PLACEMENT_H
#define ISPOT_PROBES_PLACE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/code/input.h"
#include "trace/meta/meta.h"

#define PLACEMENT_RET_SITES_MAX 64

struct placement {
	bool possible;
	char reason[96];	/* why not possible, a clause: "starts with a VEX instruction" */
	uint32_t entry_offset;	/* from the function's first byte */
	uint32_t return_offset; /* where the kernel's return probe is registered */
	bool return_possible;	/* aarch64: +0 may not be probeable though a later place is */
	enum probe_class class; /* of the entry probe */
	enum probe_class return_class;
	enum probe_class naive_class; /* of the first instruction; CLASS_N: not probeable */
	uint32_t intact; /* bit i: integer argument i is still in its register at the entry probe */
	uint32_t alone_intact;
	uint32_t alone_offset; /* of the entry probe if there is no return probe */
	enum probe_class alone_class;
	bool moved_past_load; /* passed a plain load or store, which check reports */
	bool reenters; /* why not: a branch in the function jumps back to its first instruction,
			  so a probe would fire in every round of that loop */
	/*
	 * For exits at ret sites: every ret and every tail jump out of the function, as offsets
	 * from the function's first byte, negative in a part that lies before it.
	 * ret_sites_complete is false if an indirect or conditional jump could leave the function
	 * (switch tables excepted), or if a part of the function lies elsewhere and is not among
	 * the given parts.
	 */
	uint32_t n_ret_sites;
	int64_t ret_sites[PLACEMENT_RET_SITES_MAX];
	bool only_jumps; /* all ret sites are jumps that the kernel emulates */
	bool ret_sites_complete;
	char ret_sites_reason[96]; /* why not complete */
	bool reads_caller;	   /* reads its return address, other than to return */
	bool leaf; /* calls nothing and jumps nowhere else, so nothing can unwind through it */
	uint64_t continues_at; /* address outside the given parts to which it jumps with its frame;
				  0: none */
};

void placement_find(const struct code_input *in, struct placement *out);
/* Returns the integer arguments that are still in their registers (bit i: argument i) where the
 * general registers of `written` have been written since the entry (bits: hardware numbers). */
uint32_t placement_intact_arguments(const struct code_input *in, uint32_t written);
/* For a function whose exit has no return probe: the entry probe moves to its own best place. */
void placement_without_return(struct placement *p);

#endif
