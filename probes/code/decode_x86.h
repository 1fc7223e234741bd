/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decode_fn for x86-64. */
#ifndef ISPOT_PROBES_CODE_DECODE_X86_H
#define ISPOT_PROBES_CODE_DECODE_X86_H

#include "probes/code/decode.h"

/*
 * Returns a decoder, or NULL. multibyte_nops: the kernel emulates multi-byte nops and optimizes
 * nop5.
 */
void *decoder_x86_new(bool multibyte_nops);
void decoder_x86_free(void *decoder);
bool decode_x86(void *decoder, const uint8_t *code, size_t n, uint64_t address, struct insn *out);

#endif
