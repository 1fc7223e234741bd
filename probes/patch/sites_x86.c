/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/sites_x86.h"

#include <string.h>

#include "probes/code/decode.h"
#include "probes/patch/body.h"
#include "probes/patch/layout_x86.h"
#include "probes/patch/sites.h"
#include "probes/patch/targets.h"

struct chooser {
	const struct body *b;
	struct targets *t;
	struct sites *out;
};

/*
 * The instructions of a site, from first to last, and the padding behind them that its jump covers.
 */
struct stretch {
	size_t first, last;
	size_t n_code, n_bytes;
};

/* ---- instructions ---- */

static const struct insn *insn_at(const struct chooser *c, size_t i)
{
	return &c->b->code.insns[i];
}

static const uint8_t *bytes_at(const struct chooser *c, uint64_t address)
{
	size_t n;

	return targets_code(c->t, address, &n);
}

static bool read_layout(const struct chooser *c, size_t i, struct layout *l)
{
	const struct insn *insn = insn_at(c, i);

	return layout_read(bytes_at(c, insn->address), insn->length, l) &&
	       l->length == insn->length;
}

static bool can_move(const struct chooser *c, size_t i)
{
	struct layout l;

	return read_layout(c, i, &l) && layout_can_move(&l);
}

/* Whether control goes on from instruction i to i + 1, which lies directly behind it. */
static bool goes_on(const struct chooser *c, size_t i)
{
	const struct insn *insn = insn_at(c, i);

	return i + 1 < c->b->code.n && insn_goes_on(insn) &&
	       insn[1].address == insn->address + insn->length;
}

static bool is_target(const struct chooser *c, uint64_t address)
{
	const uint8_t *marks = targets_marks(c->t, address);

	return !marks || *marks & MARK_ANY_TARGET;
}

/* ---- room ---- */

static bool is_free(const struct chooser *c, uint64_t address)
{
	const uint8_t *marks = targets_marks(c->t, address);

	return marks && !(*marks & MARK_USED);
}

static bool is_free_padding(const struct chooser *c, uint64_t address)
{
	const uint8_t *marks = targets_marks(c->t, address);

	return marks && *marks & MARK_PADDING && !(*marks & MARK_USED);
}

static size_t padding_at(const struct chooser *c, uint64_t address, size_t want)
{
	size_t n = 0;

	while (n < want && is_free_padding(c, address + n))
		n++;
	return n;
}

static bool is_free_stretch(const struct chooser *c, uint64_t address, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_free(c, address + i) || (i && is_target(c, address + i)))
			return false;
	return true;
}

/*
 * Bytes of padding right behind code that other sites leave free: a jump of that code may need
 * them.
 */
#define KEPT_FOR_CODE 4

/* If the writer is killed between two pages, only a part of the jump is written. */
#define PAGE 4096

static bool is_on_one_page(uint64_t address, size_t n)
{
	return address % PAGE + n <= PAGE;
}

static bool is_island(const struct chooser *c, uint64_t address, size_t kept)
{
	if (!is_on_one_page(address, PATCH_JUMP_BYTES))
		return false;
	for (size_t i = 0; i < PATCH_JUMP_BYTES + kept; i++)
		if (!is_free_padding(c, address - kept + i))
			return false;
	return true;
}

static uint64_t find_island(const struct chooser *c, uint64_t site, size_t kept)
{
	uint64_t from = site + PATCH_SHORT_BYTES;

	for (int64_t distance = -128; distance <= 127; distance++)
		if (is_island(c, from + (uint64_t)distance, kept))
			return from + (uint64_t)distance;
	return 0;
}

/*
 * Returns the address of padding for a long jump, within reach of a short jump at the site, or 0 if
 * there is none. Padding that other jumps may need comes last.
 */
static uint64_t island_for(const struct chooser *c, uint64_t site)
{
	uint64_t island = find_island(c, site, KEPT_FOR_CODE);

	return island ? island : find_island(c, site, 0);
}

/* ---- making a site ---- */

static void mark(const struct chooser *c, uint64_t address, size_t n, bool used)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *marks = targets_marks(c->t, address + i);

		*marks = used ? *marks | MARK_USED : *marks & (uint8_t)~MARK_USED;
	}
}

