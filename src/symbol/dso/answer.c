/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The child of parser.h: reads a file and answers the requests of root's process. It calls the
 * functions of dso.h on its own copy of the dso.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "symbol/dso/called.h"
#include "symbol/dso/data.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/markers.h"
#include "symbol/dso/message.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/symbols.h"

#define INLINES_MAX 64

static void add_line(struct text *t, const struct dso_line *line)
{
	message_add_u64(t, line->line);
	message_add_string(t, line->file);
}

static void answer_elf(struct dso *dso, struct text *out)
{
	struct err err = { 0 };
	int ret = dso->elf ? 0 : dso_read_elf(dso, &err);

	message_add_u64(out, (uint64_t)-ret);
	message_add_string(out, err.text);
	if (ret)
		return;
	message_add_u64(out, dso->ehdr.e_machine);
	message_add_u64(out, (uint64_t)dso->go | (uint64_t)dso->has_needed << 1 |
				     (uint64_t) !!dso->interp << 2 |
				     (uint64_t)dso->restartable << 3);
	message_add_string(out, dso->interp);
	message_add_string(out, dso->build_id);
	message_add_u64(out, dso->dynamic_address);
	message_add_u64(out, dso->dynamic_bytes);
	message_add_u64(out, dso->frames_address);
	message_add_u64(out, dso->frames_bytes);
	message_add_u64(out, dso->segments.n);
	vec_for_each (&dso->segments, const struct dso_segment, s)
		text_addn(out, (const char *)s, sizeof(*s));
	message_add_u64(out, dso->code.n);
	vec_for_each (&dso->code, const struct dso_range, r)
		text_addn(out, (const char *)r, sizeof(*r));
}

static void answer_imports(struct dso *dso, struct text *out)
{
	const char *const *names;
	size_t n = dso_imports(dso, &names);

	message_add_u64(out, n);
	for (size_t i = 0; i < n; i++)
		message_add_string(out, names[i]);
}

static void answer_markers(struct dso *dso, struct text *out)
{
	const struct dso_marker *all;
	size_t n = dso_markers(dso, &all);

	message_add_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		message_add_string(out, all[i].provider);
		message_add_string(out, all[i].name);
		message_add_string(out, all[i].arguments);
		message_add_u64(out, all[i].address);
		message_add_u64(out, all[i].semaphore_offset);
	}
}

static void answer_slots(struct dso *dso, struct text *out)
{
	if (!dso->slots_loaded)
		dso_load_slots(dso);
	message_add_u64(out, dso->slots.n);
	for (uint32_t i = 0; dso->slots.n && i <= dso->slots.mask; i++) {
		const struct map_slot *slot = &dso->slots.slots[i];

		if (slot->value == MAP_NONE)
			continue;
		message_add_u64(out, slot->key);
		message_add_string(out, dso->slot_names.data[slot->value]);
	}
}

static void answer_functions(struct dso *dso, struct text *out)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);

	message_add_string(out, dso_symbol_source(dso));
	message_add_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		message_add_u64(out, all[i].address);
		message_add_u64(out, all[i].size);
		message_add_u64(out, (uint64_t)all[i].size_guessed | (uint64_t)all[i].ifunc << 1 |
					     (uint64_t)all[i].default_version << 2 |
					     (uint64_t)all[i].exported << 3);
		message_add_string(out, all[i].symbol);
	}
}

static void answer_variables(struct dso *dso, struct text *out)
{
	uint64_t offset;

	dso_variable_at(dso, 0, &offset);
	message_add_u64(out, dso->variables.n);
	vec_for_each (&dso->variables, const struct dso_variable, v) {
		message_add_u64(out, v->address);
		message_add_u64(out, v->size);
		message_add_string(out, v->symbol);
	}
}

static void answer_names(struct dso *dso, uint64_t first, struct text *out)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);

	for (uint64_t i = first; i < n && i < first + NAMES_AT_ONCE; i++) {
		message_add_string(out, dso_function_name(dso, &all[i]));
		message_add_string(out, dso_function_bare_name(dso, &all[i]));
	}
}

