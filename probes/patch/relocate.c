// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/patch/relocate.h"

#include "probes/patch/site.h"
#include "probes/patch/relocate_arm64.h"
#include "probes/patch/relocate_x86.h"

int patch_relocate(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		   size_t entry_gap, size_t exit_gap, struct patch_code *out)
{
	return site->machine == CODE_AARCH64
		       ? relocate_arm64(site, site_address, stub_address, entry_gap, exit_gap, out)
		       : relocate_x86(site, site_address, stub_address, entry_gap, exit_gap, out);
}

size_t patch_jump_bytes(const struct patch_site *site)
{
	if (site->machine == CODE_AARCH64)
		return PATCH_JUMP_BYTES_ARM64;
	return site->island ? PATCH_SHORT_BYTES : PATCH_JUMP_BYTES;
}

int patch_jump(enum code_machine machine, uint64_t from, uint64_t to,
	       uint8_t bytes[PATCH_JUMP_BYTES])
{
	return machine == CODE_AARCH64 ? relocate_jump_arm64(from, to, bytes)
				       : relocate_jump_x86(from, to, bytes);
}

int patch_short_jump(uint64_t from, uint64_t to, uint8_t bytes[PATCH_SHORT_BYTES])
{
	return relocate_short_jump_x86(from, to, bytes);
}
