/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the instructions that a site of plan.h displaces to another address, and the jumps that
 * lead there.
 */
#ifndef ISPOT_PROBES_PATCH_RELOCATE_H
#define ISPOT_PROBES_PATCH_RELOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "probes/code/input.h"
#include "probes/patch/site.h"

#define PATCH_CODE_MAX	 128
#define RELOCATE_GAP_MAX 16384

/*
 * The code of a stub without its gaps, whose sizes the caller chooses:
 *
 *     stub_address:  entry_gap bytes of the caller's     if is_entry
 *                    bytes[0] up to bytes[exit_at]
 *                    exit_gap bytes of the caller's      if exit is not PATCH_NO_EXIT
 *                    bytes[exit_at] up to bytes[n]
 *
 * The code ends with the way out: a jump behind the site, the ret, or the tail call. The caller's
 * code in a gap runs once for each entry or exit, falls through to its end, and preserves all
 * registers, and, if the site says that they are live, the flags and the 128 bytes below the stack
 * pointer. On aarch64 a gap is a multiple of four bytes and at most RELOCATE_GAP_MAX.
 */
struct patch_code {
	uint8_t bytes[PATCH_CODE_MAX];
	size_t n, exit_at; /* exit_at: n if there is no exit */
};

/*
 * Relocates the displaced instructions of a site. site_address is where site->address is loaded in
 * the process. A gap that the site does not have must be 0. Returns 0, or -ERANGE if something that
 * the instructions name or jump to is too far away from the stub: 2 GB on x86-64, 128 MB on
 * aarch64.
 */
int patch_relocate(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		   size_t entry_gap, size_t exit_gap, struct patch_code *out);

/* Returns the bytes of the jump at the site's address. */
size_t patch_jump_bytes(const struct patch_site *site);
/* Write a long or a short jump. -ERANGE: to is too far away. */
int patch_jump(enum code_machine machine, uint64_t from, uint64_t to,
	       uint8_t bytes[PATCH_JUMP_BYTES]);
int patch_short_jump(uint64_t from, uint64_t to, uint8_t bytes[PATCH_SHORT_BYTES]);

#endif