static void answer_demangled(struct dso *dso, const char *symbol, struct text *out)
{
	char *name = dso_demangle(dso, symbol);

	message_add_string(out, name);
	free(name);
}

static void answer_inlines(struct dso *dso, const struct request *r, struct text *out)
{
	struct dso_inline chain[INLINES_MAX];
	size_t n = dso_inlines_at(dso, r->address, chain, r->n < INLINES_MAX ? r->n : INLINES_MAX);

	message_add_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		message_add_string(out, chain[i].name);
		add_line(out, &chain[i].call);
	}
}

static void add_parameter(struct text *out, const struct dso_parameter *p)
{
	message_add_string(out, p->name);
	message_add_string(out, p->type);
	message_add_u64(out, p->passed);
	message_add_u64(out, p->bytes);
	message_add_u64(out, (uint64_t)p->is_signed | (uint64_t)p->is_pointer << 1);
	message_add_u64(out, p->place);
}

static void answer_prototype(struct dso *dso, const struct dso_function *f, struct text *out)
{
	struct dso_prototype p;
	bool known = f && dso_prototype(dso, f, &p);

	message_add_u64(out, known);
	if (!known)
		return;
	message_add_u64(out, p.n);
	message_add_u64(out, (uint64_t)p.variadic | (uint64_t)p.changed << 1);
	message_add_string(out, p.text);
	add_parameter(out, &p.result);
	for (uint32_t i = 0; i < p.n; i++)
		add_parameter(out, &p.parameters[i]);
}

static const struct dso_function *function_of(struct dso *dso, const struct request *r)
{
	const struct dso_function *all;

	return r->n < dso_functions(dso, &all) ? &all[r->n] : NULL;
}

static void answer_line(struct dso *dso, const struct request *r, struct text *out)
{
	struct dso_line line = { "", 0 };
	const struct dso_function *f;

	if (r->question == ASK_LINE) {
		line = dso_line_at(dso, r->address);
	} else {
		f = function_of(dso, r);
		if (f)
			line = dso_function_line(dso, f);
	}
	add_line(out, &line);
}

static void answer(struct dso *dso, const struct request *r, const char *name, struct text *out)
{
	switch ((enum question)r->question) {
	case ASK_ELF:
		answer_elf(dso, out);
		break;
	case ASK_IMPORTS:
		answer_imports(dso, out);
		break;
	case ASK_MARKERS:
		answer_markers(dso, out);
		break;
	case ASK_SLOTS:
		answer_slots(dso, out);
		break;
	case ASK_FUNCTIONS:
		answer_functions(dso, out);
		break;
	case ASK_VARIABLES:
		answer_variables(dso, out);
		break;
	case ASK_HAS_DWARF:
		message_add_u64(out, dso_has_dwarf(dso));
		break;
	case ASK_LINE:
	case ASK_FUNCTION_LINE:
		answer_line(dso, r, out);
		break;
	case ASK_INLINES:
		answer_inlines(dso, r, out);
		break;
	case ASK_LANGUAGE:
		message_add_u64(out, dso_language_at(dso, r->address));
		break;
	case ASK_ONLY_INLINED:
		message_add_u64(out, dso_only_inlined(dso, name));
		break;
	case ASK_PROTOTYPE:
		answer_prototype(dso, function_of(dso, r), out);
		break;
	case ASK_NAMES:
		answer_names(dso, r->n, out);
		break;
	case ASK_DEMANGLED:
		answer_demangled(dso, name, out);
		break;
	}
}

void dso_serve(struct dso *dso, int fd)
{
	const struct peer parent = { .fd = fd };

	for (;;) {
		struct text out = { 0 };
		struct request r;
		uint64_t bytes;
		char *name;

		if (message_receive(&parent, &r, sizeof(r)))
			_exit(0);
		name = xcalloc(1, (size_t)r.name_bytes + 1);
		if (message_receive(&parent, name, r.name_bytes))
			_exit(0);
		answer(dso, &r, name, &out);
		bytes = out.n;
		if (message_send(&parent, &bytes, sizeof(bytes)) ||
		    message_send(&parent, out.s, out.n))
			_exit(0);
		text_release(&out);
		free(name);
	}
}
