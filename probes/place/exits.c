// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Finds where control leaves a function: rets, tail jumps, and jumps that may be either inside or
 * out.
 */
#include <inttypes.h>
#include <stdio.h>

#include "probes/code/decode.h"
#include "probes/code/flow.h"
#include "probes/place/exits.h"
#include "probes/place/placement.h"

struct exits {
	const struct code_input *in;
	const struct walk *walk;
	struct placement *out;
};

static void incomplete(struct exits *e, const struct insn *insn, const char *why)
{
	if (!e->out->ret_sites_complete)
		return;
	e->out->ret_sites_complete = false;
	snprintf(e->out->ret_sites_reason, sizeof(e->out->ret_sites_reason), "%s at +0x%" PRIx64,
		 why, insn->address - e->in->address);
}

static void add_site(struct exits *e, const struct insn *insn)
{
	struct placement *out = e->out;

	out->leaf &= insn->flow == FLOW_RET;
	out->only_jumps &= insn->flow != FLOW_RET && insn->class == CLASS_EMULATED;
	if (insn->class == CLASS_N)
		incomplete(e, insn, "no probe can sit on the exit");
	else if (out->n_ret_sites == PLACEMENT_RET_SITES_MAX)
		incomplete(e, insn, "more exits than ispot takes, the next");
	else
		out->ret_sites[out->n_ret_sites++] = (int64_t)(insn->address - e->in->address);
}

static bool is_inside(const struct exits *e, uint64_t address)
{
	const struct code_input *in = e->in;

	if (address - in->address < in->size_bytes)
		return true;
	for (size_t i = 0; i < in->n_parts; i++)
		if (address - in->parts[i].address < in->parts[i].size_bytes)
			return true;
	return false;
}

static void continues(struct exits *e, const struct insn *insn, const char *why)
{
	if (!e->out->continues_at)
		e->out->continues_at = insn->target;
	incomplete(e, insn, why);
}

/*
 * A tail call leaves the stack as it was at entry; a jump into a part that lies elsewhere need not
 * do so.
 */
static void direct_jump(struct exits *e, size_t i)
{
	const struct insn *insn = &e->walk->code->insns[i];
	const struct stack *s = &e->walk->at[i];

	if (is_inside(e, insn->target))
		return;
	if (!s->sp_known)
		incomplete(e, insn, "unclear whether it is left by the jump");
	else if (s->sp)
		continues(e, insn, "continues outside its symbol, by the jump");
	else if (insn->flow == FLOW_BRANCH)
		continues(e, insn, "may be left by the conditional jump");
	else
		add_site(e, insn);
}

#define LOOK_BACK 16

/*
 * Whether a bound check is among the last instructions before i: cmp with a constant, then a
 * branch.
 */
static bool is_bounded(const struct code *code, size_t i)
{
	bool branch = false;

	for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
		const struct insn *insn = &code->insns[i - back];

		if (branch && insn->compares)
			return true;
		branch |= insn->flow == FLOW_BRANCH;
	}
	return false;
}

/*
 * Finds where the register of an indirect jump comes from, over all ways that lead to the jump. A
 * switch reads its table right before it jumps, with no call in between. A value that was loaded
 * without an index, kept across a call or passed in is a function pointer.
 */
#define ORIGIN_BLOCKS 24

struct origin {
	const struct code *code;
	size_t jump;
	uint32_t wanted;
	size_t blocks[ORIGIN_BLOCKS]; /* one more than the index of a block's last instruction */
	size_t n_blocks;
	bool is_switch, unclear;
};

static void origin_add_block(struct origin *o, size_t end)
{
	for (size_t i = 0; i < o->n_blocks; i++)
		if (o->blocks[i] == end)
			return;
	if (o->n_blocks == ORIGIN_BLOCKS)
		o->unclear = true;
	else
		o->blocks[o->n_blocks++] = end;
}

/* Returns true if the origin on this way is known. */
static bool origin_at(struct origin *o, const struct insn *insn)
{
	bool writes = insn->writes & o->wanted;

	if (insn->is_call || (writes && insn->loads && !insn->table_load))
		return true;
	if (writes && insn->table_load) {
		if (insn->relative_table || is_bounded(o->code, o->jump))
			o->is_switch = true;
		else
			o->unclear = true;
		return true;
	}
	/* An offset that was loaded into another register may be added to this one later. */
	o->unclear |= insn->table_load && insn->relative_table;
	return false;
}

