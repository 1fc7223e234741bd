// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Decodes aarch64 instructions for placement. All have four bytes, and the kernel decides by masks
 * (arch/arm64/kernel/probes/decode-insn.c), so this file uses masks, too.
 *
 * Some instructions count as writing a general register that they do not write: the exact answer
 * would take a table (Rd of a vector instruction counts as a general register). This may end a run
 * too early, but never too late.
 */
#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"

enum { FP = 29, LR = 30, SP_OR_ZERO = 31 };

static uint32_t field(uint32_t w, int high, int low)
{
	return w >> low & ((1u << (high - low + 1)) - 1);
}

static int64_t signed_field(uint32_t w, int high, int low)
{
	int bits = high - low + 1;
	int64_t v = field(w, high, low);

	return v >> (bits - 1) ? v - (1ll << bits) : v;
}

struct mask {
	uint32_t mask, value;
};

static bool matches(uint32_t w, const struct mask *masks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((w & masks[i].mask) == masks[i].value)
			return true;
	return false;
}
#define MATCHES(w, masks) matches(w, masks, sizeof(masks) / sizeof((masks)[0]))

/* ---- what the kernel does with a probe ---- */

static const struct mask simulated[] = {
	{ 0xff000010, 0x54000000 }, /* b.cond */
	{ 0x7e000000, 0x34000000 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000 }, /* tbz, tbnz */
	{ 0x1f000000, 0x10000000 }, /* adr, adrp */
	{ 0x7c000000, 0x14000000 }, /* b, bl */
	{ 0xfffffc1f, 0xd61f0000 }, /* br */
	{ 0xfffffc1f, 0xd63f0000 }, /* blr */
	{ 0xfffffc1f, 0xd65f0000 }, /* ret */
	{ 0xffffffff, 0xd503201f }, /* nop (stepped before 6.13) */
};

/*
 * Hints that the kernel can single-step: nop, pointer authentication, landing pads, but not yield,
 * wfe, esb and so on.
 */
static bool steppable_hint(uint32_t w)
{
	switch (field(w, 11, 5)) {
	case 0x00: /* nop */
	case 0x07: /* xpaclri */
	case 0x08: /* pacia1716 */
	case 0x0a: /* pacib1716 */
	case 0x0c: /* autia1716 */
	case 0x0e: /* autib1716 */
	case 0x18: /* paciaz */
	case 0x19: /* paciasp */
	case 0x1a: /* pacibz */
	case 0x1b: /* pacibsp */
	case 0x1c: /* autiaz */
	case 0x1d: /* autiasp */
	case 0x1e: /* autibz */
	case 0x1f: /* autibsp */
	case 0x20: /* bti, bti c, bti j, bti jc */
	case 0x22:
	case 0x24:
	case 0x26:
		return true;
	}
	return false;
}

static bool is_hint(uint32_t w)
{
	return (w & 0xfffff01f) == 0xd503201f;
}

static bool is_exclusive(uint32_t w)
{
	return (w & 0x3f800000) == 0x08000000; /* ldxr, stxr, their pairs, and casp */
}

static const struct {
	struct mask m;
	const char *refusal;
} refused[] = {
	{ { 0xff000000, 0xd4000000 }, "raises an exception" },	    /* svc, hvc, smc, brk, hlt */
	{ { 0xfff00000, 0xd5300000 }, "reads a system register" },  /* mrs */
	{ { 0xfff00000, 0xd5100000 }, "writes a system register" }, /* msr */
	{ { 0xfff8f01f, 0xd500401f }, "writes a system register" }, /* msr immediate */
	{ { 0xfe000000, 0xd6000000 },
	  "is an authenticated branch" }, /* after br, blr, ret: retaa, braa, eret */
	{ { 0x3b000000, 0x18000000 },
	  "loads relative to its own address" }, /* ldr literal: broken, then refused */
	{ { 0x3b200c00, 0x19000400 }, "copies or sets memory" }, /* cpy*, set* */
};

static const char *refusal_of(uint32_t w)
{
	if (is_exclusive(w))
		return "is an exclusive load or store";
	if (is_hint(w) && !steppable_hint(w))
		return "is a hint the kernel does not step";
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if ((w & refused[i].m.mask) == refused[i].m.value)
			return refused[i].refusal;
	return NULL;
}

/* ---- what an instruction does ---- */

