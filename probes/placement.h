/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where in a function the probes go (design fact 1), and at which cost. Pure: bytes in,
 * decision out; capstone decodes, placement.c is the one file that includes it.
 *
 * x86-64: both probes may sit on any instruction of the first straight-line run before the stack
 * pointer moves, a store below it, a branch target, an atomic, a write to a captured argument
 * register. Preferred: nop5 (kernels >= 6.18 optimise it) > emulated (push, jcc, call, jmp, 1-byte
 * nop) > single-stepped. Never: LOCK, VEX, EVEX or segment prefixes, nor anything the kernel refuses.
 * aarch64: the return probe at +0 only (after paciasp the target dies); the entry probe may move
 * until the first write of x30; adrp, adr, b, bl, cbz, ldr-literal… are simulated, others stepped.
 */
#ifndef ISPOT_PROBES_PLACEMENT_H
#define ISPOT_PROBES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/meta.h"

enum placement_machine { PLACE_X86_64, PLACE_AARCH64 };

#define PLACEMENT_RET_SITES_MAX 64

struct placement {
	bool possible;
	char reason[96];          /* why not, a clause: "starts with a VEX instruction" */
	uint32_t entry_offset;    /* from the function's first byte */
	uint32_t return_offset;   /* where the kernel's return probe is registered */
	enum probe_class class;   /* of the entry probe */
	enum probe_class return_class;
	bool moved_past_load;     /* passed a plain load: check says so */
	bool reenters;            /* a branch in the function jumps back into [0, entry_offset]: would fire again */
	/* For exits at ret sites: every ret, and every tail jump out of the function. complete is false where
	 * an indirect jump could leave (switch tables excepted) or a part of it lies elsewhere (.cold). */
	uint32_t n_ret_sites;
	uint32_t ret_sites[PLACEMENT_RET_SITES_MAX];
	bool ret_sites_complete;
	char ret_sites_reason[96]; /* why not complete */
};

struct placement_input {
	enum placement_machine machine;
	const uint8_t *code;
	size_t size_bytes;
	uint64_t address;          /* of code[0], for branch targets */
	uint32_t argument_mask;    /* bit i: integer argument i is captured at entry; its register must be unwritten */
	bool nop5_optimised;       /* the kernel optimises nop5 (>= 6.18 x86-64) */
};

void placement_find(const struct placement_input *in, struct placement *out);

#endif
