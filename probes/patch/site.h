/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A place where a jump is written, as plan.h promises it. */
#ifndef ISPOT_PROBES_PATCH_SITE_H
#define ISPOT_PROBES_PATCH_SITE_H

#include <stdbool.h>
#include <stdint.h>

/* x86-64: e9 and a displacement, at the site or in its island; the longest jump of all machines. */
#define PATCH_JUMP_BYTES       5
#define PATCH_SHORT_BYTES      2 /* x86-64: eb and a displacement, at a site that has an island */
#define PATCH_JUMP_BYTES_ARM64 4 /* aarch64: b, which reaches 128 MB */

enum patch_exit {
	PATCH_NO_EXIT, /* control goes on behind the site */
	PATCH_RET,     /* the displaced instructions end with a ret */
	PATCH_JUMP,    /* they end with a jump into another function (a tail call) */
	PATCH_BRANCH,  /* they end with a conditional jump; if it is not taken, control goes on
			  behind the site */
};

/* Bytes of a site at most: what a jump covers, and the rest of its last instruction. */
#define PATCH_BYTES_MAX 24

/*
 * A place where a jump is written. The first site of a function is its entry, which in a tiny
 * function is an exit, too.
 */
struct patch_site {
	uint8_t machine; /* enum code_machine */
	bool is_entry;
	enum patch_exit exit;
	uint64_t address;		   /* of the jump, as in the file */
	uint8_t n_bytes;		   /* displaced bytes, with padding that the jump covers */
	uint8_t n_code;			   /* how many of these, from the start, are instructions */
	uint8_t original[PATCH_BYTES_MAX]; /* n_bytes as the file has them */
	/*
	 * 0: a jump of PATCH_JUMP_BYTES is written at address. Otherwise the address of
	 * PATCH_JUMP_BYTES of padding within reach of a short jump: the padding gets the jump to
	 * the stub, and after it address gets a jump of PATCH_SHORT_BYTES to the padding.
	 */
	uint64_t island;
	uint8_t island_original[PATCH_JUMP_BYTES];
	/* The other members belong to the entry. */
	uint8_t entry_offset; /* bytes from the function's start to address */
	/*
	 * The stack pointer at address plus this is its value when the function began, which is the
	 * place of the return address. In the gap of an exit the stack pointer has that value
	 * itself.
	 */
	int32_t sp_correction;
	uint32_t intact; /* bit i: integer argument i is still in its register at address */
	/* The function reads these as they are at address. At exits both are dead. */
	bool flags_live, red_zone_live;
};

#endif