static void set_flow(uint32_t w, struct insn *out)
{
	uint64_t pc = out->address;

	if ((w & 0xfc000000) == 0x14000000) { /* b */
		out->flow = FLOW_JUMP;
		out->target = pc + (uint64_t)(signed_field(w, 25, 0) * 4);
	} else if ((w & 0xfc000000) == 0x94000000) { /* bl */
		out->is_call = true;
	} else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
		out->flow = FLOW_BRANCH; /* b.cond, bc.cond, cbz, cbnz */
		out->target = pc + (uint64_t)(signed_field(w, 23, 5) * 4);
	} else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		out->flow = FLOW_BRANCH;
		out->target = pc + (uint64_t)(signed_field(w, 18, 5) * 4);
	} else if ((w & 0xfe000000) ==
		   0xd6000000) { /* br, blr, ret, eret and their authenticated forms */
		static const uint8_t flows[8] = { FLOW_JUMP_REG, FLOW_NEXT, FLOW_RET,  FLOW_STOP,
						  FLOW_STOP,	 FLOW_STOP, FLOW_STOP, FLOW_STOP };

		out->flow = flows[field(w, 23, 21) & 3];
		if (field(w, 23, 21) == 4)
			out->flow = FLOW_STOP; /* eret */
		out->is_call = (field(w, 23, 21) & 3) == 1;
		out->jump_register = (uint8_t)field(w, 9, 5);
	} else if ((w & 0xffe0001f) == 0xd4200000 || (w & 0xffff0000) == 0) { /* brk, udf */
		out->flow = FLOW_STOP;
	}
	if (out->is_call)
		out->writes |= 1u << LR;
}

static void set_sp_add(struct insn *out, int64_t delta)
{
	out->sp = SP_ADD;
	out->sp_delta = (int32_t)delta;
}

/* Data processing: finds the written register, and what happens to sp and the frame pointer. */
static void set_data_immediate(uint32_t w, struct insn *out)
{
	unsigned rd = field(w, 4, 0), rn = field(w, 9, 5);
	bool add_sub = (w & 0x1f800000) == 0x11000000, flags = w & 0x20000000;
	int64_t imm = (int64_t)field(w, 21, 10) << ((w & 0x00400000) ? 12 : 0);

	if (w & 0x40000000)
		imm = -imm;
	if (rd != SP_OR_ZERO)
		out->writes |= 1u << rd;
	if (add_sub && flags && rd == SP_OR_ZERO)
		out->compares = true;
	if (add_sub && !flags && rd == SP_OR_ZERO) {
		out->sp = rn == FP ? SP_FRAME : SP_LOST;
		out->sp_delta = (int32_t)imm;
		if (rn == SP_OR_ZERO)
			set_sp_add(out, imm);
	} else if (add_sub && !flags && rd == FP && rn == SP_OR_ZERO) {
		out->frame = FRAME_SET;
		out->frame_delta = (int32_t)imm;
	} else if (rd == FP) {
		out->frame = FRAME_LOST;
	} else if ((w & 0x1f800000) == 0x12000000 && !(field(w, 30, 29) == 3) && rd == SP_OR_ZERO) {
		out->sp = SP_LOST; /* and sp, x9, #-32 */
	}
}

static void set_data_register(uint32_t w, struct insn *out)
{
	unsigned rd = field(w, 4, 0);
	bool extended = (w & 0x1fe00000) == 0x0b200000;

	if (rd != SP_OR_ZERO)
		out->writes |= 1u << rd;
	else if (extended && !(w & 0x20000000))
		out->sp = SP_LOST;
	if (rd == FP)
		out->frame = FRAME_LOST;
}

static void write_back(uint32_t w, int64_t delta, struct insn *out)
{
	unsigned rn = field(w, 9, 5);

	if (rn == SP_OR_ZERO)
		set_sp_add(out, delta);
	else
		out->writes |= 1u << rn;
}

static void mark_loaded(unsigned reg, struct insn *out)
{
	if (reg == SP_OR_ZERO)
		return;
	out->writes |= 1u << reg;
	if (reg == FP)
		out->frame = FRAME_LOST;
}

static void set_pair(uint32_t w, struct insn *out)
{
	bool vector = w & 0x04000000;
	int scale = vector ? 2 + (int)field(w, 31, 30) : (w & 0x80000000) ? 3 : 2;

	if (w & 0x00400000) {
		out->loads = true;
		if (!vector) {
			mark_loaded(field(w, 4, 0), out);
			mark_loaded(field(w, 14, 10), out);
		}
	} else {
		out->stores = true;
	}
	if (field(w, 24, 23) & 1) /* post- and pre-indexed */
		write_back(w, signed_field(w, 21, 15) * (1ll << scale), out);
}

