/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records integer arguments and return values of the functions whose points ask for them. */
#ifndef ISPOT_PROBES_BPF_ARGUMENTS_H
#define ISPOT_PROBES_BPF_ARGUMENTS_H

#include "common.h"

#if defined(__TARGET_ARCH_x86)
#define RETURN_VALUE(ctx) ((ctx)->ax)
static __always_inline void read_registers(struct pt_regs *ctx, struct wire_args *r, bool all)
{
	r->values[0] = ctx->di;
	r->values[1] = ctx->si;
	r->values[2] = ctx->dx;
	if (!all)
		return;
	r->values[3] = ctx->cx;
	r->values[4] = ctx->r8;
	r->values[5] = ctx->r9;
	r->values[6] = r->values[7] = 0;
}
#else
#define RETURN_VALUE(ctx) ((ctx)->regs[0])
static __always_inline void read_registers(struct pt_regs *ctx, struct wire_args *r, bool all)
{
	r->values[0] = ctx->regs[0];
	r->values[1] = ctx->regs[1];
	r->values[2] = ctx->regs[2];
	if (!all)
		return;
	r->values[3] = ctx->regs[3];
	r->values[4] = ctx->regs[4];
	r->values[5] = ctx->regs[5];
	r->values[6] = ctx->regs[6];
	r->values[7] = ctx->regs[7];
}
#endif

/*
 * Runs before the call's record is written, and before an entry's time is taken, so that the call's
 * own time does not include it.
 */
static __always_inline void wire_put_arguments(struct wire_totals *t, struct pt_regs *ctx,
					       const struct wire_call *call, __u32 registers)
{
	struct wire_args r;

	r.h.head = WIRE_ARGS << WIRE_ID_BITS | (call->h.head & WIRE_ID_MASK);
	r.h.time_ns = 0; /* that of the entry, as reading the clock would be most of the cost */
	r.h.tid = call->h.tid;
	r.h.tgid = call->h.tgid;
	if (registers < 1 << WIRE_ARGS_FEW) {
		read_registers(ctx, &r, false);
		emit_more(t, &r, WIRE_ARGS_BYTES(WIRE_ARGS_FEW));
	} else {
		read_registers(ctx, &r, true);
		emit_more(t, &r, sizeof(r));
	}
}

static __always_inline void wire_put_return(struct wire_totals *t, struct pt_regs *ctx,
					    const struct wire_call *call)
{
	struct wire_args r;

	r.h = call->h;
	r.h.head = WIRE_RETURN << WIRE_ID_BITS | (call->h.head & WIRE_ID_MASK);
	r.values[0] = RETURN_VALUE(ctx);
	emit_more(t, &r, WIRE_ARGS_BYTES(1));
}

#endif
