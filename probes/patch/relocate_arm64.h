/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of relocate.h for aarch64. */
#ifndef ISPOT_PROBES_PATCH_RELOCATE_ARM64_H
#define ISPOT_PROBES_PATCH_RELOCATE_ARM64_H

#include <stddef.h>
#include <stdint.h>

struct patch_code;
struct patch_site;

int relocate_arm64(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		   size_t entry_gap, size_t exit_gap, struct patch_code *out);
int relocate_jump_arm64(uint64_t from, uint64_t to, uint8_t *bytes);

#endif
