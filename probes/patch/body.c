/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/body.h"

#include "probes/code/decode.h"
#include "probes/patch/targets.h"
#include "probes/place/exits.h"
#include "probes/place/placement.h"
#include "symbol/dso/called.h"
#include "symbol/dso/dso.h"

#define BRIEF_INSNS_MAX 64

struct reading {
	struct body *b;
	const struct targets *t;
	uint64_t part_at; /* address in a part that is still to be read; 0: none */
	bool has_switch, is_unclear, leaves_by_register;
	const char *refusal;
};

static bool is_in(uint64_t address, uint64_t start, uint64_t size)
{
	return address - start < size;
}

bool body_contains(const struct body *b, uint64_t address)
{
	if (is_in(address, b->in.address, b->in.size_bytes))
		return true;
	for (size_t i = 0; i < b->in.n_parts; i++)
		if (is_in(address, b->parts[i].address, b->parts[i].size_bytes))
			return true;
	return false;
}

/* ---- parts ---- */

#define JUMPS_TO_PART_MAX 1000

/*
 * Whether all direct jumps into the frame come from this function, so that the frame is its part or
 * can be treated as one.
 */
static bool only_comes_from(const struct reading *r, const struct frame *f)
{
	const struct targets *t = r->t;
	size_t first = targets_first_crossing(t, f->start);

	for (size_t i = first;
	     i < t->crossings.n && is_in(t->crossings.data[i].target, f->start, f->size); i++)
		if (i - first > JUMPS_TO_PART_MAX ||
		    (!body_contains(r->b, t->crossings.data[i].from) &&
		     !is_in(t->crossings.data[i].from, f->start, f->size)))
			return false;
	return true;
}

static bool is_stub(const struct targets *t, uint64_t address)
{
	size_t n;
	const uint8_t *code = targets_code(t, address, &n);

	return code && (t->machine == CODE_AARCH64 ? dso_is_stub_arm64(code, n)
						   : dso_stub_jump(code, n) != NULL);
}

/*
 * Finds a part of the function that the compiler moved away (.cold), named or not: nothing calls
 * the part, and only the function jumps there. Returns NULL if there is none at address.
 */
static const struct frame *part_at(const struct reading *r, uint64_t address)
{
	const struct frame *f = targets_frame(r->t, address);
	const uint8_t *marks = f ? targets_marks(r->t, f->start) : NULL;

	/* the procedure linkage table has one frame for all of its stubs */
	if (!marks || is_stub(r->t, address) ||
	    *marks & (MARK_CALLED | MARK_COMPUTED | MARK_WORD) || f->is_unreadable ||
	    is_in(r->b->in.address, f->start, f->size) || body_contains(r->b, f->start))
		return NULL;
	return only_comes_from(r, f) ? f : NULL;
}

static bool add_part(struct reading *r)
{
	struct body *b = r->b;
	const struct frame *f = targets_frame(r->t, r->part_at);
	struct code_part *part = &b->parts[b->in.n_parts];
	size_t readable;

	if (b->in.n_parts == BODY_PARTS_MAX)
		return false;
	part->address = f->start;
	part->code = targets_code(r->t, f->start, &readable);
	part->size_bytes = f->size < readable ? f->size : readable;
	b->in.n_parts++;
	return part->code;
}

/* ---- exits ---- */

static void refuse(struct reading *r, const char *why)
{
	if (!r->refusal)
		r->refusal = why;
}

static void add_exit(struct reading *r, size_t insn, enum patch_exit kind)
{
	*vec_add(&r->b->exits) = (struct body_exit){ insn, kind };
}

static bool starts_function(const struct targets *t, uint64_t address)
{
	const struct frame *f = targets_frame(t, address);
	const uint8_t *marks = targets_marks(t, address);

	return (f && f->start == address) || (marks && *marks & MARK_CALLED) || is_stub(t, address);
}

static void direct_jump(struct reading *r, size_t i)
{
	const struct insn *insn = &r->b->code.insns[i];
	const struct stack *s = &r->b->walk.at[i];

	if (body_contains(r->b, insn->target))
		return;
	if (part_at(r, insn->target))
		r->part_at = insn->target;
	else if (!s->sp_known)
		refuse(r, "may be left by a jump at which its stack is not known");
	else if (s->sp)
		refuse(r, "goes on with its stack in code that others use, too");
	else if (!starts_function(r->t, insn->target))
		refuse(r, "jumps into the middle of another function");
	else
		add_exit(r, i, insn->flow == FLOW_BRANCH ? PATCH_BRANCH : PATCH_JUMP);
}

static void indirect_jump(struct reading *r, size_t i)
{
	const struct stack *s = &r->b->walk.at[i];
	const uint8_t *marks = targets_marks(r->t, r->b->code.insns[i].address);

	if (marks && *marks & MARK_JUMPS) {
		r->has_switch = true;
		return;
	}
	switch (exits_jump_kind(&r->b->walk, i)) {
	case JUMP_LEAVES:
		r->leaves_by_register = true;
		add_exit(r, i, PATCH_JUMP);
		return;
	case JUMP_SWITCH:
		r->has_switch = true;
		return;
	case JUMP_UNCLEAR:
		if (!s->sp_known || s->sp)
			refuse(r, "may be left by an indirect jump");
		r->is_unclear = true;
		add_exit(r, i, PATCH_JUMP);
	}
}

static void leave_by_ret(struct reading *r, size_t i)
{
	const struct stack *s = &r->b->walk.at[i];

	if (s->sp_known && s->sp)
		refuse(r, "returns to what it has put on the stack");
	else
		add_exit(r, i, PATCH_RET);
}

