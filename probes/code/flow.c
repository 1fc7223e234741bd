// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/code/flow.h"

#include <stdlib.h>

#include "base/mem.h"
#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "probes/code/input.h"

/* ---- decoding ---- */

struct insns {
	VEC(struct insn)
};

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->target < y->target ? -1 : x->target > y->target;
}

/*
 * After bytes that cannot be decoded, the boundaries of instructions are a guess. That is good
 * enough to learn of branch targets, but no probe may go there: in the middle of an instruction it
 * would corrupt the target.
 */
static void read_part(struct code *code, struct insns *insns, decode_fn decode, void *decoder,
		      const struct code_part *part, unsigned step)
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
			*vec_add(&code->branches) =
				(struct branch){ insn.target, certain ? insns->n - 1 : SIZE_MAX };
		at += insn.length;
	}
}

static void read_parts(struct code *code, const struct code_input *in, decode_fn decode,
		       void *decoder, unsigned step)
{
	struct code_part own = { in->code, in->size_bytes, in->address };
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
	vec_sort(&code->branches, compare_branches);
}

void code_read(struct code *code, const struct code_input *in)
{
	if (in->machine == CODE_AARCH64) {
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
	vec_release(&code->branches);
	vec_release(&code->bounds);
	*code = (struct code){ 0 };
}

size_t code_first_branch_to(const struct code *code, uint64_t address)
{
	return vec_search(i, 0, code->branches.n, code->branches.data[i].target < address);
}

bool code_is_target(const struct code *code, uint64_t address)
{
	size_t i = code_first_branch_to(code, address);

	return i < code->branches.n && code->branches.data[i].target == address;
}

/* ---- the stack at each instruction ---- */

static size_t find_in(const struct insn *insns, size_t first, size_t end, uint64_t address)
{
	size_t low = vec_search(i, first, end, insns[i].address < address);

	return low < end && insns[low].address == address ? low : SIZE_MAX;
}

size_t code_index(const struct code *code, uint64_t address)
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

bool insn_goes_on(const struct insn *insn)
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
	if (!insn_goes_on(insn) || !adjacent)
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
 * Returns the stack of blocks that only a switch table or an unwinder reaches. They run in the
 * function's body, with the stack of an indirect jump, or, if there is none, of the first call.
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

void walk_code(struct walk *w, const struct code *code)
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

void walk_release(struct walk *w)
{
	free(w->at);
	vec_release(&w->work);
	vec_release(&w->late);
	*w = (struct walk){ 0 };
}
