/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where in a function the probes go (design fact 1), and at which cost. Pure: bytes in,
 * decision out. decode.h has the instructions; decode_x86.c is the one file that includes capstone.
 *
 * x86-64: both probes may sit on any instruction of the first straight-line run before the stack
 * pointer moves, a store to the stack, a branch target, an atomic, a write to a captured argument
 * register. The return address is then still at (%rsp), where the kernel's return probe takes it
 * from. Preferred: nop5 (kernels >= 6.18 optimise it) > emulated (push, jcc, call, jmp, nop) >
 * single-stepped. Never: LOCK, VEX, EVEX or es/cs/ss/ds prefixes, nor what the kernel refuses or
 * cannot step without harm (syscall, pushf). A store to the stack ends the run because an optimised
 * nop5 is a call, whose return address lands in the red zone. Other plain loads and stores are
 * passed only where single-stepping would cost more than the miss that then goes unseen.
 * aarch64: the return probe at +0 only (after paciasp the target dies), and the entry probe with
 * it, because one trap serves both; without a return probe it may move until the first write of x30
 * or sp; b, bl, cbz, tbz, adrp, adr, nop are simulated, others stepped.
 *
 * What this cannot see: an indirect jump into the run (a switch table whose case is the entry;
 * compilers do not make these), and a second entry point behind the first instruction, unless
 * entry_limit names it.
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
	char reason[96];	/* why not, a clause: "starts with a VEX instruction" */
	uint32_t entry_offset;	/* from the function's first byte */
	uint32_t return_offset; /* where the kernel's return probe is registered */
	bool return_possible;	/* aarch64: +0 may not be probeable though a later point is */
	enum probe_class class; /* of the entry probe */
	enum probe_class return_class;
	enum probe_class naive_class; /* of the first instruction; CLASS_N: not probeable */
	uint32_t intact; /* bit i: integer argument i is still in its register at the entry probe */
	uint32_t alone_intact;
	uint32_t alone_offset; /* of the entry probe where no return probe is set */
	enum probe_class alone_class;
	bool moved_past_load; /* passed a plain load or store: check says so */
	bool reenters; /* why not: a branch in the function jumps back to its first instruction,
			  so a probe would fire in every round of that loop */
	/* For exits at ret sites: every ret, and every tail jump out of the function; offsets from
	 * the function's first byte, negative in a part that lies before it. complete is false
	 * where an indirect or conditional jump could leave (switch tables excepted), or a part of
	 * the function lies elsewhere and is not among the parts given. */
	uint32_t n_ret_sites;
	int64_t ret_sites[PLACEMENT_RET_SITES_MAX];
	bool only_jumps; /* they are jumps that the kernel emulates, not rets */
	bool ret_sites_complete;
	char ret_sites_reason[96]; /* why not complete */
	bool reads_caller;	   /* looks at its return address, beside returning to it */
	bool leaf; /* calls nothing and jumps nowhere else: no unwinder can pass through it */
	uint64_t continues_at; /* address outside the parts given that it jumps to with its frame, 0
				  none */
};

void placement_find(const struct code_input *in, struct placement *out);
/* The exit is not seen by a return probe: the entry probe takes its own best place. */
void placement_without_return(struct placement *p);

#endif
