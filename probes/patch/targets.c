/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/targets.h"

#include <string.h>

#include "base/mem.h"
#include "probes/patch/landing.h"
#include "probes/patch/sweep.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

/* ---- code ---- */

static const struct code_stretch *stretch_of(const struct targets *t, uint64_t address)
{
	vec_for_each (&t->code, struct code_stretch, s)
		if (address >= s->start && address < s->end)
			return s;
	return NULL;
}

uint8_t *targets_marks(const struct targets *t, uint64_t address)
{
	const struct code_stretch *s = stretch_of(t, address);

	return s ? t->marks + s->first + (address - s->start) : NULL;
}

const uint8_t *targets_code(const struct targets *t, uint64_t address, size_t *n)
{
	const struct code_stretch *s = stretch_of(t, address);

	*n = s ? s->end - address : 0;
	return s ? s->code + (address - s->start) : NULL;
}

void targets_mark(struct targets *t, uint64_t address, uint8_t mark)
{
	uint8_t *marks = targets_marks(t, address);

	if (marks)
		*marks |= mark;
}

static int compare_stretches(const void *a, const void *b)
{
	const struct code_stretch *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The sections of a malicious file may overlap, which none of the code here expects. */
static const char *read_stretches(struct targets *t, struct dso *dso)
{
	uint64_t start, end, lowest = UINT64_MAX, last = 0;
	size_t n = 0;

	t->machine = dso_machine(dso) == DSO_AARCH64 ? CODE_AARCH64 : CODE_X86_64;
	for (size_t i = 0; dso_code_stretch(dso, i, &start, &end); i++) {
		size_t readable;
		const uint8_t *code = dso_code(dso, start, &readable);

		if (code && readable)
			*vec_add(&t->code) =
				(struct code_stretch){ start, start + readable, code, 0 };
	}
	vec_sort(&t->code, compare_stretches);
	vec_for_each (&t->code, struct code_stretch, s) {
		if (s->start < last || s->end < s->start)
			return "has sections of code that overlap";
		if (s->end - s->start > TARGETS_CODE_MAX - n)
			return "has more code than ispot reads for patching";
		last = s->end;
		s->first = n;
		n += s->end - s->start;
	}
	for (size_t i = 0; dso_loaded_stretch(dso, i, &start, &end); i++) {
		lowest = start < lowest ? start : lowest;
		t->landings_left += end - start;
	}
	t->is_absolute = lowest > 0;
	t->marks = xcalloc(n + 1, 1);
	return n ? NULL : "has no code";
}

/* ---- functions ---- */

static void add_starts(struct targets *t, struct dso *dso)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);

	for (size_t i = 0; i < n; i++) {
		targets_mark(t, functions[i].address,
			     strstr(functions[i].symbol, ".cold") ? MARK_TARGET
								  : MARK_TARGET | MARK_CALLED);
		*vec_add(&t->starts) = functions[i].address;
	}
	vec_for_each (&t->frames, struct frame, f) {
		targets_mark(t, f->start, MARK_TARGET);
		*vec_add(&t->starts) = f->start;
	}
	vec_sort(&t->starts, vec_by_u64);
}

const struct frame *targets_frame(const struct targets *t, uint64_t address)
{
	size_t low = vec_search(i, 0, t->frames.n, t->frames.data[i].start <= address);

	if (!low || address - t->frames.data[low - 1].start >= t->frames.data[low - 1].size)
		return NULL;
	return &t->frames.data[low - 1];
}

/* ---- padding ---- */

/* A branch may lead into the nops. The nops from there on are reached, and no padding. */
static void end_padding(struct targets *t)
{
	bool dead = true;

	vec_for_each (&t->code, struct code_stretch, s) {
		for (size_t i = s->first; i < s->first + (s->end - s->start); i++) {
			if (!(t->marks[i] & MARK_PADDING))
				dead = true;
			else if (t->marks[i] & MARK_ANY_TARGET)
				dead = false;
			if (!dead)
				t->marks[i] &= (uint8_t)~MARK_PADDING;
		}
	}
}

/* ---- reading all data ---- */

static void read_words(struct targets *t, struct dso *dso, uint64_t start, uint64_t end)
{
	const uint8_t *data = dso_bytes(dso, start, end - start);

	for (uint64_t at = -start % 8; data && at + 8 <= end - start; at += 8) {
		uint64_t word;

		memcpy(&word, data + at, sizeof(word));
		if (!stretch_of(t, start + at))
			targets_mark(t, word, MARK_WORD);
	}
}

static void read_table(struct targets *t, struct dso *dso, uint64_t start, uint64_t end)
{
	const uint8_t *data = dso_bytes(dso, start, end - start);

	for (uint64_t at = 0; data && at + 4 <= end - start; at += 4) {
		int32_t offset;

		memcpy(&offset, data + at, sizeof(offset));
		targets_mark(t, start + (uint64_t)(int64_t)offset, MARK_SWITCH);
	}
}

static uint64_t end_of_loaded(const struct dso *dso, uint64_t address)
{
	uint64_t start, end;

	for (size_t i = 0; dso_loaded_stretch(dso, i, &start, &end); i++)
		if (address >= start && address < end)
			return end;
	return 0;
}

/*
 * A table is read up to the start of the next one, as its length is only in code that would have to
 * be understood.
 */
static void read_tables(struct sweep *s, struct dso *dso)
{
	vec_sort(&s->tables, vec_by_u64);
	for (size_t i = 0; i < s->tables.n; i++) {
		uint64_t start = s->tables.data[i], end = end_of_loaded(dso, start);

		if (i + 1 < s->tables.n && s->tables.data[i + 1] < end)
			end = s->tables.data[i + 1];
		if (start < s->t->unwind_start && s->t->unwind_start < end)
			end = s->t->unwind_start;
		if (start < end && !(start >= s->t->unwind_start && start < s->t->unwind_end))
			read_table(s->t, dso, start, end);
	}
}

static int compare_crossings(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;

	return x->target < y->target ? -1 : x->target > y->target;
}

size_t targets_first_crossing(const struct targets *t, uint64_t address)
{
	return vec_search(i, 0, t->crossings.n, t->crossings.data[i].target < address);
}

const char *targets_read(struct targets *t, struct dso *dso)
{
	const char *refusal = read_stretches(t, dso);
	struct sweep s = { .t = t, .dso = dso };
	uint64_t start, end;

	if (!refusal)
		refusal = landing_read(t, dso);
	if (refusal)
		return refusal;
	add_starts(t, dso);
	sweep_code(&s);
	read_tables(&s, dso);
	for (size_t i = 0; dso_loaded_stretch(dso, i, &start, &end); i++)
		read_words(t, dso, start, end);
	end_padding(t);
	vec_sort(&t->crossings, compare_crossings);
	vec_release(&s.tables);
	return NULL;
}

void targets_release(struct targets *t)
{
	vec_release(&t->code);
	vec_release(&t->crossings);
	vec_release(&t->frames);
	vec_release(&t->starts);
	free(t->marks);
	*t = (struct targets){ 0 };
}