static void set_single(uint32_t w, struct insn *out)
{
	bool vector = w & 0x04000000, unscaled = (w & 0x3b000000) == 0x38000000;
	unsigned opc = field(w, 23, 22);
	bool prefetch = !vector && field(w, 31, 30) == 3 && opc == 2;

	if (prefetch)
		return;
	if (unscaled && (w & 0x00200c00) == 0x00200000) { /* ldadd, swp, ldapr and so on */
		out->ordered = out->stores = true;
		mark_loaded(field(w, 4, 0), out);
		return;
	}
	if (opc == 0 || (vector && opc == 2)) {
		out->stores = true;
	} else {
		out->loads = true;
		if (!vector)
			mark_loaded(field(w, 4, 0), out);
	}
	if (unscaled && !(w & 0x00200000) && (w & 0x00000400)) /* post- and pre-indexed */
		write_back(w, signed_field(w, 20, 12), out);
	if (unscaled && (w & 0x00200c00) == 0x00200800 && out->loads) {
		out->table_load = true;
		out->relative_table = field(w, 31, 30) < 3 || opc >= 2;
	}
}

static void set_memory(uint32_t w, struct insn *out)
{
	if ((w & 0x3a000000) == 0x28000000) {
		set_pair(w, out);
	} else if ((w & 0x3b000000) == 0x18000000) { /* literal */
		out->loads = true;
		if (!(w & 0x04000000))
			mark_loaded(field(w, 4, 0), out);
	} else if ((w & 0x3a000000) == 0x38000000) {
		set_single(w, out);
	} else if ((w & 0xbf000000) == 0x0c000000 ||
		   (w & 0xbf000000) == 0x0d000000) { /* ld1, st1 */
		out->loads = w & 0x00400000;
		out->stores = !out->loads;
		if (w & 0x00800000) /* the step is a register or the size; sp is rare here */
			field(w, 9, 5) == SP_OR_ZERO ? (void)(out->sp = SP_LOST)
						     : write_back(w, 0, out);
	} else { /* exclusive, acquire and release, cas, cpy, tags */
		out->ordered = out->stores = true;
		out->writes |= (1u << field(w, 4, 0) | 1u << field(w, 20, 16) |
				1u << field(w, 14, 10) | 1u << field(w, 9, 5)) &
			       ~(1u << SP_OR_ZERO);
	}
}

/* SVE: instructions not known to be harmless end a run; addvl and addpl move sp. */
static void set_sve(uint32_t w, struct insn *out)
{
	out->ordered = true;
	if ((w & 0xffa0f800) == 0x04205000 && field(w, 4, 0) == SP_OR_ZERO)
		out->sp = SP_LOST;
	mark_loaded(field(w, 4, 0), out);
}

/*
 * System instructions. Reading the thread pointer is harmless. Placement must not pass barriers,
 * cache maintenance, waits and exceptions: a probe is there to see when they happen.
 */
static void set_system(uint32_t w, struct insn *out)
{
	if ((w & 0xfff00000) == 0xd5300000) /* mrs */
		mark_loaded(field(w, 4, 0), out);
	else if (is_hint(w))
		out->ordered = !steppable_hint(w);
	else
		out->ordered = (w & 0xffc00000) == 0xd5000000 || (w & 0xff000000) == 0xd4000000;
}

/* paciasp, autiasp and similar hints rewrite the return address. */
static void set_hint(uint32_t w, struct insn *out)
{
	unsigned hint = field(w, 11, 5);

	if (hint == 7 || (hint >= 0x18 && hint <= 0x1f))
		out->writes |= 1u << LR;
}

bool decode_arm64(void *unused, const uint8_t *code, size_t n, uint64_t address, struct insn *out)
{
	uint32_t w, group;

	(void)unused;
	*out = (struct insn){ .address = address, .length = 4, .jump_register = NO_REGISTER };
	if (n < 4)
		return false;
	w = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	    (uint32_t)code[3] << 24;
	group = field(w, 28, 25);
	set_flow(w, out);
	if ((group & 0xe) == 0x8)
		set_data_immediate(w, out);
	else if ((group & 0x7) == 0x5)
		set_data_register(w, out);
	else if ((group & 0x5) == 0x4)
		set_memory(w, out);
	else if ((group & 0xe) == 0xa)
		set_system(w, out);
	else if (group == 0x2)
		set_sve(w, out);
	else
		mark_loaded(field(w, 4, 0), out); /* vectors: Rd may be a general register */
	out->stack_store = out->stores && field(w, 9, 5) == SP_OR_ZERO;
	out->reads_link = (w & 0xffffffe0) == 0xaa1e03e0; /* mov xN, x30 */
	if (is_hint(w))
		set_hint(w, out);
	if (MATCHES(w, simulated)) {
		out->class = CLASS_EMULATED;
		return true;
	}
	out->refusal = refusal_of(w);
	out->class = out->refusal ? CLASS_N : CLASS_SINGLE_STEP;
	return true;
}
