/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/layout_x86.h"

#include <string.h>

#define INSN_BYTES_MAX 15

/*
 * What follows an opcode, one character for each of the 16 opcodes of a row: '.' nothing, 'm' a
 * ModRM byte, 'b' and 'z' immediates of 1 byte and of the operand's size (at most 4), 'B' and 'Z' a
 * ModRM byte and such an immediate, 'w' 2 bytes, 'e' 3 bytes, 'v' an immediate of the operand's
 * full size, 'a' an address, 'r' and 'R' branch distances of 1 and 4 bytes, 'g' and 'G' the groups
 * f6 and f7, '-' no instruction.
 */
static const char one_byte[16][17] = {
	"mmmmbz--mmmmbz--", "mmmmbz--mmmmbz--", "mmmmbz--mmmmbz--", "mmmmbz--mmmmbz--",
	"----------------", "................", "---m----zZbB....", "rrrrrrrrrrrrrrrr",
	"BZ-Bmmmmmmmmmmmm", "..........-.....", "aaaa....bz......", "bbbbbbbbvvvvvvvv",
	"BBw.--BZe.w..b-.", "mmmm---.mmmmmmmm", "rrrrbbbbRR-r....", "-.--..gG......mm",
};

static const char two_bytes[16][17] = {
	"mmmm-.....-.-m.B", "mmmmmmmmmmmmmmmm", "mmmm----mmmmmmmm", "......-.--------",
	"mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "BBBBmmm.mm--mmmm",
	"RRRRRRRRRRRRRRRR", "mmmmmmmmmmmmmmmm", "...mBm--...mBmmm", "mmmmmmmmmmBmmmmm",
	"mmBmBBBm........", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm",
};

struct reader {
	const uint8_t *code;
	size_t n, at;
	bool wide;     /* REX.W */
	bool prefixed; /* 66, f2, f3 or lock */
	bool failed;
};

static uint8_t next(struct reader *r)
{
	if (r->at >= r->n || r->at >= INSN_BYTES_MAX) {
		r->failed = true;
		return 0;
	}
	return r->code[r->at++];
}

static uint8_t peek(const struct reader *r)
{
	return r->at < r->n ? r->code[r->at] : 0;
}

static bool read_prefix(struct reader *r, struct layout *l)
{
	switch (peek(r)) {
	case 0x66:
		l->operand16 = r->prefixed = true;
		break;
	case 0x67:
		l->address32 = true;
		break;
	case 0xf0:
		l->lock = r->prefixed = true;
		break;
	case 0xf2:
	case 0xf3:
		l->repeat = r->prefixed = true;
		break;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		break;
	default:
		return false;
	}
	next(r);
	return true;
}

static void read_modrm(struct reader *r, struct layout *l)
{
	uint8_t mod, rm;

	l->modrm = next(r);
	l->has_modrm = true;
	mod = l->modrm >> 6;
	rm = l->modrm & 7;
	if (mod == 3)
		return;
	l->rip = mod == 0 && rm == 5;
	if (mod)
		l->disp_bytes = mod == 1 ? 1 : 4;
	else if (rm == 5)
		l->disp_bytes = 4;
	if (rm == 4 && (next(r) & 7) == 5 && mod == 0)
		l->disp_bytes = 4;
	l->disp_at = (uint8_t)r->at;
	r->at += l->disp_bytes;
}

static void read_immediate(struct reader *r, struct layout *l, size_t bytes)
{
	l->imm_at = (uint8_t)r->at;
	l->imm_bytes = (uint8_t)bytes;
	r->at += bytes;
}

static void read_operands(struct reader *r, struct layout *l, char kind)
{
	size_t full = l->operand16 && !r->wide ? 2 : 4;

	if (strchr("mBZgG", kind))
		read_modrm(r, l);
	switch (kind) {
	case '-':
		r->failed = true;
		break;
	case 'b':
	case 'B':
		read_immediate(r, l, 1);
		break;
	case 'z':
	case 'Z':
		read_immediate(r, l, full);
		break;
	case 'g':
		read_immediate(r, l, l->modrm & 0x30 ? 0 : 1);
		break;
	case 'G':
		read_immediate(r, l, l->modrm & 0x30 ? 0 : full);
		break;
	case 'w':
		read_immediate(r, l, 2);
		break;
	case 'e':
		read_immediate(r, l, 3);
		break;
	case 'v':
		read_immediate(r, l, r->wide ? 8 : full);
		break;
	case 'a':
		read_immediate(r, l, l->address32 ? 4 : 8);
		break;
	case 'r':
	case 'R':
		l->relative = true;
		read_immediate(r, l, kind == 'r' ? 1 : 4);
		break;
	}
}

