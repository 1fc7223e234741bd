// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A jump is as long as each instruction, so every site is one instruction, and only what the
 * instruction does can forbid it.
 */
#include "probes/patch/sites_arm64.h"

#include <string.h>

#include "probes/code/decode.h"
#include "probes/patch/body.h"
#include "probes/patch/layout_arm64.h"
#include "probes/patch/sites.h"
#include "probes/patch/targets.h"

struct chooser {
	const struct body *b;
	struct targets *t;
	struct sites *out;
};

static const struct insn *insn_at(const struct chooser *c, size_t i)
{
	return &c->b->code.insns[i];
}

static uint32_t word_at(const struct chooser *c, size_t i)
{
	size_t n;

	return arm64_word(targets_code(c->t, insn_at(c, i)->address, &n));
}

static uint8_t marks_at(const struct chooser *c, size_t i)
{
	return *targets_marks(c->t, insn_at(c, i)->address);
}

/* ---- data among the code ---- */

#define MARK_REACHED (MARK_TARGET | MARK_CALLED | MARK_SWITCH | MARK_WORD)

/*
 * Whether something that looks like an exit may be data: nothing leads there, or code reads it. A
 * jump written over data would change what the program computes.
 */
static bool has_data(const struct chooser *c)
{
	bool is_dead = false;

	for (size_t i = 0; i < c->b->code.n; i++) {
		const bool is_first =
			i == 0 || insn_at(c, i)->address !=
					  insn_at(c, i - 1)->address + insn_at(c, i - 1)->length;

		is_dead &= !is_first && !(marks_at(c, i) & MARK_REACHED);
		if (body_exit_at(c->b, i) && (is_dead || (i && marks_at(c, i) & MARK_COMPUTED)))
			return true;
		is_dead |= !insn_goes_on(insn_at(c, i));
	}
	return false;
}

/* ---- sites ---- */

static const char *add_site(const struct chooser *c, size_t i, bool is_entry)
{
	const struct insn *insn = insn_at(c, i);
	const struct body_exit *exit = body_exit_at(c->b, i);
	uint8_t *marks = targets_marks(c->t, insn->address);
	struct patch_site *site;
	size_t n;

	if (insn->address % 4)
		return "does not begin at an instruction";
	if (*marks & MARK_USED)
		return "has code that another function has, too";
	site = vec_add(c->out);
	*site = (struct patch_site){
		.machine = CODE_AARCH64,
		.is_entry = is_entry,
		.exit = exit ? exit->kind : PATCH_NO_EXIT,
		.address = insn->address,
		.n_bytes = insn->length,
		.n_code = insn->length,
	};
	memcpy(site->original, targets_code(c->t, insn->address, &n), insn->length);
	if (is_entry) {
		site->entry_offset = (uint8_t)(insn->address - c->b->in.address);
		site->sp_correction = -c->b->walk.at[i].sp;
		site->intact = body_intact_arguments(c->b, i);
	}
	for (size_t k = 0; k < insn->length; k++)
		marks[k] |= MARK_USED;
	return NULL;
}

static void drop_all(const struct chooser *c)
{
	vec_for_each (c->out, struct patch_site, s)
		for (size_t k = 0; k < s->n_bytes; k++)
			targets_marks(c->t, s->address)[k] &= (uint8_t)~MARK_USED;
	c->out->n = 0;
}

/*
 * The entry is the first instruction, or the one behind that at which indirect calls must arrive.
 * Neither changes flags or the stack.
 */
static const char *add_entry(const struct chooser *c)
{
	const size_t at = arm64_is_landing(word_at(c, 0)) && c->b->code.n_main > 1;

	if (at && marks_at(c, at) & MARK_ANY_TARGET)
		return "begins with its own loop";
	if (insn_at(c, at)->is_call)
		return "begins with a call";
	if (!arm64_can_move(word_at(c, at)))
		return "begins with an instruction that cannot run elsewhere";
	return add_site(c, at, true);
}

static const char *add_exits(const struct chooser *c)
{
	const uint64_t entry = c->out->data[0].address;
	const char *refusal = NULL;

	vec_for_each (&c->b->exits, const struct body_exit, e) {
		if (insn_at(c, e->insn)->address == entry)
			continue;
		if (!arm64_can_move(word_at(c, e->insn)))
			return "has an exit that cannot run elsewhere";
		refusal = refusal ? refusal : add_site(c, e->insn, false);
	}
	return refusal;
}

const char *sites_choose_arm64(struct sites *out, const struct body *b, struct targets *t)
{
	const struct chooser c = { b, t, out };
	const char *refusal = NULL;

	if (has_data(&c))
		return "has data among its code";
	refusal = add_entry(&c);
	if (!refusal)
		refusal = add_exits(&c);
	if (refusal)
		drop_all(&c);
	return refusal;
}