static void mark_site(const struct chooser *c, const struct patch_site *s, bool used)
{
	mark(c, s->address, s->n_bytes, used);
	if (s->island)
		mark(c, s->island, PATCH_JUMP_BYTES, used);
}

static void drop_from(const struct chooser *c, size_t n)
{
	while (c->out->n > n)
		mark_site(c, &c->out->data[--c->out->n], false);
}

/*
 * Adds a site with a jump of PATCH_JUMP_BYTES, or a short one if there is an island for it. Returns
 * NULL if there is no room.
 */
static struct patch_site *add_site(const struct chooser *c, const struct stretch *s, size_t jump)
{
	uint64_t address = insn_at(c, s->first)->address, island = 0;
	const struct body_exit *exit = body_exit_at(c->b, s->last);
	struct patch_site *site;

	if (!is_free_stretch(c, address, s->n_bytes) || !is_on_one_page(address, jump))
		return NULL;
	mark(c, address, s->n_bytes, true);
	if (jump == PATCH_SHORT_BYTES && !(island = island_for(c, address))) {
		mark(c, address, s->n_bytes, false);
		return NULL;
	}
	site = vec_add(c->out);
	*site = (struct patch_site){
		.exit = exit ? exit->kind : PATCH_NO_EXIT,
		.address = address,
		.n_bytes = (uint8_t)s->n_bytes,
		.n_code = (uint8_t)s->n_code,
		.island = island,
	};
	memcpy(site->original, bytes_at(c, address), s->n_bytes);
	if (island)
		memcpy(site->island_original, bytes_at(c, island), PATCH_JUMP_BYTES);
	mark_site(c, site, true);
	return site;
}

/* ---- the entry ---- */

/* Finds the fewest instructions from first on that have room for a jump. */
static bool stretch_forward(const struct chooser *c, size_t first, size_t jump, struct stretch *s)
{
	*s = (struct stretch){ .first = first };
	for (size_t i = first;; i++) {
		if (!can_move(c, i))
			return false;
		s->last = i;
		s->n_code += insn_at(c, i)->length;
		s->n_bytes = s->n_code;
		if (s->n_bytes >= jump)
			return true;
		if (!goes_on(c, i))
			break;
		if (body_exit_at(c->b, i))
			return false;
	}
	s->n_bytes += padding_at(c, insn_at(c, first)->address + s->n_code, jump - s->n_code);
	return !insn_goes_on(insn_at(c, s->last)) && s->n_bytes >= jump;
}

/*
 * Whether the function reads flags at instruction at that it set before. Flags have no meaning when
 * a function begins.
 */
static bool flags_are_live(const struct chooser *c, size_t at)
{
	bool changed = false;
	struct layout l;

	for (size_t i = 0; i < at; i++)
		changed |= !read_layout(c, i, &l) || layout_flags(&l) != FLAGS_KEPT;
	for (size_t i = at; changed; i++) {
		const struct body_exit *exit = body_exit_at(c->b, i);

		if (!read_layout(c, i, &l))
			return true;
		if (exit && exit->kind != PATCH_BRANCH)
			return false;
		if (layout_flags(&l) == FLAGS_SET || layout_is_call(&l))
			return false;
		if ((layout_flags(&l) == FLAGS_READ && l.map != MAP_VECTOR) || !goes_on(c, i))
			return true;
	}
	return false;
}

static bool red_zone_is_live(const struct chooser *c, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (insn_at(c, i)->stores)
			return true;
	return false;
}

static bool add_entry(const struct chooser *c, size_t at, size_t jump, bool clean)
{
	bool flags = flags_are_live(c, at), red_zone = red_zone_is_live(c, at);
	const struct insn *insn = insn_at(c, at);
	struct patch_site *site;
	struct stretch s;

	if ((clean && (flags || red_zone)) || !stretch_forward(c, at, jump, &s))
		return false;
	site = add_site(c, &s, jump);
	if (!site)
		return false;
	site->is_entry = true;
	site->entry_offset = (uint8_t)(insn->address - c->b->in.address);
	site->sp_correction = -c->b->walk.at[at].sp;
	site->intact = body_intact_arguments(c->b, at);
	site->flags_live = flags;
	site->red_zone_live = red_zone;
	return true;
}