/*
 * Processors disagree about the size of a branch with an operand prefix, so it counts as no
 * instruction.
 */
static void read_plain(struct reader *r, struct layout *l)
{
	char kind;

	l->opcode = next(r);
	if (l->opcode != 0x0f) {
		kind = one_byte[l->opcode >> 4][l->opcode & 15];
	} else {
		l->opcode = next(r);
		l->map = l->opcode == 0x38 ? MAP_0F38 : l->opcode == 0x3a ? MAP_0F3A : MAP_0F;
		if (l->map != MAP_0F)
			l->opcode = next(r);
		kind = l->map == MAP_0F38   ? 'm'
		       : l->map == MAP_0F3A ? 'B'
					    : two_bytes[l->opcode >> 4][l->opcode & 15];
	}
	read_operands(r, l, kind);
	/* xbegin is a branch. */
	if (l->map == MAP_BYTE && l->opcode == 0xc7 && l->modrm == 0xf8)
		l->relative = true;
	r->failed |= l->relative && l->operand16 && !r->wide;
	/*
	 * Moves from and to control and debug registers: what looks like a memory operand is a
	 * register.
	 */
	if (l->map == MAP_0F && l->opcode >= 0x20 && l->opcode <= 0x23)
		r->failed |= l->modrm < 0xc0;
	/* AMD's XOP, and its extrq with two immediates. */
	r->failed |= l->map == MAP_BYTE && l->opcode == 0x8f && l->modrm & 0x38;
	r->failed |= l->map == MAP_0F && l->opcode == 0x78 && r->prefixed;
}

/* Reads VEX and EVEX encodings. They have few shapes, which depend on the map. */
static void read_vector(struct reader *r, struct layout *l)
{
	uint8_t first = next(r), second = next(r), map;
	bool has_immediate;

	map = first == 0xc5 ? 1 : second & (first == 0xc4 ? 0x1f : 7);
	r->at += first == 0xc5 ? 0 : first == 0xc4 ? 1 : 2;
	l->opcode_at = (uint8_t)r->at;
	l->map = MAP_VECTOR;
	l->opcode = next(r);
	r->failed |= r->prefixed || map == 0 || map == 4 || map > 6 || (first != 0x62 && map > 3);
	has_immediate = map == 3 || (map == 1 && ((l->opcode >= 0x70 && l->opcode <= 0x73) ||
						  l->opcode == 0xc2 ||
						  (l->opcode >= 0xc4 && l->opcode <= 0xc6)));
	if (map == 1 && l->opcode == 0x77 && first != 0x62)
		return; /* vzeroupper */
	read_operands(r, l, has_immediate ? 'B' : 'm');
}

bool layout_read(const uint8_t *code, size_t n, struct layout *out)
{
	struct reader r = { .code = code, .n = n };
	uint8_t byte;

	*out = (struct layout){ 0 };
	while (r.at < INSN_BYTES_MAX && read_prefix(&r, out))
		;
	byte = peek(&r);
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vector(&r, out);
	} else {
		if ((byte & 0xf0) == 0x40)
			r.wide = next(&r) & 8;
		out->opcode_at = (uint8_t)r.at;
		read_plain(&r, out);
	}
	out->length = (uint8_t)r.at;
	return !r.failed && r.at <= n && r.at <= INSN_BYTES_MAX;
}

static int64_t signed_at(const uint8_t *p, uint8_t bytes)
{
	int32_t value;

	if (bytes == 1)
		return (int8_t)*p;
	memcpy(&value, p, sizeof(value));
	return value;
}

uint64_t layout_names(const struct layout *l, const uint8_t *code, uint64_t address)
{
	return address + l->length + (uint64_t)signed_at(code + l->disp_at, 4);
}

uint64_t layout_leads_to(const struct layout *l, const uint8_t *code, uint64_t address)
{
	return address + l->length + (uint64_t)signed_at(code + l->imm_at, l->imm_bytes);
}

/* ---- kinds of instructions ---- */

static unsigned extension(const struct layout *l)
{
	return l->modrm >> 3 & 7;
}

