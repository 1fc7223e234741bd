// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/stackmap.h"

#include "probes/java/agent/code.h"

enum {
	SAME_LAST = 63,
	ONE_LAST = 127,
	ONE_EXTENDED = 247,
	CHOP_FIRST = 248,
	SAME_EXTENDED = 251,
	APPEND_LAST = 254,
	FULL = 255,
	TYPE_OBJECT = 7,
	TYPE_UNINITIALIZED = 8,
};

struct writing {
	struct class_reader in;
	struct class_out *out;
	const struct code *code;
	const struct code_layout *layout;
	int64_t was, is; /* old and new place of the previous frame; -1: none */
};

/* Writes n types. An uninitialized object is named by the place of the instruction that made it,
 * which is adjusted. */
static bool write_types(struct writing *w, uint32_t n)
{
	for (; n && !w->in.bad; n--) {
		uint32_t tag = class_u1(&w->in), value;

		class_add_u1(w->out, tag);
		if (tag > TYPE_UNINITIALIZED)
			return false;
		if (tag != TYPE_OBJECT && tag != TYPE_UNINITIALIZED)
			continue;
		value = class_u2(&w->in);
		if (tag == TYPE_UNINITIALIZED)
			value = value < w->code->n ? w->layout->at[value] : CODE_NONE;
		if (value == CODE_NONE)
			return false;
		class_add_u2(w->out, value);
	}
	return !w->in.bad;
}

static uint32_t delta_to(struct writing *w, uint32_t to)
{
	uint32_t delta = (uint32_t)(to - w->is - 1);

	w->is = to;
	return delta;
}

/* Writes a frame with an empty stack or with one type on it, which has two forms: a short one for a
 * near instruction, and a long one. */
static bool write_short(struct writing *w, uint32_t delta, bool one)
{
	if (delta <= SAME_LAST)
		class_add_u1(w->out, delta + (one ? SAME_LAST + 1 : 0));
	else
		class_add_u1(w->out, one ? ONE_EXTENDED : SAME_EXTENDED);
	if (delta > SAME_LAST)
		class_add_u2(w->out, delta);
	return write_types(w, one);
}

static bool write_full(struct writing *w)
{
	uint32_t n = class_u2(&w->in);

	class_add_u2(w->out, n);
	if (!write_types(w, n))
		return false;
	n = class_u2(&w->in);
	class_add_u2(w->out, n);
	return write_types(w, n);
}

static bool write_frame(struct writing *w)
{
	uint32_t type = class_u1(&w->in), delta, to;

	if (type > ONE_LAST && type < ONE_EXTENDED)
		return false;
	delta = type <= ONE_LAST ? type % (SAME_LAST + 1) : class_u2(&w->in);
	w->was += delta + 1;
	to = w->was < w->code->n ? w->layout->at[w->was] : CODE_NONE;
	if (to == CODE_NONE)
		return false;
	delta = delta_to(w, to);
	if (type <= ONE_EXTENDED || type == SAME_EXTENDED)
		return write_short(w, delta, type > SAME_LAST && type != SAME_EXTENDED);
	class_add_u1(w->out, type);
	class_add_u2(w->out, delta);
	if (type == FULL)
		return write_full(w);
	return write_types(w, type > SAME_EXTENDED ? type - SAME_EXTENDED : 0);
}

/*
 * Writes the frame of the handler of every exception. The stack has the thrown object. The local
 * variables are unknown, but for the method's object if its monitor is reported.
 */
static void write_handler(struct writing *w, const struct code_names *names)
{
	bool has_this = w->layout->monitor == CODE_OF_THIS;

	class_add_u1(w->out, FULL);
	class_add_u2(w->out, delta_to(w, w->layout->handler));
	class_add_u2(w->out, has_this);
	if (has_this) {
		class_add_u1(w->out, TYPE_OBJECT);
		class_add_u2(w->out, names->object);
	}
	class_add_u2(w->out, 1);
	class_add_u1(w->out, TYPE_OBJECT);
	class_add_u2(w->out, names->throwable);
}

/* ---- the first variable ---- */

/* Skips n types. Returns false if they are malformed. *is_object: whether the first one is an
 * object. */
static bool skip_types(struct class_reader *r, uint32_t n, bool *is_object)
{
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		uint32_t tag = class_u1(r);

		if (tag > TYPE_UNINITIALIZED)
			return false;
		if (tag >= TYPE_OBJECT)
			class_u2(r);
		if (!i)
			*is_object = tag == TYPE_OBJECT;
	}
	return !r->bad;
}

/* Updates the number of local variables to that of the next frame. Returns false if the frame is
 * malformed or its first variable is no object. */
static bool next_frame(struct class_reader *r, uint32_t *n_locals)
{
	uint32_t type = class_u1(r);
	bool is_object = true, unused;

	if (type > ONE_LAST && type < ONE_EXTENDED)
		return false;
	if (type > ONE_LAST)
		class_u2(r);
	if (type >= CHOP_FIRST && type < SAME_EXTENDED && *n_locals <= SAME_EXTENDED - type)
		return false;
	if (type >= CHOP_FIRST && type < SAME_EXTENDED)
		*n_locals -= SAME_EXTENDED - type;
	if (type == ONE_EXTENDED || (type > SAME_LAST && type <= ONE_LAST))
		return skip_types(r, 1, &unused);
	if (type > SAME_EXTENDED && type <= APPEND_LAST) {
		*n_locals += type - SAME_EXTENDED;
		return skip_types(r, type - SAME_EXTENDED, &unused);
	}
	if (type != FULL)
		return true;
	*n_locals = class_u2(r);
	return *n_locals && skip_types(r, *n_locals, &is_object) && is_object &&
	       skip_types(r, class_u2(r), &unused);
}

bool stackmap_keeps_first(const uint8_t *info, size_t n, uint32_t n_locals)
{
	struct class_reader r = { .p = info, .end = info + n };
	uint32_t frames = class_u2(&r);

	for (; frames; frames--)
		if (!next_frame(&r, &n_locals) || r.bad)
			return false;
	return !r.bad;
}

/* ---- writing ---- */

bool stackmap_write(const uint8_t *info, size_t n, const struct code *c,
		    const struct code_layout *l, const struct code_names *names,
		    struct class_out *out)
{
	struct writing w = { .in = { .p = info, .end = info + n },
			     .out = out,
			     .code = c,
			     .layout = l,
			     .was = -1,
			     .is = -1 };
	uint32_t frames = info ? class_u2(&w.in) : 0;

	class_add_u2(out, frames + l->whole);
	for (; frames; frames--)
		if (!write_frame(&w) || w.in.bad)
			return false;
	if (l->whole)
		write_handler(&w, names);
	return true;
}
