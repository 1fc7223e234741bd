// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Any bytes as a function's code, of both machines: decoded, walked, its loops and where its probes
 * would go. The first bytes say which machine it is, what is captured, and where it is cut into two
 * parts, as compilers do it.
 */
#include <stdlib.h>
#include <string.h>

#include "given.h"
#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "probes/code/flow.h"
#include "probes/code/input.h"
#include "probes/code/loops.h"
#include "probes/code/spinloop.h"
#include "probes/place/placement.h"

#define ADDRESS 0x401000

static uint64_t sum; /* of what was said, so that it is looked at */

/* In memory of its own, so that a byte too far is seen. */
static uint8_t *copy_of(const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, data, n);
	return copy;
}

static void decode_everywhere(const struct code_input *in)
{
	void *decoder = decoder_x86_new(in->nop5_optimised);

	for (size_t i = 0; i < in->size_bytes; i++) {
		size_t n = in->size_bytes - i;
		uint8_t *code = copy_of(in->code + i, n);
		struct insn insn = { 0 };
		bool is_insn = in->machine == CODE_X86_64
				       ? decode_x86(decoder, code, n, in->address + i, &insn)
				       : decode_arm64(NULL, code, n, in->address + i, &insn);

		if (is_insn && (!insn.length || insn.length > n))
			abort();
		sum += insn.target + (insn.refusal ? strlen(insn.refusal) : 0);
		free(code);
	}
	decoder_x86_free(decoder);
}

static void look_for_loops(const struct code_input *in)
{
	struct loops *loops = loops_read(in);
	struct loop outermost, innermost;

	for (size_t i = 0; loops && i < in->size_bytes; i++)
		if (loops_around(loops, in->address + i, &outermost, &innermost))
			sum += outermost.head + innermost.insns;
	loops_free(loops);
	for (size_t i = 0; i < in->size_bytes; i += 4)
		sum += spinloop_in(in->code, in->size_bytes, in->address, in->address + i,
				   in->machine == CODE_AARCH64);
}

static void place(const struct code_input *in)
{
	struct placement p;

	placement_find(in, &p);
	if (p.possible && p.entry_offset >= in->size_bytes)
		abort();
	if (p.n_ret_sites > PLACEMENT_RET_SITES_MAX)
		abort();
	placement_without_return(&p);
	sum += p.entry_offset + strlen(p.reason) + strlen(p.ret_sites_reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_part part = { 0 };
	struct code_input in = { .address = ADDRESS };
	uint8_t *main_code, *part_code;
	size_t cut;

	if (size < 5 || size > 2048)
		return -1;
	in.machine = data[0] & 1 ? CODE_AARCH64 : CODE_X86_64;
	in.nop5_optimised = data[0] & 2;
	in.entry_limit = data[0] & 4 ? data[3] : 0;
	in.argument_mask = data[1];
	cut = data[0] & 8 ? 4 + data[2] % (size - 4) : size;
	main_code = copy_of(data + 4, cut - 4);
	part_code = copy_of(data + cut, size - cut);
	in.code = main_code;
	in.size_bytes = cut - 4;
	part = (struct code_part){ part_code, size - cut, data[0] & 16 ? 0x400000 : 0x402000 };
	in.parts = &part;
	in.n_parts = size > cut;
	decode_everywhere(&in);
	look_for_loops(&in);
	place(&in);
	free(main_code);
	free(part_code);
	return 0;
}