static bool is_indirect(const struct layout *l, unsigned near, unsigned far)
{
	return l->map == MAP_BYTE && l->opcode == 0xff &&
	       (extension(l) == near || extension(l) == far);
}

bool layout_is_call(const struct layout *l)
{
	return (l->map == MAP_BYTE && l->opcode == 0xe8) || is_indirect(l, 2, 3);
}

bool layout_is_jump(const struct layout *l)
{
	return (l->map == MAP_BYTE && (l->opcode == 0xe9 || l->opcode == 0xeb)) ||
	       is_indirect(l, 4, 5);
}

bool layout_is_conditional(const struct layout *l)
{
	return (l->map == MAP_BYTE && (l->opcode & 0xf0) == 0x70) ||
	       (l->map == MAP_0F && (l->opcode & 0xf0) == 0x80);
}

bool layout_is_ret(const struct layout *l)
{
	return l->map == MAP_BYTE && (l->opcode & 0xf6) == 0xc2;
}

bool layout_is_nop(const struct layout *l)
{
	if (l->lock)
		return false;
	return (l->map == MAP_BYTE && l->opcode == 0x90 && !l->repeat) ||
	       (l->map == MAP_0F && l->opcode == 0x1f);
}

bool layout_stops(const struct layout *l)
{
	if (l->map == MAP_0F)
		return l->opcode == 0x0b || l->opcode == 0xb9 || l->opcode == 0xff;
	return l->map == MAP_BYTE && (l->opcode == 0xcc || l->opcode == 0xf4);
}

/*
 * A copied call would leave a return address that points into the copy. The kernel or the program
 * may compare the address of a system call (seccomp, signal handlers) or of a trap.
 */
bool layout_can_move(const struct layout *l)
{
	if (layout_is_call(l) || layout_stops(l) || (l->rip && l->address32) ||
	    is_indirect(l, 3, 5))
		return false;
	if (l->relative)
		return layout_is_conditional(l) || layout_is_jump(l);
	if (l->map == MAP_0F)
		return l->opcode != 0x05 && l->opcode != 0x07 && l->opcode != 0x34 &&
		       l->opcode != 0x35 && l->opcode != 0x01;
	/* int, into, iret, retf, and enter, whose frame is not followed here */
	return l->map != MAP_BYTE ||
	       !(l->opcode == 0xcd || l->opcode == 0xcf || (l->opcode & 0xfe) == 0xca ||
		 l->opcode == 0xc8 || l->opcode == 0xf1);
}

static enum layout_flags flags_one_byte(const struct layout *l)
{
	unsigned op = l->opcode;

	if (op < 0x40) /* adc and sbb read the carry */
		return (op & 0x30) == 0x10 ? FLAGS_READ : FLAGS_SET;
	if ((op >= 0x80 && op <= 0x83))
		return extension(l) == 2 || extension(l) == 3 ? FLAGS_READ : FLAGS_SET;
	if (op == 0x84 || op == 0x85 || op == 0xa8 || op == 0xa9)
		return FLAGS_SET;
	if ((op >= 0x50 && op <= 0x5f) || op == 0x63 || op == 0x68 || op == 0x6a ||
	    (op >= 0x86 && op <= 0x8f) || (op >= 0x90 && op <= 0x97) || op == 0x98 || op == 0x99 ||
	    (op >= 0xb0 && op <= 0xbf) || op == 0xc6 || op == 0xc7 || op == 0xc9)
		return FLAGS_KEPT;
	return FLAGS_READ;
}

/* Knows moves and the vector instructions of compiled code, of which only comparisons set flags. */
static enum layout_flags flags_two_bytes(const struct layout *l)
{
	unsigned op = l->opcode;

	if (op == 0x2e || op == 0x2f)
		return FLAGS_SET;
	if ((op >= 0x10 && op <= 0x1f) || (op >= 0x28 && op <= 0x2d) ||
	    (op >= 0x50 && op <= 0x76) || (op >= 0x7c && op <= 0x7f) || op == 0xb6 || op == 0xb7 ||
	    op == 0xbe || op == 0xbf || op >= 0xc8)
		return FLAGS_KEPT;
	return FLAGS_READ;
}

enum layout_flags layout_flags(const struct layout *l)
{
	if (l->map == MAP_BYTE)
		return flags_one_byte(l);
	return l->map == MAP_0F ? flags_two_bytes(l) : FLAGS_READ;
}
