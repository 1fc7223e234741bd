/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/code/loops.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "probes/code/decode.h"
#include "probes/code/flow.h"
#include "probes/code/input.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

#define LOOPS_MAX	   64 /* of a function; further ones are ignored */
#define FUNCTION_BYTES_MAX (64u << 10)

struct loops {
	struct code code;
	uint64_t *in; /* [instruction]: bit k: it is in loop k */
	struct loop loops[LOOPS_MAX];
	unsigned n;
};

/* ---- back edges ---- */

struct back {
	size_t from, to; /* instructions */
};

/*
 * A depth-first search over the instructions: a branch to an instruction whose visit has not ended
 * is a back edge.
 */
struct search {
	const struct code *code;
	uint8_t *state; /* [instruction] */
	struct {
		VEC(size_t)
	} path;
	struct {
		VEC(struct back)
	} back;
};

enum { UNSEEN, NEXT, TARGET, BOTH, LEFT }; /* edges of an instruction still to follow */

static void enter(struct search *s, size_t from, size_t to)
{
	if (to >= s->code->n_main || s->state[to] == LEFT)
		return;
	if (s->state[to] != UNSEEN) {
		*vec_add(&s->back) = (struct back){ from, to };
		return;
	}
	s->state[to] = NEXT;
	*vec_add(&s->path) = to;
}

static void follow(struct search *s, size_t root)
{
	enter(s, root, root);
	while (s->path.n) {
		size_t i = s->path.data[s->path.n - 1];
		const struct insn *insn = &s->code->insns[i];

		switch (s->state[i]++) {
		case NEXT:
			if (insn_goes_on(insn))
				enter(s, i, i + 1);
			break;
		case TARGET:
			if (insn->flow == FLOW_BRANCH || insn->flow == FLOW_JUMP)
				enter(s, i, code_index(s->code, insn->target));
			break;
		case BOTH:
			s->path.n--;
			break;
		}
	}
}

static void find_back(struct search *s)
{
	s->state = xcalloc(s->code->n_main + 1, sizeof(*s->state));
	/* A block that only a jump table reaches is a root of its own. */
	for (size_t i = 0; i < s->code->n_main; i++)
		if (s->state[i] == UNSEEN)
			follow(s, i);
}

/* ---- the bodies ---- */

struct body {
	struct loops *l;
	uint64_t bit;
	struct {
		VEC(size_t)
	} work;
};

static void include(struct body *b, size_t i)
{
	if (i >= b->l->code.n_main || b->l->in[i] & b->bit)
		return;
	b->l->in[i] |= b->bit;
	*vec_add(&b->work) = i;
}

/*
 * Includes everything that leads to the back edge without passing the head, which is included
 * already.
 */
static void include_before(struct body *b)
{
	const struct code *code = &b->l->code;

	while (b->work.n) {
		size_t i = b->work.data[--b->work.n];
		uint64_t address = code->insns[i].address;

		if (i && insn_goes_on(&code->insns[i - 1]))
			include(b, i - 1);
		for (size_t k = code_first_branch_to(code, address);
		     k < code->branches.n && code->branches.data[k].target == address; k++)
			include(b, code->branches.data[k].from);
	}
}

static unsigned loop_of(struct loops *l, uint64_t head)
{
	unsigned k = 0;

	while (k < l->n && l->loops[k].head != head)
		k++;
	if (k == l->n && k < LOOPS_MAX)
		l->loops[l->n++] = (struct loop){ .head = head };
	return k;
}

static void add_back(struct loops *l, const struct back *back)
{
	uint64_t branch = l->code.insns[back->from].address;
	unsigned k = loop_of(l, l->code.insns[back->to].address);
	struct body body = { .l = l, .bit = 1ull << (k % LOOPS_MAX) };

	if (k == LOOPS_MAX)
		return;
	if (branch > l->loops[k].branch)
		l->loops[k].branch = branch;
	l->in[back->to] |= body.bit;
	include(&body, back->from);
	include_before(&body);
	vec_release(&body.work);
}

struct loops *loops_read(const struct code_input *in)
{
	struct loops *l = xcalloc(1, sizeof(*l));
	struct search s = { .code = &l->code };

	code_read(&l->code, in);
	l->in = xcalloc(l->code.n_main + 1, sizeof(*l->in));
	find_back(&s);
	vec_for_each (&s.back, const struct back, b)
		add_back(l, b);
	for (size_t i = 0; i < l->code.n_main; i++)
		for (unsigned k = 0; k < l->n; k++)
			l->loops[k].insns += l->in[i] >> k & 1;
	free(s.state);
	vec_release(&s.path);
	vec_release(&s.back);
	return l;
}

struct loops *loops_read_at(struct dso *dso, uint64_t address)
{
	const struct dso_function *f = dso_function_at(dso, address);
	struct code_input in = {
		.machine = dso_machine(dso) == DSO_AARCH64 ? CODE_AARCH64 : CODE_X86_64,
		.address = f ? f->address : 0,
	};
	struct loops *loops;
	uint64_t began_ns;

	if (!f || !f->size || f->size > FUNCTION_BYTES_MAX || dso_machine(dso) == DSO_OTHER)
		return NULL;
	in.code = dso_code(dso, f->address, &in.size_bytes);
	if (!in.code)
		return NULL;
	if (f->size < in.size_bytes)
		in.size_bytes = f->size;
	if (!parser_may_work(dso, &began_ns))
		return NULL;
	loops = loops_read(&in);
	parser_has_worked(dso, began_ns);
	return loops;
}

/*
 * Returns the index of the instruction that contains address, or SIZE_MAX. For a call, the address
 * may be that of its last byte.
 */
static size_t insn_with(const struct code *code, uint64_t address)
{
	size_t low = vec_search(i, 0, code->n_main,
				code->insns[i].address + code->insns[i].length <= address);

	return low < code->n_main && code->insns[low].address <= address ? low : SIZE_MAX;
}

bool loops_around(const struct loops *l, uint64_t address, struct loop *outermost,
		  struct loop *innermost)
{
	size_t i = insn_with(&l->code, address);
	bool found = false;

	for (unsigned k = 0; k < l->n && i < l->code.n_main; k++) {
		if (!(l->in[i] >> k & 1))
			continue;
		if (!found || l->loops[k].insns > outermost->insns)
			*outermost = l->loops[k];
		if (!found || l->loops[k].insns < innermost->insns)
			*innermost = l->loops[k];
		found = true;
	}
	return found;
}

void loops_free(struct loops *l)
{
	if (!l)
		return;
	code_release(&l->code);
	free(l->in);
	free(l);
}
