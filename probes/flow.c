// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "probes/decode.h"
#include "probes/placement.h"

/* ---- reading ---- */

struct insns {
	VEC(struct insn)
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Behind bytes that are no instruction the boundaries of the following ones are a guess: good
 * enough to learn of branch targets, not to put a probe there, which in the middle of an
 * instruction would corrupt the target.
 */
static void read_part(struct code *code, struct insns *insns, decode_fn decode, void *decoder,
		      const struct placement_part *part, unsigned step)
{
	size_t size = part->size_bytes;
	bool certain = true;
	struct insn insn;

	if (size > CODE_BYTES_MAX) {
		size = CODE_BYTES_MAX;
		code->too_large = true;
	}
	for (size_t at = 0; at < size;) {
		if (!decode(decoder, part->code + at, size - at, part->address + at, &insn)) {
			if (!code->incomplete)
				code->undecodable = part->address + at;
			code->incomplete = true;
			certain = false;
			at += step;
			continue;
		}
		if (certain)
			*vec_add(insns) = insn;
		if (insn.flow == FLOW_BRANCH || insn.flow == FLOW_JUMP)
			*vec_add(&code->targets) = insn.target;
		at += insn.length;
	}
}

static void read_parts(struct code *code, const struct placement_input *in, decode_fn decode,
		       void *decoder, unsigned step)
{
	struct placement_part own = { in->code, in->size_bytes, in->address };
	struct insns insns = { 0 };

	read_part(code, &insns, decode, decoder, &own, step);
	code->n_main = insns.n;
	*vec_add(&code->bounds) = 0;
	*vec_add(&code->bounds) = insns.n;
	for (size_t i = 0; i < in->n_parts; i++) {
		read_part(code, &insns, decode, decoder, &in->parts[i], step);
		*vec_add(&code->bounds) = insns.n;
	}
	code->insns = insns.data;
	code->n = insns.n;
	vec_sort(&code->targets, compare_u64);
}

void code_read(struct code *code, const struct placement_input *in)
{
	if (in->machine == PLACE_AARCH64) {
		read_parts(code, in, decode_arm64, NULL, 4);
	} else {
		void *decoder = decoder_x86_new(in->nop5_optimised);

		if (decoder)
			read_parts(code, in, decode_x86, decoder, 1);
		decoder_x86_free(decoder);
	}
}

void code_release(struct code *code)
{
	free(code->insns);
	vec_release(&code->targets);
	vec_release(&code->bounds);
	*code = (struct code){ 0 };
}

bool code_is_target(const struct code *code, uint64_t address)
{
	return code->targets.n &&
	       bsearch(&address, code->targets.data, code->targets.n, sizeof(address), compare_u64);
}

/* ---- the stack at each instruction ---- */

struct stack {
	int32_t sp, frame; /* bytes from sp's value at entry */
	bool reached, sp_known, frame_known;
};

struct later {
	size_t index;
	struct stack stack;
};

struct walk {
	const struct code *code;
	struct stack *at;  /* before each instruction */
	bool reads_tables; /* through an index, as switches do; else an indirect jump is a tail call
			    */
	struct {
		VEC(size_t)
	} work;
	/* What follows a call: behind one that never returns stands a block that others reach with
	 * another stack, so these wait until every jump has been followed. */
	struct {
		VEC(struct later)
	} late;
};

static size_t find_in(const struct insn *insns, size_t first, size_t end, uint64_t address)
{
	size_t low = first, high = end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && insns[low].address == address ? low : SIZE_MAX;
}

/* Index of the instruction at address, SIZE_MAX: none. */
static size_t code_index(const struct code *code, uint64_t address)
{
	for (size_t part = 0; part + 1 < code->bounds.n; part++) {
		size_t i = find_in(code->insns, code->bounds.data[part],
				   code->bounds.data[part + 1], address);

		if (i != SIZE_MAX)
			return i;
	}
	return SIZE_MAX;
}

static struct stack step(const struct insn *insn, struct stack s)
{
	struct stack next = s;

	switch (insn->sp) {
	case SP_ADD:
		next.sp = (int32_t)((uint32_t)s.sp + (uint32_t)insn->sp_delta);
		break;
	case SP_FRAME:
		next.sp = (int32_t)((uint32_t)s.frame + (uint32_t)insn->sp_delta);
		next.sp_known = s.frame_known;
		break;
	case SP_ENTRY:
		next.sp = 0;
		next.sp_known = true;
		break;
	case SP_LOST:
		next.sp_known = false;
		break;
	}
	if (insn->frame == FRAME_SET) {
		next.frame = (int32_t)((uint32_t)s.sp + (uint32_t)insn->frame_delta);
		next.frame_known = s.sp_known;
	} else if (insn->frame == FRAME_LOST) {
		next.frame_known = false;
	}
	return next;
}

static void reach(struct walk *w, size_t i, struct stack s)
{
	if (i >= w->code->n || w->at[i].reached)
		return;
	s.reached = true;
	w->at[i] = s;
	*vec_add(&w->work) = i;
}

static bool goes_on(const struct insn *insn)
{
	return insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH;
}

static void leave_insn(struct walk *w, size_t i)
{
	const struct code *code = w->code;
	const struct insn *insn = &code->insns[i];
	struct stack next = step(insn, w->at[i]);
	bool adjacent = i + 1 < code->n && insn[1].address == insn->address + insn->length;

	if (insn->flow == FLOW_BRANCH || insn->flow == FLOW_JUMP)
		reach(w, code_index(code, insn->target), next);
	if (!goes_on(insn) || !adjacent)
		return;
	if (insn->is_call)
		*vec_add(&w->late) = (struct later){ i + 1, next };
	else
		reach(w, i + 1, next);
}

static void walk_on(struct walk *w)
{
	for (;;) {
		while (w->work.n)
			leave_insn(w, w->work.data[--w->work.n]);
		if (!w->late.n)
			return;
		w->late.n--;
		reach(w, w->late.data[w->late.n].index, w->late.data[w->late.n].stack);
	}
}

/*
 * Blocks that only a switch table or an unwinder reaches: they run in the function's body, with
 * the frame that its indirect jumps, else its calls, have.
 */
static struct stack body_stack(const struct walk *w)
{
	struct stack body = { 0 };

