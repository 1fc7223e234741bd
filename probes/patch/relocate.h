/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a site of plan.h displaces, at another address; and the jumps that lead there. */
#ifndef ISPOT_PROBES_PATCH_RELOCATE_H
#define ISPOT_PROBES_PATCH_RELOCATE_H

#include <stddef.h>
#include <stdint.h>

struct patch_site;

#define PATCH_JUMP_BYTES  5 /* e9 and a displacement: at the site, or in its island */
#define PATCH_SHORT_BYTES 2 /* eb and a displacement: at a site that has an island */

#define PATCH_CODE_MAX 128

/*
 * A stub's code but for its gaps, for which the caller says how many bytes it wants:
 *
 *   stub_address:  entry_gap bytes of the caller's     if is_entry
 *                  bytes[0] up to bytes[exit_at]
 *                  exit_gap bytes of the caller's      if exit is not PATCH_NO_EXIT
 *                  bytes[exit_at] up to bytes[n]
 *
 * It ends with the way out: a jump behind the site, the ret, or the tail call. The caller's code
 * in a gap runs once for each entry or exit, falls through to its end, and keeps all registers;
 * flags and the 128 bytes below the stack pointer too, if the site says that they are live.
 */
struct patch_code {
	uint8_t bytes[PATCH_CODE_MAX];
	size_t n, exit_at; /* exit_at: n if there is no exit */
};

/*
 * Relocates a site's displaced instructions. site_address: of site->address in the process, as
 * loaded. A gap that the site does not have must be 0. 0, or -ERANGE: something that they name or
 * jump to is further than 2 GB away from the stub.
 */
int patch_relocate(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		   size_t entry_gap, size_t exit_gap, struct patch_code *out);

/* Writes PATCH_JUMP_BYTES or PATCH_SHORT_BYTES; -ERANGE: to is too far away. */
int patch_jump(uint64_t from, uint64_t to, uint8_t bytes[PATCH_JUMP_BYTES]);
int patch_short_jump(uint64_t from, uint64_t to, uint8_t bytes[PATCH_SHORT_BYTES]);

#endif
