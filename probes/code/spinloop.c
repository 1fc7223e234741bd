/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/code/spinloop.h"

#include <string.h>

#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

#define FUNCTION_BYTES_MAX (64u << 10)

static bool is_pause(const uint8_t *code, size_t n, bool aarch64)
{
	static const uint32_t waiting[] = { 0xd503203f, 0xd503205f,
					    0xd5033fdf }; /* yield wfe isb */
	uint32_t word;

	if (!aarch64)
		return n >= 2 && code[0] == 0xf3 && code[1] == 0x90;
	if (n < 4)
		return false;
	memcpy(&word, code, 4);
	return word == waiting[0] || word == waiting[1] || word == waiting[2];
}

/* Most instructions have no pause nearby; then nothing needs decoding. */
static bool pause_near(const uint8_t *code, size_t n, size_t at, bool aarch64)
{
	size_t from = at > SPINLOOP_BYTES_MAX ? at - SPINLOOP_BYTES_MAX : 0;
	size_t to = at + SPINLOOP_BYTES_MAX < n ? at + SPINLOOP_BYTES_MAX : n;

	for (size_t i = from; i < to; i += aarch64 ? 4 : 1)
		if (is_pause(code + i, n - i, aarch64))
			return true;
	return false;
}

struct scan {
	const uint8_t *code;
	size_t n;
	uint64_t start, address;
	bool aarch64;
	/* a ring of the latest pauses near the address */
	uint64_t pauses[16];
	unsigned n_pauses;
};

static bool pause_within(const struct scan *s, uint64_t from, uint64_t to)
{
	unsigned n = s->n_pauses < 16 ? s->n_pauses : 16;

	for (unsigned i = 0; i < n; i++)
		if (s->pauses[i] >= from && s->pauses[i] < to)
			return true;
	return false;
}

/* Whether this branch goes back over both the address and a pause. */
static bool closes_loop(const struct scan *s, const struct insn *in)
{
	uint64_t end = in->address + in->length;

	return (in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target <= s->address &&
	       in->target >= s->start && s->address < end &&
	       end - in->target <= SPINLOOP_BYTES_MAX && pause_within(s, in->target, end);
}

static bool scan(struct scan *s, decode_fn decode, void *decoder)
{
	for (size_t i = 0; i < s->n;) {
		uint64_t address = s->start + i;
		struct insn in;

		if (address > s->address + SPINLOOP_BYTES_MAX)
			return false;
		if (!decode(decoder, s->code + i, s->n - i, address, &in) || !in.length)
			return false;
		if (address + SPINLOOP_BYTES_MAX >= s->address &&
		    is_pause(s->code + i, s->n - i, s->aarch64))
			s->pauses[s->n_pauses++ % 16] = address;
		if (closes_loop(s, &in))
			return true;
		i += in.length;
	}
	return false;
}

bool spinloop_in(const uint8_t *code, size_t n, uint64_t start, uint64_t address, bool aarch64)
{
	struct scan s = {
		.code = code, .n = n, .start = start, .address = address, .aarch64 = aarch64
	};
	void *decoder;
	bool found;

	if (address < start || address - start >= n ||
	    !pause_near(code, n, (size_t)(address - start), aarch64))
		return false;
	if (aarch64)
		return scan(&s, decode_arm64, NULL);
	decoder = decoder_x86_new(false);
	found = scan(&s, decode_x86, decoder);
	decoder_x86_free(decoder);
	return found;
}

bool spinloop_at(struct dso *dso, uint64_t address)
{
	const struct dso_function *f = dso_function_at(dso, address);
	const uint8_t *code;
	size_t n;

	if (!f)
		return false;
	code = dso_code(dso, f->address, &n);
	if (!code)
		return false;
	if (f->size && f->size < n)
		n = f->size;
	if (n > FUNCTION_BYTES_MAX)
		n = FUNCTION_BYTES_MAX;
	return spinloop_in(code, n, f->address, address, dso_machine(dso) == DSO_AARCH64);
}
