/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decode_fn for aarch64, which needs no decoder. */
#ifndef ISPOT_PROBES_CODE_DECODE_ARM64_H
#define ISPOT_PROBES_CODE_DECODE_ARM64_H

#include "probes/code/decode.h"

bool decode_arm64(void *unused, const uint8_t *code, size_t n, uint64_t address, struct insn *out);

#endif
