/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions as placement needs them, in the same form for both machines: can a uprobe sit here
 * and at which cost, where does control go, what is read, written and ordered, how does the stack
 * move. The kernel's rules are in arch/x86/kernel/uprobes.c and
 * arch/arm64/kernel/probes/decode-insn.c.
 */
#ifndef ISPOT_PROBES_CODE_DECODE_H
#define ISPOT_PROBES_CODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/meta/meta.h"

enum flow {
	FLOW_NEXT,     /* to the next instruction, calls and system calls included */
	FLOW_BRANCH,   /* conditional: to target or to the next instruction */
	FLOW_JUMP,     /* to target */
	FLOW_JUMP_REG, /* indirect jump, through jump_register */
	FLOW_JUMP_MEM, /* indirect jump, through memory (x86) */
	FLOW_RET,      /* back to the caller */
	FLOW_STOP,     /* ends the code: ud2, hlt, int3, brk */
};

enum sp_effect {
	SP_KEEP,
	SP_ADD,	  /* sp += sp_delta */
	SP_FRAME, /* sp = frame pointer + sp_delta (leave, mov sp, x29) */
	SP_ENTRY, /* sp returns to its value at entry (lea -8(%r10),%rsp of realigned stacks) */
	SP_LOST,
};

enum frame_effect {
	FRAME_KEEP,
	FRAME_SET,
	FRAME_LOST
}; /* FRAME_SET: frame pointer = sp + frame_delta */

enum slot_base { SLOT_NONE, SLOT_SP, SLOT_FRAME };

#define NO_REGISTER 0xff

struct insn {
	uint64_t address;
	uint64_t target; /* FLOW_BRANCH, FLOW_JUMP */
	int32_t sp_delta, frame_delta;
	uint32_t writes; /* bit n: writes register n (hardware numbering) or a part of it */
	uint32_t reads, addresses; /* x86, general registers: those read, and those of them that
				    * name memory */
	uint8_t length;
	uint8_t flow;  /* enum flow */
	uint8_t class; /* enum probe_class; CLASS_N: a probe is refused or harmful */
	uint8_t sp, frame;
	uint8_t jump_register; /* FLOW_JUMP_REG */
	uint8_t compares;      /* sets flags from an immediate: the bound check before a switch */
	bool is_call;
	bool loads, stores;
	bool simple;	   /* x86: moves, compares, branches or counts by a constant */
	bool exchanges;	   /* x86: simple, and stores by an atomic exchange */
	uint8_t slot_base; /* enum slot_base: the register above which, by slot bytes, it loads */
	int32_t slot;
	bool reads_link;  /* copies the link register (aarch64) */
	bool stack_store; /* stores through the stack pointer, so perhaps below it */
	bool ordered; /* atomic, fence, system call, repeated or slow enough to be what is measured:
			 placement never passes it */
	bool table_load;     /* loads through an index, perhaps an entry of a jump table */
	bool relative_table; /* the table load extends the value, so it is an offset and no function
				pointer */
	bool notrack;	     /* exempt from branch tracking: compilers use it for switches only */
	const char *refusal; /* class == CLASS_N: the reason, a clause like "has a LOCK prefix" */
};

/* Decodes one instruction at code, where n bytes follow. Returns false if there is none. */
typedef bool (*decode_fn)(void *decoder, const uint8_t *code, size_t n, uint64_t address,
			  struct insn *out);

#endif