static bool leads_to(const struct insn *insn, uint64_t next)
{
	return insn_goes_on(insn) && insn->address + insn->length == next;
}

static void origin_walk_block(struct origin *o, size_t end)
{
	const struct insn *insns = o->code->insns;

	for (size_t i = end; i > 0; i--) {
		uint64_t start = insns[i - 1].address;
		bool entered = false;

		if (origin_at(o, &insns[i - 1]))
			return;
		for (size_t b = code_first_branch_to(o->code, start);
		     b < o->code->branches.n && o->code->branches.data[b].target == start; b++) {
			if (o->code->branches.data[b].from != SIZE_MAX)
				origin_add_block(o, o->code->branches.data[b].from + 1);
			entered = true;
		}
		if (i > 1 && !leads_to(&insns[i - 2], start)) {
			o->unclear |= !entered; /* reached through a table, or unknown */
			return;
		}
	}
}

static enum jump_kind register_origin(const struct code *code, size_t i)
{
	struct origin o = { .code = code,
			    .jump = i,
			    .wanted = 1u << (code->insns[i].jump_register & 31) };

	origin_add_block(&o, i + 1); /* end of the jump itself: branches may lead to it */
	for (size_t b = 0; b < o.n_blocks; b++)
		origin_walk_block(&o, o.blocks[b]);
	return o.is_switch ? JUMP_SWITCH : o.unclear ? JUMP_UNCLEAR : JUMP_LEAVES;
}

enum jump_kind exits_jump_kind(const struct walk *w, size_t i)
{
	const struct insn *insn = &w->code->insns[i];
	const struct stack *s = &w->at[i];

	if (insn->notrack || (s->sp_known && s->sp))
		return JUMP_SWITCH; /* a tail call would have released the frame */
	if (!s->sp_known)
		return JUMP_UNCLEAR;
	if (!w->reads_tables)
		return JUMP_LEAVES;
	if (insn->flow == FLOW_JUMP_REG)
		return register_origin(w->code, i);
	if (insn->table_load)
		return is_bounded(w->code, i) ? JUMP_SWITCH : JUMP_UNCLEAR;
	return JUMP_LEAVES;
}

static void indirect_jump(struct exits *e, size_t i)
{
	const struct insn *insn = &e->walk->code->insns[i];

	switch (exits_jump_kind(e->walk, i)) {
	case JUMP_SWITCH:
		return;
	case JUMP_LEAVES:
		add_site(e, insn);
		return;
	case JUMP_UNCLEAR:
		incomplete(e, insn, "may be left by the indirect jump");
	}
}

/*
 * Whether the instruction reads the return address: a return probe replaces it by its trampoline.
 */
static bool reads_caller(const struct insn *insn, const struct stack *s)
{
	switch (insn->slot_base) {
	case SLOT_SP:
		return s->sp_known && s->sp + insn->slot == 0;
	case SLOT_FRAME:
		return s->frame_known && s->frame + insn->slot == 0;
	}
	return insn->reads_link;
}

static void find_in_code(struct exits *e)
{
	const struct code *code = e->walk->code;

	for (size_t i = 0; i < code->n; i++) {
		e->out->leaf &= !code->insns[i].is_call;
		e->out->reads_caller |= reads_caller(&code->insns[i], &e->walk->at[i]);
		switch (code->insns[i].flow) {
		case FLOW_RET:
			add_site(e, &code->insns[i]);
			break;
		case FLOW_JUMP:
		case FLOW_BRANCH:
			direct_jump(e, i);
			break;
		case FLOW_JUMP_REG:
		case FLOW_JUMP_MEM:
			indirect_jump(e, i);
			break;
		}
	}
}

void exits_find(const struct code *code, const struct code_input *in, struct placement *out)
{
	struct walk walk = { 0 };
	struct exits e = { in, &walk, out };
	const struct insn end = { .address = code->incomplete ? code->undecodable
							      : in->address + CODE_BYTES_MAX };

	out->ret_sites_complete = out->leaf = out->only_jumps = true;
	walk_code(&walk, code);
	find_in_code(&e);
	if (code->incomplete)
		incomplete(&e, &end, "has bytes that are no instruction");
	else if (code->too_large)
		incomplete(&e, &end, "is too large to be read, stopped");
	out->leaf &= out->ret_sites_complete;
	out->only_jumps &= out->n_ret_sites > 0;
	walk_release(&walk);
}
