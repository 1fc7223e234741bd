/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of relocate.h for x86-64. */
#ifndef ISPOT_PROBES_PATCH_RELOCATE_X86_H
#define ISPOT_PROBES_PATCH_RELOCATE_X86_H

#include <stddef.h>
#include <stdint.h>

struct patch_code;
struct patch_site;

int relocate_x86(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		 size_t entry_gap, size_t exit_gap, struct patch_code *out);
int relocate_jump_x86(uint64_t from, uint64_t to, uint8_t *bytes);
int relocate_short_jump_x86(uint64_t from, uint64_t to, uint8_t *bytes);

#endif