	for (size_t i = 0; i < w->code->n; i++) {
		const struct insn *insn = &w->code->insns[i];

		if (!w->at[i].reached)
			continue;
		if (insn->flow == FLOW_JUMP_REG || insn->flow == FLOW_JUMP_MEM)
			return w->at[i];
		if (insn->is_call && !body.reached)
			body = w->at[i];
	}
	return body;
}

static bool has_table_load(const struct code *code)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->insns[i].table_load)
			return true;
	return false;
}

static void walk_code(struct walk *w, const struct code *code)
{
	struct stack body;

	w->code = code;
	w->reads_tables = has_table_load(code);
	w->at = xcalloc(code->n, sizeof(*w->at));
	reach(w, 0, (struct stack){ .sp_known = true });
	walk_on(w);
	body = body_stack(w);
	for (size_t i = 1; i < code->n; i++) {
		if (w->at[i].reached)
			continue;
		reach(w, i, body);
		walk_on(w);
	}
}

/* ---- where control leaves ---- */

struct exits {
	const struct placement_input *in;
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
	if (insn->class == CLASS_N)
		incomplete(e, insn, "no probe can sit on the exit");
	else if (out->n_ret_sites == PLACEMENT_RET_SITES_MAX)
		incomplete(e, insn, "more exits than ispot takes, the next");
	else
		out->ret_sites[out->n_ret_sites++] = (int64_t)(insn->address - e->in->address);
}

static bool is_inside(const struct exits *e, uint64_t address)
{
	const struct placement_input *in = e->in;

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

/* A tail call leaves the stack as it was at entry; a jump into a part that lies elsewhere need not.
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

enum jump_kind { JUMP_SWITCH, JUMP_LEAVES, JUMP_UNCLEAR };

#define LOOK_BACK 16

/* A bound check among the last instructions before i: cmp with a constant, then a branch. */
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

/* Follows the jump's register back to the load it comes from. */
static enum jump_kind register_origin(const struct code *code, size_t i)
{
	uint32_t wanted = 1u << (code->insns[i].jump_register & 31);

	for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
		const struct insn *insn = &code->insns[i - back];

		if (!goes_on(insn) || insn->is_call)
			return JUMP_UNCLEAR;
		if (!(insn->writes & wanted))
			continue;
		if (insn->table_load)
			return insn->relative_table || is_bounded(code, i) ? JUMP_SWITCH
									   : JUMP_UNCLEAR;
		if (insn->loads)
			return JUMP_LEAVES; /* a function pointer, from a structure or the GOT */
	}
	return JUMP_UNCLEAR;
}

static enum jump_kind jump_kind(const struct walk *w, size_t i)
{
	const struct insn *insn = &w->code->insns[i];
	const struct stack *s = &w->at[i];

	if (insn->notrack || (s->sp_known && s->sp))
		return JUMP_SWITCH; /* a tail call would have given the frame back */
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

	switch (jump_kind(e->walk, i)) {
	case JUMP_SWITCH:
		return;
	case JUMP_LEAVES:
		add_site(e, insn);
		return;
	case JUMP_UNCLEAR:
		incomplete(e, insn, "may be left by the indirect jump");
	}
}

static void find_in_code(struct exits *e)
{
	const struct code *code = e->walk->code;

	for (size_t i = 0; i < code->n; i++) {
		e->out->leaf &= !code->insns[i].is_call;
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

void exits_find(const struct code *code, const struct placement_input *in, struct placement *out)
{
	struct walk walk = { 0 };
	struct exits e = { in, &walk, out };
	const struct insn end = { .address = code->incomplete ? code->undecodable
							      : in->address + CODE_BYTES_MAX };

	out->ret_sites_complete = out->leaf = true;
	walk_code(&walk, code);
	find_in_code(&e);
	if (code->incomplete)
		incomplete(&e, &end, "has bytes that are no instruction");
	else if (code->too_large)
		incomplete(&e, &end, "is too large to be read, stopped");
	out->leaf &= out->ret_sites_complete;
	free(walk.at);
	vec_release(&walk.work);
	vec_release(&walk.late);
}
