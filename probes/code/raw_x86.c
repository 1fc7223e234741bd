/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/code/raw_x86.h"

#include <stddef.h>
#include <string.h>

static bool is_prefix(struct raw *r, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		r->operand16 = true;
		return true;
	case 0xf0:
		r->lock = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		r->segment = true;
		return true;
	case 0xf2:
	case 0xf3:
		r->repeat = true;
		return true;
	case 0x64:
	case 0x65:
	case 0x67:
		return true;
	}
	return false;
}

void raw_parse(struct raw *r, const uint8_t *p)
{
	*r = (struct raw){ .map = 1 };
	while (r->prefixes < 14 && is_prefix(r, *p)) {
		r->prefixes++;
		p++;
	}
	if ((*p & 0xf0) == 0x40) {
		r->rex = *p++;
		r->prefixes++;
	}
	r->vector = *p == 0xc4 || *p == 0xc5 || *p == 0x62 || (*p == 0x8f && (p[1] & 0x38));
	if (*p == 0x0f) {
		r->map = 2;
		p++;
		if (*p == 0x38 || *p == 0x3a) {
			r->map = 3;
			p++;
		}
	}
	r->opcode = *p;
}

/* One-byte opcodes that the kernel refuses in 64-bit programs (good_insns_64), 16 in a row. */
static const uint16_t refused_opcodes[16] = {
	0x40c0, 0xc0c0, 0x8080, 0x8080, 0xffff, 0x0000, 0xf007, 0x0000,
	0x0004, 0x0400, 0x0000, 0x0000, 0xf030, 0x0070, 0xf4f0, 0x0c13,
};

struct danger {
	uint8_t map, opcode;
	const char *refusal;
};

/* Instructions that all or some kernels accept, but that must not be probed. */
static const struct danger dangers[] = {
	/* Measured on 6.18: after the step, the target continues at a wild address. */
	{ 2, 0x05, "is a system call" },
	{ 2, 0x34, "is a system call" },
	/*
	 * Measured: pushf saves the step's trap flag, popf restores it, and SIGTRAP ends the
	 * target.
	 */
	{ 1, 0x9c, "pushes the flags, which single-stepping changes" },
	{ 2, 0x00, "is a system instruction" },
	{ 2, 0x01, "is a system instruction" },
	{ 2, 0x06, "is a system instruction" },
	{ 2, 0x07, "is a system instruction" },
	{ 2, 0x08, "is a system instruction" },
	{ 2, 0x09, "is a system instruction" },
	{ 2, 0x0b, "is a trap" },
	{ 2, 0xb9, "is a trap" },
	{ 2, 0xff, "is a trap" },
	{ 2, 0x30, "is a system instruction" },
	{ 2, 0x35, "is a system instruction" },
	{ 2, 0x37, "is a system instruction" },
	{ 2, 0x78, "is a system instruction" },
	{ 2, 0x79, "is a system instruction" },
};

bool raw_is_branch(const struct raw *r)
{
	if (r->map == 2)
		return (r->opcode & 0xf0) == 0x80;
	return r->map == 1 && ((r->opcode & 0xf0) == 0x70 || r->opcode == 0xe8 ||
			       r->opcode == 0xe9 || r->opcode == 0xeb);
}

bool raw_is_repeated(const struct raw *r)
{
	return r->repeat && r->map == 1 &&
	       ((r->opcode >= 0xa4 && r->opcode <= 0xa7) ||
		(r->opcode >= 0xaa && r->opcode <= 0xaf));
}

const char *raw_refusal(const struct raw *r)
{
	if (r->lock)
		return "has a LOCK prefix";
	if (r->segment)
		return "has a segment prefix";
	if (r->vector)
		return "is a VEX or EVEX instruction"; /* the kernel looks up a stray byte of these
							*/
	if (r->map == 1 && refused_opcodes[r->opcode >> 4] >> (r->opcode & 15) & 1)
		return "has an opcode the kernel refuses";
	for (size_t i = 0; i < sizeof(dangers) / sizeof(dangers[0]); i++)
		if (dangers[i].map == r->map && dangers[i].opcode == r->opcode)
			return dangers[i].refusal;
	if (raw_is_branch(r) && r->operand16)
		return "is a 16-bit branch";
	if (raw_is_repeated(r))
		return "is repeated, and a probe on it fires each time";
	/*
	 * Kernels up to 6.18 emulate pause as a nop. On 7.3, in an emulated machine, programs with
	 * a probe on a pause died of SIGSEGV for an unknown reason.
	 */
	if (r->map == 1 && r->opcode == 0x90 && r->repeat)
		return "is a pause, after whose step some kernels lose their way";
	/* xchg %rax, %r8 has the opcode of nop, and the kernel emulates it as a nop. */
	if (r->map == 1 && r->opcode == 0x90 && (r->rex & 1))
		return "would be emulated as a nop";
	return NULL;
}

static const struct {
	uint8_t n, bytes[8];
} long_nops[] = {
	{ 2, { 0x66, 0x90 } },
	{ 3, { 0x0f, 0x1f, 0x00 } },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 } },
	{ 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 6, { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 7, { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 } },
	{ 8, { 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 } },
};

static bool is_long_nop(const uint8_t *code, size_t length)
{
	for (size_t i = 0; i < sizeof(long_nops) / sizeof(long_nops[0]); i++)
		if (long_nops[i].n == length && !memcmp(long_nops[i].bytes, code, length))
			return true;
	return false;
}

static bool is_emulated_push(const struct raw *r)
{
	return r->map == 1 && (r->opcode & 0xf8) == 0x50 &&
	       (!r->prefixes || (r->prefixes == 1 && r->rex == 0x41));
}

/*
 * The optimization writes five bytes at once, so it does not apply to instructions that cross a
 * page.
 */
static bool crosses_page(uint64_t address)
{
	return (address & 4095) > 4096 - 5;
}

enum probe_class raw_class(const struct raw *r, const uint8_t *code, uint8_t length,
			   uint64_t address, bool multibyte_nops)
{
	if (multibyte_nops && is_long_nop(code, length))
		return length == 5 && !crosses_page(address) ? CLASS_NOP5 : CLASS_EMULATED;
	if (r->map == 1 && r->opcode == 0x90)
		return r->operand16 ? CLASS_N
				    : CLASS_EMULATED; /* 66 90: refused by some before 6.2 */
	if (raw_is_branch(r) || is_emulated_push(r))
		return CLASS_EMULATED;
	return CLASS_SINGLE_STEP;
}
