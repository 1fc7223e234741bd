// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Decodes x86-64 instructions for placement: capstone tells what an instruction reads and writes.
 * Whether the kernel accepts a probe on an instruction, and at which cost, is decided in raw_x86.h.
 */
#include "probes/code/decode.h"

#include <capstone/capstone.h>

#if CS_API_MAJOR < 5
#define X86_INS_UD1 X86_INS_UD2B /* the former name in capstone */
#endif
#include <string.h>

#include "base/mem.h"
#include "probes/code/decode_x86.h"
#include "probes/code/raw_x86.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10 };

struct decoder {
	csh handle;
	cs_insn *insn;
	bool multibyte_nops;
};

void *decoder_x86_new(bool multibyte_nops)
{
	struct decoder *d = xcalloc(1, sizeof(*d));

	d->multibyte_nops = multibyte_nops;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	return d;
}

void decoder_x86_free(void *decoder)
{
	struct decoder *d = decoder;

	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

static uint8_t gpr(unsigned reg)
{
	static const uint8_t numbers[X86_REG_ENDING] = {
#define GPR(n, q, d, w, b)                                                         \
	[X86_REG_##q] = (n) + 1, [X86_REG_##d] = (n) + 1, [X86_REG_##w] = (n) + 1, \
	[X86_REG_##b] = (n) + 1
		GPR(0, RAX, EAX, AX, AL),
		GPR(1, RCX, ECX, CX, CL),
		GPR(2, RDX, EDX, DX, DL),
		GPR(3, RBX, EBX, BX, BL),
		GPR(4, RSP, ESP, SP, SPL),
		GPR(5, RBP, EBP, BP, BPL),
		GPR(6, RSI, ESI, SI, SIL),
		GPR(7, RDI, EDI, DI, DIL),
		GPR(8, R8, R8D, R8W, R8B),
		GPR(9, R9, R9D, R9W, R9B),
		GPR(10, R10, R10D, R10W, R10B),
		GPR(11, R11, R11D, R11W, R11B),
		GPR(12, R12, R12D, R12W, R12B),
		GPR(13, R13, R13D, R13W, R13B),
		GPR(14, R14, R14D, R14W, R14B),
		GPR(15, R15, R15D, R15W, R15B),
		[X86_REG_AH] = 1,
		[X86_REG_CH] = 2,
		[X86_REG_DH] = 3,
		[X86_REG_BH] = 4,
#undef GPR
	};

	return reg < X86_REG_ENDING && numbers[reg] ? numbers[reg] - 1 : NO_REGISTER;
}

static void mark_write(struct insn *out, unsigned reg)
{
	if (gpr(reg) != NO_REGISTER)
		out->writes |= 1u << gpr(reg);
}

/*
 * Collects the registers that capstone lists, the first operand (capstone's access flags miss
 * some), and the second operand of instructions that write two.
 */
static void find_writes(const struct decoder *d, const cs_insn *ci, bool writes_first,
			struct insn *out)
{
	const cs_x86 *x = &ci->detail->x86;
	cs_regs read, written;
	uint8_t n_read, n_written;

	if (!cs_regs_access(d->handle, ci, read, &n_read, written, &n_written))
		for (int i = 0; i < n_written; i++)
			mark_write(out, written[i]);
	if (writes_first && x->op_count && x->operands[0].type == X86_OP_REG)
		mark_write(out, x->operands[0].reg);
	for (int i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_REG && (x->operands[i].access & CS_AC_WRITE))
			mark_write(out, x->operands[i].reg);
	if (ci->id == X86_INS_XCHG || ci->id == X86_INS_XADD || ci->id == X86_INS_MULX)
		mark_write(out, x->operands[1].reg);
}

/* Instructions whose first operand is only read. */
static bool reads_first(unsigned id)
{
	switch (id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_BT:
	case X86_INS_PUSH:
	case X86_INS_NOP:
	case X86_INS_CALL:
	case X86_INS_JMP:
	case X86_INS_COMISS:
	case X86_INS_COMISD:
	case X86_INS_UCOMISS:
	case X86_INS_UCOMISD:
	case X86_INS_PTEST:
	case X86_INS_FLD:
	case X86_INS_FILD:
	case X86_INS_MUL:
	case X86_INS_DIV:
	case X86_INS_IDIV:
		return true;
	}
	return false;
}

static bool is_same_register(const cs_x86 *x)
{
	return x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
	       x->operands[1].type == X86_OP_REG && x->operands[0].reg == x->operands[1].reg;
}

static void find_reads(const struct decoder *d, const cs_insn *ci, struct insn *out)
{
	const cs_x86 *x = &ci->detail->x86;
	cs_regs read, written;
	uint8_t n_read, n_written;

	if (cs_regs_access(d->handle, ci, read, &n_read, written, &n_written))
		n_read = 0;
	for (int i = 0; i < n_read; i++)
		if (gpr(read[i]) != NO_REGISTER)
			out->reads |= 1u << gpr(read[i]);
	if (ci->id == X86_INS_XOR && is_same_register(x))
		out->reads = 0; /* it is zero, whatever it was */
	for (int i = 0; i < x->op_count; i++) {
		const x86_op_mem *m = &x->operands[i].mem;

		if (x->operands[i].type != X86_OP_MEM)
			continue;
		if (gpr(m->base) != NO_REGISTER)
			out->addresses |= 1u << gpr(m->base);
		if (gpr(m->index) != NO_REGISTER)
			out->addresses |= 1u << gpr(m->index);
	}
}

/* Returns whether a loop that only reads memory until it changes may have the instruction. */
static bool is_simple(const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;

	switch (ci->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_LEA:
	case X86_INS_CDQE:
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_NOP:
	case X86_INS_PAUSE:
	case X86_INS_LFENCE:
	case X86_INS_MFENCE:
	case X86_INS_XCHG:
	case X86_INS_CMPXCHG:
		return true;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		return x->op_count == 2 && x->operands[1].type == X86_OP_IMM;
	case X86_INS_XOR:
		return is_same_register(x);
	}
	return false;
}

static bool is_exchange(const cs_insn *ci)
{
	return ci->id == X86_INS_XCHG || ci->id == X86_INS_CMPXCHG;
}

/*
 * Whether the instruction only names memory: prefetches neither wait for memory nor change it, and
 * lea and nop do not access it.
 */
static bool names_memory_only(unsigned id)
{
	switch (id) {
	case X86_INS_LEA:
	case X86_INS_NOP:
	case X86_INS_PREFETCH:
	case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0:
	case X86_INS_PREFETCHT1:
	case X86_INS_PREFETCHT2:
	case X86_INS_PREFETCHW:
		return true;
	}
	return false;
}

/* A load that widens its value loads an offset, which is never a function pointer. */
static bool is_narrow_load(unsigned id)
{
	return id == X86_INS_MOVSXD || id == X86_INS_MOVSX || id == X86_INS_MOVZX;
}

static void mark_store(const cs_x86_op *op, struct insn *out)
{
	out->stores = true;
	out->stack_store |= gpr(op->mem.base) == RSP || gpr(op->mem.index) == RSP;
}

static void mark_load(const cs_x86_op *op, struct insn *out)
{
	unsigned base = gpr(op->mem.base);

	out->loads = true;
	if (op->mem.index != X86_REG_INVALID || (base != RSP && base != RBP))
		return;
	out->slot_base = base == RSP ? SLOT_SP : SLOT_FRAME;
	out->slot = (int32_t)op->mem.disp;
}

static void find_memory(const cs_insn *ci, struct insn *out)
{
	const cs_x86 *x = &ci->detail->x86;

	if (names_memory_only(ci->id))
		return;
	for (int i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type != X86_OP_MEM)
			continue;
		if ((i == 0 && !reads_first(ci->id)) || (op->access & CS_AC_WRITE))
			mark_store(op, out);
		else
			mark_load(op, out);
		if (i && op->mem.index != X86_REG_INVALID) {
			out->table_load = true;
			out->relative_table = is_narrow_load(ci->id);
		}
	}
}

/*
 * Whether placement must not pass the instruction, because a probe is there to see the time that it
 * takes or the moment when it happens. A division may be passed: it takes at most some 40 ns, which
 * is less than a probe's jitter.
 */
static bool is_ordered(const cs_insn *ci, const struct raw *r)
{
	if (r->lock || raw_is_repeated(r))
		return true;
	switch (ci->id) {
	case X86_INS_XCHG:
		return ci->detail->x86.operands[0].type == X86_OP_MEM ||
		       ci->detail->x86.operands[1].type == X86_OP_MEM;
	case X86_INS_MFENCE:
	case X86_INS_LFENCE:
	case X86_INS_SFENCE:
	case X86_INS_CPUID:
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_RDTSC:
	case X86_INS_RDTSCP:
	case X86_INS_RDPMC:
	case X86_INS_RDRAND:
	case X86_INS_RDSEED:
	case X86_INS_PAUSE:
	case X86_INS_XBEGIN:
	case X86_INS_XEND:
	case X86_INS_XABORT:
	case X86_INS_CLFLUSH:
	case X86_INS_CLFLUSHOPT:
	case X86_INS_CLWB:
	case X86_INS_MONITOR:
	case X86_INS_MWAIT:
	case X86_INS_XSAVE:
	case X86_INS_XRSTOR:
	case X86_INS_FXSAVE:
	case X86_INS_FXRSTOR:
		return true;
	}
	return ci->id == X86_INS_INT;
}

static void find_stack_add(const cs_x86 *x, int sign, struct insn *out)
{
	if (x->op_count == 2 && x->operands[1].type == X86_OP_IMM) {
		out->sp = SP_ADD;
		out->sp_delta = sign * (int32_t)x->operands[1].imm;
	} else {
		out->sp = SP_LOST;
	}
}

static void find_stack_lea(const cs_x86 *x, struct insn *out)
{
	const x86_op_mem *m = &x->operands[1].mem;

	out->sp = SP_LOST;
	if (x->op_count != 2 || x->operands[1].type != X86_OP_MEM || m->index != X86_REG_INVALID)
		return;
	out->sp_delta = (int32_t)m->disp;
	if (m->base == X86_REG_RSP)
		out->sp = SP_ADD;
	else if (m->base == X86_REG_RBP)
		out->sp = SP_FRAME;
	else if (m->base == X86_REG_R10 &&
		 m->disp == -8) /* gcc's realigned frame: r10 = entry sp + 8 */
		out->sp = SP_ENTRY;
}

static void find_stack(const cs_insn *ci, struct insn *out)
{
	const cs_x86 *x = &ci->detail->x86;

	switch (ci->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
		out->sp = SP_ADD;
		out->sp_delta = -(int32_t)(x->op_count ? x->operands[0].size == 2 ? 2 : 8 : 8);
		return;
	case X86_INS_POP:
	case X86_INS_POPFQ:
		out->sp = SP_ADD;
		out->sp_delta = 8;
		if (x->op_count && gpr(x->operands[0].reg) == RSP)
			out->sp = SP_LOST;
		break;
	case X86_INS_LEAVE:
		out->sp = SP_FRAME;
		out->sp_delta = 8;
		out->frame = FRAME_LOST;
		return;
	case X86_INS_CALL:
		return; /* the return takes the address off the stack again */
	default:
		if (!(out->writes & 1u << RSP))
			break;
		if (ci->id == X86_INS_SUB)
			find_stack_add(x, -1, out);
		else if (ci->id == X86_INS_ADD)
			find_stack_add(x, 1, out);
		else if (ci->id == X86_INS_LEA)
			find_stack_lea(x, out);
		else if (ci->id == X86_INS_MOV && x->operands[1].type == X86_OP_REG &&
			 gpr(x->operands[1].reg) == RBP)
			out->sp = SP_FRAME;
		else
			out->sp = SP_LOST;
	}
	if (out->writes & 1u << RBP) {
		bool from_sp = ci->id == X86_INS_MOV && x->operands[1].type == X86_OP_REG &&
			       x->operands[1].reg == X86_REG_RSP;

		out->frame = from_sp ? FRAME_SET : FRAME_LOST;
	}
}

static void find_flow(const cs_insn *ci, const struct raw *r, struct insn *out)
{
	const cs_x86_op *op = &ci->detail->x86.operands[0];

	switch (ci->id) {
	case X86_INS_CALL:
		out->is_call = true;
		return;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
		out->flow = FLOW_RET;
		return;
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_UD1:
	case X86_INS_HLT:
	case X86_INS_INT3:
	case X86_INS_IRETQ:
		out->flow = FLOW_STOP;
		return;
	case X86_INS_JMP:
		out->notrack = r->segment;
		if (op->type == X86_OP_IMM) {
			out->flow = FLOW_JUMP;
			out->target = (uint64_t)op->imm;
		} else if (op->type == X86_OP_REG) {
			out->flow = FLOW_JUMP_REG;
			out->jump_register = gpr(op->reg);
		} else {
			out->flow = FLOW_JUMP_MEM;
			out->table_load = op->mem.index != X86_REG_INVALID;
		}
		return;
	}
	if (ci->detail->x86.op_count == 1 && op->type == X86_OP_IMM &&
	    (raw_is_branch(r) || (r->map == 1 && r->opcode >= 0xe0 && r->opcode <= 0xe3) ||
	     ci->id == X86_INS_XBEGIN)) {
		out->flow = FLOW_BRANCH;
		out->target = (uint64_t)op->imm;
	}
}

/*
 * capstone 4 does not know all of AVX-512 and BMI. Vector encodings have few shapes, so the length
 * is computed; the worst is assumed of everything else.
 */
static bool decode_vector(const uint8_t *code, size_t n, struct insn *out)
{
	uint8_t p[16] = { 0 }, map, modrm;
	size_t at;

	memcpy(p, code, n < 15 ? n : 15);
	at = p[0] == 0xc5 ? 2 : p[0] == 0xc4 ? 3 : p[0] == 0x62 ? 4 : 0;
	if (!at)
		return false;
	map = p[0] == 0xc5 ? 1 : p[1] & (p[0] == 0xc4 ? 0x1f : 7);
	modrm = p[at + 1];
	if (map == 3 || (map == 1 && ((p[at] >= 0x70 && p[at] <= 0x73) || p[at] == 0xc2 ||
				      (p[at] >= 0xc4 && p[at] <= 0xc6))))
		out->length = 1; /* an immediate follows */
	out->length += (uint8_t)(at + 2);
	if (modrm < 0xc0) {
		bool sib = (modrm & 7) == 4;
		bool base32 =
			(modrm & 0xc7) == 5 || (sib && (modrm & 0xc0) == 0 && (p[at + 2] & 7) == 5);

		out->length += sib;
		out->length += modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 || base32 ? 4 : 0;
	}
	out->loads = out->stores = out->stack_store = out->ordered = true;
	out->writes = 0xffff & ~(1u << RSP);
	out->frame =
		FRAME_KEEP; /* none of them has rbp as its result in compiled code with a frame */
	out->class = CLASS_N;
	out->refusal = "is a VEX or EVEX instruction";
	return map >= 1 && map <= 6 && out->length <= n;
}

bool decode_x86(void *decoder, const uint8_t *code, size_t n, uint64_t address, struct insn *out)
{
	struct decoder *d = decoder;
	const uint8_t *p = code;
	uint64_t at = address;
	uint8_t bytes[16] = { 0 };
	struct raw r;

	*out = (struct insn){ .address = address, .jump_register = NO_REGISTER };
	if (!cs_disasm_iter(d->handle, &p, &n, &at, d->insn))
		return decode_vector(code, n, out);
	out->length = (uint8_t)(p - code);
	memcpy(bytes, code, out->length);
	raw_parse(&r, bytes);
	find_writes(d, d->insn, !reads_first(d->insn->id), out);
	find_memory(d->insn, out);
	out->ordered = is_ordered(d->insn, &r);
	out->compares =
		d->insn->id == X86_INS_CMP && d->insn->detail->x86.operands[1].type == X86_OP_IMM;
	find_stack(d->insn, out);
	find_flow(d->insn, &r, out);
	find_reads(d, d->insn, out);
	out->simple = out->flow == FLOW_BRANCH || out->flow == FLOW_JUMP || is_simple(d->insn);
	out->exchanges = out->stores && is_exchange(d->insn);
	out->refusal = raw_refusal(&r);
	out->class = out->refusal ? CLASS_N
				  : raw_class(&r, code, out->length, address, d->multibyte_nops);
	if (out->class == CLASS_N && !out->refusal)
		out->refusal = "is refused by older kernels";
	return true;
}