static void find_exits(struct reading *r)
{
	const struct code *code = &r->b->code;

	for (size_t i = 0; i < code->n; i++) {
		switch (code->insns[i].flow) {
		case FLOW_RET:
			leave_by_ret(r, i);
			break;
		case FLOW_JUMP:
		case FLOW_BRANCH:
			direct_jump(r, i);
			break;
		case FLOW_JUMP_REG:
		case FLOW_JUMP_MEM:
			indirect_jump(r, i);
			break;
		}
	}
}

const struct body_exit *body_exit_at(const struct body *b, size_t insn)
{
	vec_for_each (&b->exits, const struct body_exit, e)
		if (e->insn == insn)
			return e;
	return NULL;
}

/* ---- other ways in ---- */

/* Returns the marks of all bytes of a range but the first. */
static uint8_t marks_inside(const struct targets *t, uint64_t start, uint64_t size)
{
	const uint8_t *marks = targets_marks(t, start);
	uint8_t all = 0;

	for (uint64_t i = 1; marks && i < size; i++)
		all |= marks[i];
	return all;
}

static uint8_t all_marks_inside(const struct reading *r)
{
	const struct code_input *in = &r->b->in;
	uint8_t all = marks_inside(r->t, in->address, in->size_bytes);

	for (size_t i = 0; i < in->n_parts; i++)
		all |= marks_inside(r->t, in->parts[i].address, in->parts[i].size_bytes) |
		       *targets_marks(r->t, in->parts[i].address);
	return all;
}

static bool is_jumped_into(const struct reading *r)
{
	const struct code_input *in = &r->b->in;
	const struct targets *t = r->t;

	for (size_t i = targets_first_crossing(t, in->address + 1);
	     i < t->crossings.n && is_in(t->crossings.data[i].target, in->address, in->size_bytes);
	     i++)
		if (!body_contains(r->b, t->crossings.data[i].from))
			return true;
	return false;
}

static void judge_entries(struct reading *r)
{
	uint8_t marks = all_marks_inside(r);

	if (marks & MARK_CALLED || is_jumped_into(r))
		refuse(r, "is entered in its middle, too");
	if (r->has_switch && !(marks & (MARK_SWITCH | MARK_WORD)))
		refuse(r, "has a switch whose table is not found");
	if (r->has_switch && marks & MARK_COMPUTED)
		refuse(r, "jumps to addresses that it computes");
	if (r->is_unclear && marks & (MARK_SWITCH | MARK_WORD | MARK_COMPUTED))
		refuse(r, "may be left by an indirect jump");
	/* Hand-written code jumps to an instruction whose address it computes. */
	if (r->t->machine == CODE_AARCH64 && r->leaves_by_register && marks & MARK_COMPUTED)
		refuse(r, "may be left by an indirect jump");
	if (code_is_target(&r->b->code, r->b->in.address))
		refuse(r, "begins with its own loop");
}

/* ---- reading ---- */

static void forget(struct body *b)
{
	walk_release(&b->walk);
	code_release(&b->code);
	vec_release(&b->exits);
}

static void read_once(struct reading *r)
{
	struct body *b = r->b;

	forget(b);
	r->part_at = 0;
	r->has_switch = r->is_unclear = r->leaves_by_register = false;
	r->refusal = NULL;
	code_read(&b->code, &b->in);
	if (!b->code.n_main || b->code.insns[0].address != b->in.address || b->code.incomplete) {
		refuse(r, "has bytes that are no instruction");
		return;
	}
	if (b->code.too_large) {
		refuse(r, "is too large to be read");
		return;
	}
	walk_code(&b->walk, &b->code);
	find_exits(r);
	if (b->exits.n > BODY_EXITS_MAX)
		refuse(r, "has more exits than ispot patches");
}

const char *body_read(struct body *b, const struct targets *t, const struct dso_function *f)
{
	struct reading r = { .b = b, .t = t };
	size_t readable;

	b->in.machine = t->machine;
	b->in.address = f->address;
	b->in.code = targets_code(t, f->address, &readable);
	b->in.size_bytes = f->size < readable ? f->size : readable;
	b->in.parts = b->parts;
	if (!b->in.code)
		return "its code is not in the file";
	do {
		read_once(&r);
	} while (r.part_at && add_part(&r));
	if (r.part_at)
		refuse(&r, "has more parts than ispot reads");
	if (b->walk.at)
		judge_entries(&r);
	return r.refusal;
}

void body_release(struct body *b)
{
	forget(b);
}

uint32_t body_intact_arguments(const struct body *b, size_t insn)
{
	uint32_t written = 0;

	for (size_t i = 0; i < insn; i++)
		written |= b->code.insns[i].writes;
	return placement_intact_arguments(&b->in, written);
}

/* Returns whether the function may go on with an earlier instruction from there. Jumps through
 * registers and memory may lead anywhere, unless they leave the function. */
static bool may_loop(const struct body *b, size_t i)
{
	const struct insn *insn = &b->code.insns[i];

	switch (insn->flow) {
	case FLOW_BRANCH:
	case FLOW_JUMP:
		return insn->target <= insn->address && body_contains(b, insn->target);
	case FLOW_JUMP_REG:
	case FLOW_JUMP_MEM:
		return !body_exit_at(b, i);
	default:
		return false;
	}
}

bool body_is_brief(const struct body *b)
{
	for (size_t i = 0; i < b->code.n; i++)
		if (b->code.insns[i].is_call || b->code.insns[i].ordered || may_loop(b, i))
			return false;
	return b->code.n <= BRIEF_INSNS_MAX;
}
