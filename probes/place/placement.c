// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/place/placement.h"

#include <stdio.h>

#include "probes/code/decode.h"
#include "probes/code/flow.h"
#include "probes/place/exits.h"

/* ---- the run at the entry ---- */

#define SYSV_REGISTERS	       6
#define ALL_ARGUMENTS(machine) ((machine) == CODE_AARCH64 ? 0xffu : (1u << SYSV_REGISTERS) - 1)

/* Returns the general register that carries integer argument i, by its hardware number. */
static uint32_t argument_register(const struct code_input *in, uint32_t i)
{
	static const uint8_t sysv[SYSV_REGISTERS] = {
		7, 6, 2, 1, 8, 9
	}; /* rdi rsi rdx rcx r8 r9 */

	return in->machine == CODE_AARCH64 ? i : sysv[i];
}

static uint32_t argument_registers(const struct code_input *in)
{
	uint32_t registers = 0, captured = in->argument_mask & ALL_ARGUMENTS(in->machine);

	for (uint32_t i = 0; captured >> i; i++)
		if (captured >> i & 1)
			registers |= 1u << argument_register(in, i);
	return registers;
}

uint32_t placement_intact_arguments(const struct code_input *in, uint32_t written)
{
	uint32_t intact = ALL_ARGUMENTS(in->machine);

	for (uint32_t i = 0; intact >> i; i++)
		if (written >> argument_register(in, i) & 1)
			intact &= ~(1u << i);
	return intact;
}

static bool may_pass(const struct code_input *in, const struct insn *insn)
{
	uint32_t kept = argument_registers(in);

	if (in->machine == CODE_AARCH64)
		kept |= 1u << 30; /* the return address */
	return insn->flow == FLOW_NEXT && !insn->is_call && insn->sp == SP_KEEP &&
	       !insn->stack_store && !insn->ordered && !(insn->writes & kept);
}

struct choice {
	const struct insn *insn;
	bool past_load;
	uint32_t written; /* bits of the registers that were written before insn */
};

/*
 * Prefers the cheaper class, and of equal ones the earlier, so that less of the call's time is
 * missed.
 */
static bool better(const struct insn *insn, bool past_load, const struct choice *best)
{
	if (!best->insn)
		return true;
	if (past_load && best->insn->class != CLASS_SINGLE_STEP)
		return false; /* a miss of the load may cost more than nop5 saves over emulation */
	return insn->class < best->insn->class;
}

/* Chooses the best instruction of the first straight-line run for the probe. */
static struct choice choose(const struct code_input *in, const struct code *code)
{
	struct choice best = { 0 };
	bool past_load = false;
	uint32_t written = 0;

	for (size_t i = 0; i < code->n_main; i++) {
		const struct insn *insn = &code->insns[i];
		uint64_t offset = insn->address - in->address;

		if (i && (code_is_target(code, insn->address) ||
			  insn->address != insn[-1].address + insn[-1].length ||
			  (in->entry_limit && offset >= in->entry_limit)))
			break;
		if (insn->class != CLASS_N && better(insn, past_load, &best))
			best = (struct choice){ insn, past_load, written };
		if (!may_pass(in, insn))
			break;
		past_load |= insn->loads || insn->stores;
		written |= insn->writes;
	}
	return best;
}

static void refuse(struct placement *out, const char *what)
{
	out->possible = false;
	snprintf(out->reason, sizeof(out->reason), "%s", what);
}

/*
 * x86-64: both probes share the best place. aarch64: the return probe is bound to +0 and its trap
 * is paid anyway, so the entry probe joins it there; without a return probe, the entry probe goes
 * to the best place.
 */
static void place(const struct code_input *in, const struct code *code, struct placement *out)
{
	const struct insn *first = code->insns;
	struct choice best = choose(in, code);

	out->naive_class = first->class;
	if (!best.insn) {
		snprintf(out->reason, sizeof(out->reason), "its first instruction %s",
			 first->refusal);
		return;
	}
	out->reenters = code_is_target(code, in->address);
	if (out->reenters) {
		refuse(out, "begins with its own loop: a probe there fires in every round");
		return;
	}
	out->possible = true;
	out->alone_class = best.insn->class;
	out->alone_offset = (uint32_t)(best.insn->address - in->address);
	out->alone_intact = placement_intact_arguments(in, best.written);
	out->return_possible = in->machine == CODE_X86_64 || first->class != CLASS_N;
	if (in->machine == CODE_AARCH64 && out->return_possible) {
		out->class = out->return_class = first->class;
		out->intact = ALL_ARGUMENTS(in->machine);
		return;
	}
	out->class = out->alone_class;
	out->entry_offset = out->alone_offset;
	out->intact = out->alone_intact;
	out->moved_past_load = best.past_load;
	if (out->return_possible) {
		out->return_class = out->class;
		out->return_offset = out->entry_offset;
	}
}

void placement_without_return(struct placement *p)
{
	p->class = p->alone_class;
	p->entry_offset = p->alone_offset;
	p->intact = p->alone_intact;
}

void placement_find(const struct code_input *in, struct placement *out)
{
	struct code code = { 0 };

	*out = (struct placement){ .naive_class = CLASS_N,
				   .class = CLASS_N,
				   .return_class = CLASS_N,
				   .alone_class = CLASS_N };
	code_read(&code, in);
	if (!in->size_bytes)
		refuse(out, "has no code");
	else if (!code.n_main || code.insns[0].address != in->address)
		refuse(out, "starts with bytes that are no instruction");
	else
		place(in, &code, out);
	if (out->possible)
		exits_find(&code, in, out);
	code_release(&code);
}