/* Whether the entry may be behind instruction i, which then runs before the jump. */
static bool may_pass(const struct chooser *c, size_t i)
{
	const struct insn *insn = insn_at(c, i);

	return insn->flow == FLOW_NEXT && !insn->is_call && !insn->ordered && goes_on(c, i) &&
	       i + 1 < c->b->code.n_main && c->b->walk.at[i + 1].sp_known &&
	       !is_target(c, insn->address + insn->length);
}

/*
 * Whether the jump covers the first instruction alone. Another tool's probe on the first
 * instruction runs a copy of it and continues behind it, so a jump covers that instruction alone or
 * none of it.
 */
static bool covers_one(const struct chooser *c, size_t jump)
{
	struct stretch s;

	return stretch_forward(c, 0, jump, &s) && s.last == 0;
}

/* ---- exits ---- */

/* Adds instructions before an exit until the jump has room. */
static bool stretch_back(const struct chooser *c, size_t exit, size_t jump, struct stretch *s)
{
	const struct insn *last = insn_at(c, exit);
	uint64_t end = last->address + last->length;
	size_t behind = insn_goes_on(last) ? 0 : padding_at(c, end, jump);

	if (!can_move(c, exit))
		return false;
	*s = (struct stretch){ .first = exit, .last = exit };
	for (;;) {
		const struct insn *first = insn_at(c, s->first);

		s->n_code = end - first->address;
		s->n_bytes = s->n_code;
		if (s->n_code + behind >= jump) {
			if (s->n_code < jump)
				s->n_bytes = jump;
			return true;
		}
		if (is_target(c, first->address) || !s->first || !goes_on(c, s->first - 1) ||
		    !can_move(c, s->first - 1) || body_exit_at(c->b, s->first - 1))
			return false;
		s->first--;
	}
}

static bool add_exit(const struct chooser *c, size_t exit)
{
	struct stretch s;

	return (stretch_back(c, exit, PATCH_JUMP_BYTES, &s) && add_site(c, &s, PATCH_JUMP_BYTES)) ||
	       (stretch_back(c, exit, PATCH_SHORT_BYTES, &s) && add_site(c, &s, PATCH_SHORT_BYTES));
}

/* Whether the entry's site, which comes first, covers this exit, too. */
static bool is_done(const struct chooser *c, size_t exit)
{
	const struct patch_site *entry = &c->out->data[0];

	return entry->exit != PATCH_NO_EXIT &&
	       insn_at(c, exit)->address + insn_at(c, exit)->length ==
		       entry->address + entry->n_code;
}

static bool add_exits(const struct chooser *c)
{
	vec_for_each (&c->b->exits, const struct body_exit, e)
		if (!is_done(c, e->insn) && !add_exit(c, e->insn))
			return false;
	return true;
}

/* ---- the choice ---- */

#define PASSED_MAX 5 /* at most so many instructions may run before the entry's jump */

struct outcome {
	bool has_entry, done;
};

static void try_at(const struct chooser *c, size_t at, size_t jump, bool clean, struct outcome *o)
{
	if (o->done || !add_entry(c, at, jump, clean))
		return;
	o->has_entry = true;
	o->done = add_exits(c);
	if (!o->done)
		drop_from(c, 0);
}

static void try_behind(const struct chooser *c, size_t jump, bool clean, struct outcome *o)
{
	for (size_t at = 1; at <= PASSED_MAX && may_pass(c, at - 1); at++)
		try_at(c, at, jump, clean, o);
}

static const char *why_not(const struct chooser *c, const struct outcome *o)
{
	const struct insn *first = insn_at(c, 0);

	if (o->has_entry)
		return "has an exit where no jump fits";
	if (first->is_call)
		return "begins with a call";
	return "has no room for a jump at its entry";
}

const char *sites_choose_x86(struct sites *out, const struct body *b, struct targets *t)
{
	struct chooser c = { b, t, out };
	struct outcome o = { 0 };

	for (int clean = 1; clean >= 0 && !o.done; clean--) {
		for (size_t jump = PATCH_JUMP_BYTES; jump;
		     jump = jump == PATCH_JUMP_BYTES ? PATCH_SHORT_BYTES : 0) {
			try_behind(&c, jump, clean, &o);
			if (covers_one(&c, jump))
				try_at(&c, 0, jump, clean, &o);
		}
	}
	return o.done ? NULL : why_not(&c, &o);
}
