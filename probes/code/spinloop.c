/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/code/spinloop.h"

#include <string.h>

#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
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

/* ---- loops that only look again, on x86 ---- */

/* The state of the registers after the instructions of one round that were read so far. */
struct round {
	uint32_t written;  /* by the loop at all */
	uint32_t constant; /* the same value in every round */
	uint32_t same;	   /* such a value, or what was loaded from an address that is the same */
	bool looks;	   /* loads what another thread may change */
};

#define STACK_POINTER (1u << 4)

static bool loads_only(const struct insn *in)
{
	return in->loads && !in->stores;
}

/* Returns whether the instruction does nothing that counts as work. */
static bool is_looking(struct round *r, const struct insn *in)
{
	bool memory = in->loads || in->stores;
	bool same = !(in->reads & ~r->same), constant = !memory && !(in->reads & ~r->constant);

	if (!in->simple || in->is_call || (in->stores && !in->exchanges))
		return false;
	if (memory && in->addresses & ~r->same)
		return false;
	if (in->exchanges && in->reads & ~in->addresses & ~r->constant)
		return false;
	r->looks |= memory && !(in->addresses & STACK_POINTER);
	r->constant &= ~in->writes;
	r->same &= ~in->writes;
	if (constant)
		r->constant |= in->writes;
	if (constant || (same && !in->exchanges && (loads_only(in) || !memory)))
		r->same |= in->writes;
	return true;
}

#define ROUND_INSNS_MAX 32

/* Whether the bytes from `from` to `to` are a loop of that kind around the instruction at `at`. */
static bool only_looks(void *decoder, const uint8_t *code, size_t from, size_t to, size_t at)
{
	struct insn insns[ROUND_INSNS_MAX];
	struct round round = { 0 };
	unsigned n = 0;
	bool around = false;

	for (size_t i = from; i < to; i += insns[n++].length) {
		if (n == ROUND_INSNS_MAX || !decode_x86(decoder, code + i, to - i, i, &insns[n]) ||
		    !insns[n].length)
			return false;
		around |= i == at;
		round.written |= insns[n].writes;
	}
	if (!around || !n || insns[n - 1].target != from)
		return false;
	round.constant = round.same = ~round.written;
	for (unsigned i = 0; i < n; i++)
		if (!is_looking(&round, &insns[i]))
			return false;
	return round.looks;
}

/* Returns the length of what may be a branch back to *to, or 0. at: where the loop must be. */
static size_t branch_back(const uint8_t *code, size_t n, size_t i, size_t at, size_t *to)
{
	bool near = n - i >= 2 && ((code[i] & 0xf0) == 0x70 || code[i] == 0xeb);
	bool far = n - i >= 6 && code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80;
	size_t length = near ? 2 : far ? 6 : n - i >= 5 && code[i] == 0xe9 ? 5 : 0;
	int32_t back = near ? (int8_t)code[i + 1] : 0;

	if (!length)
		return 0;
	if (!near)
		memcpy(&back, code + i + length - 4, 4);
	if (back >= 0 || back < -SPINLOOP_BYTES_MAX || (size_t)-back > i + length)
		return 0;
	*to = i + length - (size_t)-back;
	return *to <= at ? length : 0;
}

/* Decodes from where a branch leads to, so that nothing before the loop needs decoding. */
static bool looks_again(const uint8_t *code, size_t n, size_t at)
{
	void *decoder = NULL;
	bool found = false;
	size_t to = 0;

	for (size_t i = at; i < n && i < at + SPINLOOP_BYTES_MAX && !found; i++) {
		size_t length = branch_back(code, n, i, at, &to);

		if (!length)
			continue;
		if (!decoder)
			decoder = decoder_x86_new(false);
		found = decoder && only_looks(decoder, code, to, i + length, at);
	}
	decoder_x86_free(decoder);
	return found;
}

static bool around_pause(const uint8_t *code, size_t n, uint64_t start, uint64_t address,
			 bool aarch64)
{
	struct scan s = {
		.code = code, .n = n, .start = start, .address = address, .aarch64 = aarch64
	};
	void *decoder;
	bool found;

	if (!pause_near(code, n, (size_t)(address - start), aarch64))
		return false;
	if (aarch64)
		return scan(&s, decode_arm64, NULL);
	decoder = decoder_x86_new(false);
	found = scan(&s, decode_x86, decoder);
	decoder_x86_free(decoder);
	return found;
}

bool spinloop_in(const uint8_t *code, size_t n, uint64_t start, uint64_t address, bool aarch64)
{
	if (address < start || address - start >= n)
		return false;
	return around_pause(code, n, start, address, aarch64) ||
	       (!aarch64 && looks_again(code, n, (size_t)(address - start)));
}

/* Finds the function at an address: a file without symbols still has the bounds of its code. */
static bool bounds_at(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size)
{
	const struct dso_function *f = dso_function_at(dso, address);

	if (!f)
		return dso_frame_range(dso, address, start, size);
	*start = f->address;
	*size = f->size;
	return true;
}

bool spinloop_at(struct dso *dso, uint64_t address)
{
	uint64_t start, size;
	const uint8_t *code;
	size_t n;

	if (!bounds_at(dso, address, &start, &size))
		return false;
	code = dso_code(dso, start, &n);
	if (!code)
		return false;
	if (size && size < n)
		n = size;
	if (n > FUNCTION_BYTES_MAX)
		n = FUNCTION_BYTES_MAX;
	return spinloop_in(code, n, start, address, dso_machine(dso) == DSO_AARCH64);
}
