/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads arguments of static probes, which each place has in registers and memory of its own choice.
 */
#ifndef ISPOT_PROBES_BPF_OPERANDS_H
#define ISPOT_PROBES_BPF_OPERANDS_H

#include "common.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_OPERAND_ROWS);
	__type(key, __u32);
	__type(value, struct wire_operands);
} operands SEC(".maps");

/*
 * Assembler, because the context can be read at constant offsets only, and clang would merge the
 * cases.
 */
#define REGISTER(n)                                                                            \
	case n:                                                                                \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value) : "r"(ctx), "i"(8 * (n))); \
		break;

/* Returns word n of the registers, in the order of struct pt_regs on each machine. */
static __noinline __u64 register_of(struct pt_regs *ctx, __u32 n)
{
	__u64 value = 0;

	switch (n) {
		REGISTER(0)
		REGISTER(1)
		REGISTER(2)
		REGISTER(3)
		REGISTER(4)
		REGISTER(5)
		REGISTER(6)
		REGISTER(7)
		REGISTER(8)
		REGISTER(9)
		REGISTER(10)
		REGISTER(11)
		REGISTER(12)
		REGISTER(13)
		REGISTER(14)
		REGISTER(19)
#if defined(__TARGET_ARCH_arm64)
		REGISTER(15)
		REGISTER(16)
		REGISTER(17)
		REGISTER(18)
		REGISTER(20)
		REGISTER(21)
		REGISTER(22)
		REGISTER(23)
		REGISTER(24)
		REGISTER(25)
		REGISTER(26)
		REGISTER(27)
		REGISTER(28)
		REGISTER(29)
		REGISTER(30)
		REGISTER(31)
#endif
	}
	return value;
}

static __always_inline __u64 widened(__u64 value, const struct wire_operand *o)
{
	__u32 bits = 64 - 8 * (o->bytes & 15);

	if (!o->bytes || bits > 56)
		return value;
	return o->is_signed ? (__u64)((__s64)(value << bits) >> bits) : value << bits >> bits;
}

/*
 * Returns false if the memory cannot be read right now. The call is then recorded without its
 * arguments.
 */
static __always_inline bool read_operand(struct pt_regs *ctx, const struct wire_operand *o,
					 __u64 *value)
{
	__u64 v = o->value;
	__u32 bytes = o->bytes;

	if (o->kind != WIRE_OPERAND_CONSTANT && o->base != WIRE_NO_REGISTER)
		v += register_of(ctx, o->base);
	if (o->kind == WIRE_OPERAND_REGISTER)
		v >>= o->shift & 63;
	if (o->kind == WIRE_OPERAND_MEMORY) {
		__u64 address = v;

		if (o->index != WIRE_NO_REGISTER)
			address += register_of(ctx, o->index) << (o->shift & 63);
		v = 0;
		if (bytes > 8 || bpf_probe_read_user(&v, bytes, (void *)address))
			return false;
	}
	*value = widened(v, o);
	return true;
}

static __always_inline void wire_put_operands(struct wire_totals *t, struct pt_regs *ctx,
					      const struct wire_call *call, __u32 row)
{
	struct wire_operands *all = bpf_map_lookup_elem(&operands, &row);
	struct wire_args r = { .h = { .tid = call->h.tid, .tgid = call->h.tgid } };

	if (!all)
		return;
	r.h.head = WIRE_ARGS << WIRE_ID_BITS | (call->h.head & WIRE_ID_MASK);
#pragma unroll
	for (int i = 0; i < WIRE_ARGS_MAX; i++) {
		__u64 value = 0;

		if (all->at[i].kind && !read_operand(ctx, &all->at[i], &value))
			return;
		r.values[i] = value;
	}
	emit_more(t, &r, sizeof(r));
}

#endif
